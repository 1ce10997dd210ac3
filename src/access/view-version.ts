import { sql, table, type Sql, type Value } from "../platform/database/sql.ts";

const version = table("viewVersion", "v_version");
const app = table("app", "v_app");

const versionOf = (subject: Sql): Sql =>
  sql`(SELECT sum(${version.version}) FROM ${version} WHERE ${version.subject} = ${subject})`;

const versionsOf = (schools: Sql): Sql => sql`(
    SELECT coalesce(sum(hash_record_extended(ROW(v_school.id, v_school.version), 0)), 0)
    FROM (
      SELECT v_listed.id, ${versionOf(sql`'school:' || v_listed.id`)} AS version
      FROM (${schools}) AS v_listed (id)) AS v_school)`;

/**
 * Changes whenever what the app sees changes; null for an unknown app. `schools` selects the schools of a list; a
 * person's version is in all of theirs. Triggers keep versions (migration 0007).
 */
export const viewVersion = (client: Value, schools: Sql | null): Sql => sql`(
  SELECT concat_ws('.',
    hash_record_extended(ROW(${app.schulconnexSpelling}, ${app.scopes}, ${app.attributes}, ${app.updatedAt}), 0),
    coalesce(${versionOf(sql`'app:' || ${app.clientId}`)}, 0)
    ${schools === null ? sql`` : sql`, ${versionsOf(schools)}`})
  FROM ${app} WHERE ${app.clientId} = ${client})`;
