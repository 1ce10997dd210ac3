import type { Sql } from "./visibility.ts";

const versionOf = (subject: Sql): Sql =>
  `(SELECT sum(v_version.version) FROM view_version v_version WHERE v_version.subject = ${subject})`;

/**
 * A text that differs whenever what the app is shown differs: of its registration and grants, and of the people, groups and
 * memberships of the schools. Null for an app that does not exist.
 *
 * Shape: `schools` is a SELECT of school ids, those through which the list finds its people. A person's version is in every one
 *        of their schools, so what a record shows of other schools is covered. Triggers keep the versions: see migration 0007.
 */
export const viewVersion = (client: Sql, schools: Sql | null): Sql => `(
  SELECT concat_ws('.', hash_record_extended(ROW(v_app.schulconnex_spelling, v_app.scopes, v_app.updated_at), 0),
    coalesce(${versionOf("'app:' || v_app.client_id")}, 0)${
      schools === null
        ? ""
        : `,
    (SELECT coalesce(sum(hash_record_extended(ROW(v_school.id, v_school.version), 0)), 0)
     FROM (SELECT v_listed.id, ${versionOf("'school:' || v_listed.id")} AS version FROM (${schools}) AS v_listed (id)) AS v_school)`
    })
  FROM app v_app WHERE v_app.client_id = ${client})`;
