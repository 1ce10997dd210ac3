import type { ClientId } from "../../src/access/index.ts";
import type { GroupId, PersonId, SchoolId } from "../../src/directory/index.ts";
import { withTransaction } from "../../src/platform/database/db.ts";
import type { Db } from "../../src/platform/database/db.ts";
import { allScopes } from "./make.ts";

export type FillSize = { schools: number; people: number };

/** The apps of a filled database, by how much they may see. */
export const filledApps = {
  /** Every school grants sign-on to everybody and syncs every group. */
  everywhere: "everywhere" as ClientId,
  /** Every school grants sign-on to two of its groups and syncs these. */
  byGroups: "by-groups" as ClientId,
  /** Two schools. */
  few: "few" as ClientId,
};

export const groupsPerSchool = 20;
export const groupsPerPerson = 3;

const digest = (what: string, n: string) => `md5('${what}' || (${n}))::uuid`;
const at = "timestamptz '2026-01-01'";

/**
 * The id that `fillDatabase` gave to the n-th of a kind, counted from 0; person n is at school n modulo their number.
 */
export async function findFilled(
  db: Pick<Db, "pool">,
  n: number,
): Promise<{ school: SchoolId; group: GroupId; person: PersonId }> {
  const { rows } = await db.pool.query<{ school: SchoolId; group: GroupId; person: PersonId }>(
    `SELECT ${digest("school", "$1::int")} AS school, ${digest("group", "$1::int")} AS group, ${digest("person", "$1::int")} AS person`,
    [n],
  );
  return rows[0]!;
}

/**
 * Fills an empty database with a country in small: one person in 51 has a second school, one in a hundred is soft-
 * deleted.
 */
