import { lookUp, sql, table, type Sql, type Value } from "../platform/database/sql.ts";
import { appIds } from "./pairwise.ts";
import type { IdKind } from "./token.ts";
import { shownSchools } from "./visibility.ts";

const a = table("affiliation", "a");

/** A page of an app whose schools have up to this many people sorts their ids; otherwise an index has the order. */
const sortedPeople = 5000;

/** SELECT of app_id and person_id: people whom the app may see, after this one, in the order of its ids. */
export function peopleInOrder(client: Value, kind: IdKind, after: Value | undefined): Sql {
  const isAfter = (id: Sql) => (after === undefined ? sql`true` : sql`${id} > ${after}::uuid`);
  const everybody = (when: Sql) => appIds[kind].inOrder(client, (id) => sql`${when} AND ${isAfter(id)}`);
  return sql`
    WITH shown AS MATERIALIZED (${shownSchools(client)}),
    size AS MATERIALIZED (
      SELECT count(*) <= ${sortedPeople} AS is_small FROM (
        SELECT FROM shown ${lookUp("affiliation", "a", sql`${a.schoolId} = shown.school_id`)}
        LIMIT ${sortedPeople + 1}) AS counted)
    SELECT small.* FROM size CROSS JOIN LATERAL (
      SELECT app_id, person_id FROM (
        SELECT DISTINCT ${appIds[kind].of(client, a.personId)} AS app_id, ${a.personId} AS person_id
        FROM shown ${lookUp("affiliation", "a", sql`${a.schoolId} = shown.school_id`)} WHERE size.is_small) AS ids
      WHERE ${isAfter(sql`app_id`)} ORDER BY 1 OFFSET 0) AS small
    UNION ALL
    SELECT large.* FROM size CROSS JOIN LATERAL (${everybody(sql`NOT size.is_small`)} OFFSET 0) AS large`;
}
