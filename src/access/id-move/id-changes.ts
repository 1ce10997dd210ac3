import { findRows, sql, statement, table, type Queryable, type Sql, type Value } from "../../platform/database/sql.ts";
import type { VisibleRows } from "../../platform/database/visible-sql.ts";
import type { ClientId } from "../token.ts";

const move = table("idMove", "moved");
const old = table("pairwiseId", "old");
const now = table("pairwiseId", "new");
const asked = table("pairwiseId", "asked");

const isSamePerson = sql`${now.personId} = ${old.personId} AND ${now.recordId} = ${old.recordId}`;

const fromMove = (client: Value): Sql => sql`${move}
  JOIN ${old} ON ${old.sector} = ${move.oldSector} AND ${old.recordId} = ${old.personId}
  JOIN ${now} ON ${isSamePerson} AND ${now.sector} = ${move.newSector} AND ${now.id} <> ${old.id}
  WHERE ${move.clientId} = ${client} AND ${move.state} IN ('RUNNING', 'CUT_OVER') AND ${move.forgottenAt} IS NULL`;

/**
 * FROM, binding `listed` (sector, person_id, old_id, new_id, old_sector, new_sector, is_new): everybody whose id the
 * move of the app changes. `id` limits it to the person with this old or new id. The sector is the same for all; with
 * it a page starts where an index says.
 */
export const fromIdChanges = (client: Value, id?: Value): VisibleRows =>
  sql`(
  SELECT ${old.sector}, ${old.personId}, ${old.id} AS old_id, ${now.id} AS new_id, ${move.newSector},
    ${move.state} = 'CUT_OVER' AS is_new
  FROM ${fromMove(client)} ${
    id === undefined
      ? sql``
      : sql`AND ${old.personId} = ANY (ARRAY(
    SELECT ${asked.personId} FROM ${asked} JOIN ${move} ON ${asked.sector} IN (${move.oldSector}, ${move.newSector})
    WHERE ${move.clientId} = ${client} AND ${asked.id} = ${id}))`
  }
  ) AS listed` as VisibleRows;

type Read = { clientId: ClientId; after: string | null; limit: number | null };

const noteRead = statement<Read>(
  ({ clientId, after, limit }) => sql`
  UPDATE ${move} SET read_at = now(),
    read = CASE WHEN ${limit}::int IS NULL THEN people ELSE read + (
      SELECT count(*) FROM unnest(page.ids) AS id WHERE read_up_to IS NULL OR id > read_up_to) END,
    read_up_to = CASE WHEN ${limit}::int IS NULL THEN ${sql`'ffffffff-ffff-ffff-ffff-ffffffffffff'`}
      ELSE greatest(read_up_to, page.ids[cardinality(page.ids)]) END
  FROM (SELECT ARRAY(
    SELECT ${old.id} FROM ${fromMove(clientId)}
      AND (${old.sector}, ${old.id}) > (${old.sector}, coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000'))
    ORDER BY ${old.id} LIMIT coalesce(${limit}::int, 0)) AS ids) AS page
  WHERE ${move.clientId} = ${clientId} AND ${move.state} IN ('RUNNING', 'CUT_OVER')`,
  "access.noteIdChangesRead",
);

/** Counts how much of the list the app has read, for those who look after it. */
export const noteIdChangesRead = async (db: Queryable, read: Read): Promise<void> =>
  void (await findRows(db, noteRead, read));
