import { makeSortKey } from "../../src/directory/index.ts";
import { firstNames, groupNames, lastNames } from "./names.ts";
import {
  appCount,
  appSecret,
  appsPerSchool,
  classesPerSchool,
  groupsPerSchool,
  type Fill,
  type Shape,
} from "./shape.ts";

const scopes = "openid,offline_access,profile,school,role,groups,schools:read,users:read,groups:read,people:read";

/** Schools, groups and apps with their grants. */
export function fillSchools(shape: Shape): Fill[] {
  const { uuid, made, schools, appOf, groupOf } = shape;
  const names = Array.from({ length: schools }, (_, n) => `Schule ${n + 1}`);
  const grants = `generate_series(0, ${schools - 1}) s, generate_series(0, ${appsPerSchool - 1}) j`;
  return [
    {
      table: "school",
      sql: `INSERT INTO school (id, name, sort_key, official_id, address, city, zip_code, country, state, schooling_level, created_at, updated_at)
        SELECT ${uuid("school", "n - 1")}, name, key, 'DE-XX-' || n, 'Schulweg ' || n, 'Stade', '21680', 'DE', 'NI', 'GYMNASIUM', ${made}, ${made}
        FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS given (name, key, n) ORDER BY n`,
      values: [names, names.map(makeSortKey)],
    },
    {
      table: "group",
      sql: `INSERT INTO "group" (id, school_id, name, sort_key, type, source_system_identifier, created_at, updated_at)
        SELECT ${uuid("group", groupOf("s", "n - 1"))}, ${uuid("school", "s")}, name, key, type::group_type, 'g-' || n, ${made}, ${made}
        FROM generate_series(0, ${schools - 1}) s, unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS given (name, key, type, n)
        ORDER BY s, n`,
      values: [
        groupNames.map(({ name }) => name),
        groupNames.map(({ key }) => key),
        groupNames.map(({ type }) => type),
      ],
    },
    {
      table: "app",
      sql: `INSERT INTO app (client_id, name, type, secret_hash, redirect_uris, post_logout_redirect_uris, login_url, scopes, created_at, updated_at)
        SELECT 'app-' || lpad(n::text, 2, '0'), 'App ' || n, 'CONFIDENTIAL', sha256('${appSecret}'), '{http://127.0.0.1:4000/callback}', '{}',
          'https://app.example/login', '{${scopes}}', ${made}, ${made}
        FROM generate_series(0, ${appCount - 1}) n`,
    },
    {
      table: "app_profile",
      sql: `INSERT INTO app_profile (client_id, provider, description_de, purpose_de, privacy_url)
        SELECT client_id, 'Anbieter', 'Eine App', 'Zum Lernen', 'https://app.example/privacy' FROM app`,
    },
    {
      table: "grant",
      sql: `INSERT INTO "grant" (client_id, school_id, sign_on_audience, sign_on_roles, sync, created_at, updated_at)
        SELECT ${appOf("s", "j")}, ${uuid("school", "s")},
          CASE WHEN j < 6 THEN 'EVERYBODY'::sign_on_audience WHEN j < 8 THEN 'ROLES' ELSE 'GROUPS' END,
          (CASE WHEN j IN (6, 7) THEN '{STUDENT}' ELSE '{}' END)::person_role[], j % 2 = 0, ${made}, ${made}
        FROM ${grants} ORDER BY s, j`,
    },
    {
      table: "synced_group",
      sql: `INSERT INTO synced_group (client_id, school_id, group_id)
        SELECT ${appOf("s", "j")}, ${uuid("school", "s")}, ${uuid("group", groupOf("s", "g"))}
        FROM ${grants}, generate_series(0, ${groupsPerSchool - 1}) g WHERE j % 2 = 0 ORDER BY s, j, g`,
    },
    {
      table: "grant_sign_on_group",
      sql: `INSERT INTO grant_sign_on_group (client_id, school_id, group_id)
        SELECT ${appOf("s", "j")}, ${uuid("school", "s")}, ${uuid("group", groupOf("s", "g"))}
        FROM ${grants}, generate_series(0, 9) g WHERE j > 7 ORDER BY s, j, g`,
    },
  ];
}

/** People from number `from` to `to` with their schools, groups and logins, in one transaction. */
export function fillPeople(
  shape: Shape,
  { from, to, passwordHash }: { from: number; to: number; passwordHash: string },
): Fill[] {
  const { uuid, made, now, pick, schoolOf, groupOf, isTeacher, isGone, perSchool } = shape;
  const numbers = `generate_series(${from}, ${to}) n`;
  const [school, second] = [schoolOf("n"), shape.secondSchool("n")];
  const role = `CASE WHEN ${isTeacher("n")} THEN 'TEACHER'::person_role ELSE 'STUDENT' END`;
  const deletedAt = `${now} - n / 100 % 29 * interval '1 day' - interval '1 hour'`;
  const named = `JOIN unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS f (whole, call, key, plain, nth)
      ON f.nth = 1 + ${pick("n", "first", firstNames.length)}
    JOIN unnest($5::text[], $6::text[], $7::text[]) WITH ORDINALITY AS l (name, key, plain, nth)
      ON l.nth = 1 + ${pick("n", "last", lastNames.length)}`;
  const names = [
    ...(["whole", "call", "key", "plain"] as const).map((part) => firstNames.map((name) => name[part])),
    ...(["name", "key", "plain"] as const).map((part) => lastNames.map((name) => name[part])),
  ];
  return [
    {
      table: "person",
      sql: `INSERT INTO person (id, home_school_id, role, status, first_full, first_call, last, sort_key, source_system_identifier,
          soft_deleted_at, purge_at, blocked_at, created_at, updated_at)
        SELECT ${uuid("person", "n")}, ${uuid("school", school)}, ${role},
          CASE WHEN ${isGone("n")} THEN 'SOFT_DELETED'::person_status ELSE 'ACTIVE' END,
          f.whole, f.call, l.name, l.key || ' ' || f.key, 'p-' || n,
          CASE WHEN ${isGone("n")} THEN ${deletedAt} END, CASE WHEN ${isGone("n")} THEN ${deletedAt} + interval '30 days' END,
          CASE WHEN n % 500 = 7 THEN ${now} END, ${made}, ${made}
        FROM ${numbers} ${named} ORDER BY n`,
      values: names,
    },
    {
      table: "affiliation",
      sql: `INSERT INTO affiliation (id, person_id, school_id)
        SELECT ${uuid("affiliation", "n")}, ${uuid("person", "n")}, ${uuid("school", school)} FROM ${numbers}
        UNION ALL SELECT ${uuid("second", "n")}, ${uuid("person", "n")}, ${uuid("school", second)} FROM ${numbers}
        WHERE ${shape.hasSecondSchool("n")}`,
    },
    {
      table: "membership",
      sql: `INSERT INTO membership (group_id, person_id, school_id, role)
        SELECT ${uuid("group", groupOf(school, "g"))}, ${uuid("person", "n")}, ${uuid("school", school)}, ${role}
        FROM ${numbers}, LATERAL (VALUES (n % ${perSchool} * ${classesPerSchool} / ${perSchool}),
          (24 + ${pick("n", "course", 12)}), (36 + n % 4)) member (g)`,
    },
    {
      table: "credential",
      sql: `INSERT INTO credential (person_id, username, password_hash, updated_at)
        SELECT ${uuid("person", "n")}, f.plain || '.' || l.plain || n, $8, ${made}
        FROM ${numbers} ${named} ORDER BY n`,
      values: [...names, passwordHash],
    },
  ];
}
