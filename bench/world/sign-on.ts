import { appCount, type Fill, type Shape } from "./shape.ts";

/** Who signed in where, and what sign-on keeps of it: tokens of a day, refresh tokens of a month, known devices. */
export function fillSignOn(shape: Shape): Fill[] {
  const { uuid, now, untilMs, people, pick, hash, schoolOf, appOf, timeOf, signsIn, schools, perSchool } = shape;
  const numbers = `generate_series(0, ${people - 1}) n`;
  const person = uuid("person", "n");
  // Two apps of each person, both of which everybody at the school may use.
  const apps = `LATERAL (VALUES (0), (1 + n % 5)) app (j)`;
  const app = appOf(schoolOf("n"), "j");
  const grant = `md5('grant ' || n || ' ' || j)`;
  const session = `md5('session ' || n)`;
  const seconds = (ms: string) => `(${ms}) / 1000`;
  const token = (
    kind: string,
    ms: string,
    lifetime: number,
  ) => `jsonb_build_object('iat', ${seconds(ms)} - ${lifetime}, 'exp', ${seconds(ms)},
    'accountId', ${person}, 'claims', '{}'::jsonb, 'grantId', ${grant}, 'gty', 'authorization_code', 'sessionUid', ${session},
    'scope', 'openid profile role', 'kind', '${kind}', 'clientId', ${app}, 'jti', md5('${kind}' || n || ' ' || j), 'aud', ${app})`;
  const artifacts = (kind: string, ms: string, lifetime: number, from: string) => `
    SELECT '${kind}', ${hash(kind, "n || ' ' || j")}, ${token(kind, ms, lifetime)}, ${app}, ${person}, 0, ${grant}, ${session},
      ${timeOf(ms)} FROM ${from}`;
  const insertArtifacts =
    "INSERT INTO oidc_artifact (kind, id_hash, payload, client_id, person_id, generation, grant_id, session_uid, expires_at)";
  const within = (what: string, ms: number) => `${untilMs} + ${pick("n", what, ms)}`;
  return [
    {
      table: "user_name_number",
      sql: `INSERT INTO user_name_number (hash, last)
        SELECT user_name_hash(base), max(number) + 1
        FROM (SELECT rtrim(username, '0123456789') AS base, substring(username FROM '[0-9]+$')::int AS number FROM credential) given
        GROUP BY base ORDER BY base`,
    },
    {
      table: "sign_in",
      sql: `INSERT INTO sign_in (client_id, person_id, first_sign_in_at, last_sign_in_at)
        SELECT ${app}, ${person}, ${now} - interval '300 days' + n % 60 * interval '1 day', ${now} - (1 + n % 90) * interval '1 hour'
        FROM ${numbers}, ${apps} WHERE ${signsIn("n")}`,
    },
    {
      table: "consent",
      sql: `INSERT INTO consent (person_id, client_id, scopes, granted_at)
        SELECT person_id, client_id, '{openid,profile,role}', first_sign_in_at FROM sign_in ORDER BY person_id, client_id`,
    },
    {
      table: "school_choice",
      sql: `INSERT INTO school_choice (person_id, client_id, school_id)
        SELECT ${person}, ${app}, ${uuid("school", schoolOf("n"))} FROM ${numbers}, ${apps}
        WHERE ${signsIn("n")} AND ${shape.hasSecondSchool("n")}`,
    },
    {
      table: "sign_in_place",
      sql: `INSERT INTO sign_in_place (person_id, place, last_used_at)
        SELECT ${person}, ${hash("place", "n || ' ' || j")}, ${now} - n % 170 * interval '1 day'
        FROM ${numbers}, generate_series(0, 1) j WHERE ${signsIn("n")}`,
    },
    {
      table: "oidc_artifact",
      sql: `${insertArtifacts}
        SELECT 'Session', ${hash("Session", "n")}, jsonb_build_object('iat', ${seconds(String(untilMs))}, 'exp', ${seconds(within("session", 36_000_000))},
            'uid', ${session}, 'kind', 'Session', 'jti', md5('jti ' || n), 'accountId', ${person}, 'loginTs', ${seconds(String(untilMs))},
            'amr', '["pwd"]'::jsonb, 'authorizations', jsonb_build_object(${app}, jsonb_build_object('sid', md5('sid ' || n), 'grantId', ${grant}))),
          NULL, ${person}, 0, NULL, ${session}, ${timeOf(within("session", 36_000_000))}
        FROM ${numbers}, (VALUES (0)) app (j) WHERE n % 10 < 3
        UNION ALL ${artifacts("AccessToken", `${untilMs - 86_400_000} + ${pick("n", "access", 90_000_000)}`, 3600, `${numbers}, (VALUES (0)) app (j) WHERE n % 10 < 3`)}
        UNION ALL ${artifacts("RefreshToken", within("refresh", 2_592_000_000), 2_592_000, `${numbers}, ${apps} WHERE n % 10 < 5`)}
        UNION ALL ${artifacts("AuthorizationCode", within("code", 60_000), 60, `${numbers}, (VALUES (0)) app (j) WHERE n % 2000 = 0`)}
        UNION ALL SELECT 'Interaction', ${hash("Interaction", "n")}, jsonb_build_object('exp', ${seconds(within("interaction", 3_600_000))},
            'kind', 'Interaction', 'jti', md5('interaction ' || n), 'params', jsonb_build_object('client_id', 'app-00', 'state', md5('state ' || n),
            'scope', 'openid profile', 'response_type', 'code', 'redirect_uri', 'http://127.0.0.1:4000/callback'), 'prompt', jsonb_build_object('name', 'login')),
          'app-00', NULL, NULL, NULL, NULL, ${timeOf(within("interaction", 3_600_000))}
        FROM ${numbers} WHERE n % 50 = 0
        UNION ALL SELECT 'ClientCredentials', ${hash("ClientCredentials", "n || ' ' || k")}, jsonb_build_object('kind', 'ClientCredentials',
            'exp', ${untilMs / 1000} - n * 800, 'clientId', 'app-' || lpad(k::text, 2, '0'), 'jti', md5('client ' || n || ' ' || k), 'scope', 'people:read'),
          'app-' || lpad(k::text, 2, '0'), NULL, NULL, NULL, NULL, ${now} - n * interval '800 seconds'
        FROM generate_series(-4, 95) n, generate_series(0, ${appCount - 1}) k`,
    },
    {
      table: "sign_in_brake",
      sql: `INSERT INTO sign_in_brake (key, failures, wait_until, forget_at, person_id)
        SELECT ${hash("brake", "n")}, 1 + n % 3, ${now}, ${now} + (1 + n % 11) * interval '1 hour', ${person} FROM ${numbers} WHERE n % 500 = 3`,
    },
    {
      table: "rate_limit",
      sql: `INSERT INTO rate_limit (key, full_at)
        SELECT ${hash("limit", "n")}, ${now} + (1 + n % 59) * interval '1 minute' FROM ${numbers} WHERE n % 200 = 1`,
    },
    {
      table: "card_settings",
      sql: `INSERT INTO card_settings (school_id, enabled, grades, weekdays, networks, second_step, print_second_step, updated_at)
        SELECT ${uuid("school", "s")}, true, '{}', '{}', '{}', 'NONE', false, ${now} - interval '200 days'
        FROM generate_series(0, ${schools - 1}, 5) s`,
    },
    {
      table: "login_card",
      sql: `INSERT INTO login_card (id, person_id, school_id, token_hash, second_step, created_at, last_used_at, revoked_at)
        SELECT ${uuid("card", "n")}, ${person}, ${uuid("school", schoolOf("n"))}, ${hash("card", "n")}, 'NONE', ${now} - interval '200 days',
          ${now} - n % 30 * interval '1 day', CASE WHEN n % 3 = 0 THEN ${now} - interval '20 days' END
        FROM ${numbers} WHERE ${schoolOf("n")} % 5 = 0 AND n % 10 < 3`,
    },
    {
      table: "staff_role",
      sql: `INSERT INTO staff_role (id, role, person_id, given_at)
        SELECT ${uuid("role", "s")}, 'SCHOOL_ADMIN', ${uuid("person", `s * ${perSchool}`)}, ${now} - interval '390 days'
        FROM generate_series(0, ${schools - 1}) s`,
    },
    {
      table: "staff_role_school",
      sql: `INSERT INTO staff_role_school (role_id, school_id)
        SELECT ${uuid("role", "s")}, ${uuid("school", "s")} FROM generate_series(0, ${schools - 1}) s`,
    },
  ];
}