export async function fillDatabase(
  db: Pick<Db, "pool">,
  { schools, people }: FillSize,
  { analyze = true } = {},
): Promise<void> {
  const groups = schools * groupsPerSchool;
  await withTransaction(db, async (tx) => {
    await tx.query("SET LOCAL synchronous_commit = off; SET LOCAL statement_timeout = 0");
    // Without looking up every foreign key it takes a fifth of the time; only a superuser may.
    const { rows } = await tx.query<{ may: string }>("SELECT current_setting('is_superuser') AS may");
    if (rows[0]!.may === "on") await tx.query("SET LOCAL session_replication_role = replica");
    for (const sql of [
      `INSERT INTO school (id, name, sort_key, official_id, address, city, zip_code, country, state, created_at, updated_at)
       SELECT ${digest("school", "n")}, 'School ' || n, lpad(n::text, 9, '0'), 'DE-XX-' || n,
         'Street', 'Town', '10115', 'DE', 'NI', ${at}, ${at} FROM generate_series(0, ${schools - 1}) n`,
      `INSERT INTO "group" (id, school_id, name, sort_key, type, status, deleted_at, created_at, updated_at)
       SELECT ${digest("group", "n")}, ${digest("school", `n % ${schools}`)}, 'Group ' || n, lpad(n::text, 9, '0'), 'KLASSE',
         CASE WHEN deleted THEN 'DELETED'::group_status ELSE 'ACTIVE' END, CASE WHEN deleted THEN ${at} END, ${at}, ${at}
       FROM generate_series(0, ${groups - 1}) n, LATERAL (SELECT n / ${schools} = ${groupsPerSchool - 1} AS deleted) _`,
      `INSERT INTO person (id, home_school_id, role, status, first_full, first_call, last, sort_key, source_system_identifier,
         soft_deleted_at, purge_at, created_at, updated_at)
       SELECT ${digest("person", "n")}, ${digest("school", `n % ${schools}`)},
         CASE WHEN n / ${schools} % 12 = 0 THEN 'TEACHER'::person_role ELSE 'STUDENT' END,
         CASE WHEN gone THEN 'SOFT_DELETED'::person_status ELSE 'ACTIVE' END,
         'First' || n, 'First', 'Last' || n, md5(n::text), 'source-' || n,
         CASE WHEN gone THEN ${at} END, CASE WHEN gone THEN ${at} + interval '30 days' END, ${at}, ${at}
       FROM generate_series(0, ${people - 1}) n, LATERAL (SELECT n % 100 = 99 AS gone) _`,
      `INSERT INTO affiliation (id, person_id, school_id, sort_key)
       SELECT ${digest("affiliation", "n")}, ${digest("person", "n")}, ${digest("school", `n % ${schools}`)}, md5(n::text)
       FROM generate_series(0, ${people - 1}) n
       UNION ALL SELECT ${digest("second", "n")}, ${digest("person", "n")}, ${digest("school", `(n + 1) % ${schools}`)}, md5(n::text)
       FROM generate_series(0, ${people - 1}, 51) n`,
      `INSERT INTO membership (group_id, person_id, school_id, role)
       SELECT ${digest("group", `n % ${schools} + ${schools} * ((n / ${schools} + 7 * step) % ${groupsPerSchool})`)},
         ${digest("person", "n")}, ${digest("school", `n % ${schools}`)}, 'STUDENT'
       FROM generate_series(0, ${people - 1}) n, generate_series(1, ${groupsPerPerson}) step`,
      `INSERT INTO app (client_id, name, type, secret_hash, redirect_uris, post_logout_redirect_uris, login_url, scopes,
         created_at, updated_at)
       SELECT client_id, client_id, 'CONFIDENTIAL', sha256('secret'), '{https://app.example/callback}', '{}',
         'https://app.example/login', '{${allScopes.join(",")}}', ${at}, ${at}
       FROM (SELECT unnest(ARRAY['${filledApps.everywhere}', '${filledApps.byGroups}', '${filledApps.few}']) AS client_id
             UNION ALL SELECT 'app-' || n FROM generate_series(1, 40) n) made`,
      `INSERT INTO "grant" (client_id, school_id, school_sort_key, sign_on_audience, sign_on_roles, sync, created_at, updated_at)
       SELECT app.client_id, ${digest("school", "n")}, lpad(n::text, 9, '0'),
         CASE app.client_id WHEN '${filledApps.byGroups}' THEN 'GROUPS'::sign_on_audience ELSE 'EVERYBODY' END, '{}', true, ${at}, ${at}
       FROM app, generate_series(0, ${schools - 1}) n
       WHERE app.client_id IN ('${filledApps.everywhere}', '${filledApps.byGroups}')
         OR app.client_id = '${filledApps.few}' AND n < 2
         OR app.client_id LIKE 'app-%' AND (n + length(app.client_id) + right(app.client_id, 1)::int) % 7 = 0`,
      `INSERT INTO synced_group (client_id, school_id, group_id)
       SELECT given.client_id, g.school_id, g.id FROM "grant" given JOIN "group" g USING (school_id)
       WHERE given.client_id <> '${filledApps.byGroups}' OR g.sort_key < lpad('${schools * 2}', 9, '0')
       ON CONFLICT DO NOTHING`,
      `INSERT INTO grant_sign_on_group (client_id, school_id, group_id)
       SELECT client_id, school_id, group_id FROM synced_group WHERE client_id = '${filledApps.byGroups}'`,
      `INSERT INTO sign_in (client_id, person_id, first_sign_in_at, last_sign_in_at)
       SELECT '${filledApps.everywhere}', ${digest("person", "n")}, ${at}, ${at} FROM generate_series(0, ${people - 1}, 2) n`,
      `INSERT INTO credential (person_id, username, password_hash, updated_at)
       SELECT id, 'user' || source_system_identifier, '$argon2id$none', ${at} FROM person`,
      `INSERT INTO consent (person_id, client_id, scopes, granted_at) SELECT person_id, client_id, '{openid}', ${at} FROM sign_in`,
      `INSERT INTO school_choice (person_id, client_id, school_id)
       SELECT s.person_id, s.client_id, p.home_school_id FROM sign_in s JOIN person p ON p.id = s.person_id`,
      `INSERT INTO sign_in_place (person_id, place, last_used_at) SELECT person_id, sha256(person_id::text::bytea), ${at} FROM sign_in`,
      `INSERT INTO oidc_artifact (kind, id_hash, payload, client_id, person_id, grant_id, session_uid, expires_at)
       SELECT kind, sha256((kind || person_id)::bytea), '{}', client_id, person_id, md5(person_id::text), md5(person_id::text), ${at} + interval '10 years'
       FROM sign_in, unnest('{AccessToken,RefreshToken,Session}'::text[]) kind`,
      `INSERT INTO audit (id, at, action, client_id, person_id)
       SELECT gen_random_uuid(), ${at}, 'signed_in', client_id, person_id FROM sign_in`,
    ]) {
      await tx.query(sql);
    }
  });
  if (analyze) await db.pool.query("SET statement_timeout = 0; ANALYZE; RESET statement_timeout");
}
