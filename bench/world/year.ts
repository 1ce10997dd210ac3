import { appCount, appsPerSchool, classesPerSchool, groupsPerSchool, type Fill, type Shape } from "./shape.ts";

/** Share of a person's synced apps that were told of the person within 35 days: two changes in a year. */
const eventsInHundred = 19;
/** Imports of a school in a year: one a week with lessons. */
const importsPerSchool = 40;

/** What a year of changes and sign-ins leaves in the feed, the webhooks, the imports, the figures and the audit. */
export function fillYear(shape: Shape): Fill[] {
  return [...fillFeed(shape), ...fillImports(shape), ...fillTraffic(shape), fillAudit(shape)];
}

function fillFeed(shape: Shape): Fill[] {
  const { uuid, uuidAt, now, people, pick, schoolOf, appOf, groupOf, msOf, timeOf, perSchool } = shape;
  const numbers = `generate_series(0, ${people - 1}) n`;
  const ms = msOf("n", people, 35);
  // A year of events is ten times those of the 35 days that are kept.
  const swept = 9 * people;
  const kind = pick("n * 10 + j", "kind", 12);
  const group = uuid("group", groupOf(schoolOf("n"), `n % ${perSchool} * ${classesPerSchool} / ${perSchool}`));
  return [
    {
      table: "tombstone",
      sql: `INSERT INTO tombstone (person_id, deleted_at)
        SELECT ${uuid("leaver", "n")}, ${now} - n % 365 * interval '1 day' FROM ${numbers} WHERE n % 100 < 8`,
    },
    {
      table: "app_event",
      sql: `INSERT INTO app_event (id, position, at, client_id, type, action, subject_id, school_id, updated_properties, reason)
        SELECT ${uuidAt(ms, "event", "n || ' ' || j")}, ${swept} + row_number() OVER (ORDER BY n, j), ${timeOf(ms)}, ${appOf(schoolOf("n"), "j")},
          CASE WHEN kind = 0 THEN 'group' ELSE 'person' END, CASE kind WHEN 1 THEN 'create' WHEN 2 THEN 'delete' ELSE 'update' END,
          CASE WHEN kind = 0 THEN ${group} ELSE ${uuid("person", "n")} END, ${uuid("school", schoolOf("n"))},
          CASE WHEN kind IN (1, 2) THEN '{}'::text[] ELSE '{name}' END, CASE WHEN kind = 2 THEN 'no_longer_synced' END
        FROM ${numbers}, generate_series(0, ${appsPerSchool - 2}, 2) j, LATERAL (SELECT ${kind} AS kind) chosen
        WHERE ${pick("n * 10 + j", "event", 100)} < ${eventsInHundred} ORDER BY n, j`,
    },
    {
      table: "event_feed",
      sql: `UPDATE event_feed SET swept_position = ${swept}, last_position = (SELECT coalesce(max(position), ${swept}) FROM app_event)`,
    },
    { table: "webhook_fan_out", sql: "UPDATE webhook_fan_out SET position = (SELECT last_position FROM event_feed)" },
    {
      table: "webhook_delivery",
      sql: `INSERT INTO webhook_delivery (message_id, endpoint_id, event_type, subject_id, body, state, attempts, created_at, finished_at)
        SELECT e.id, w.id, e.type, e.subject_id,
          '{"event":"' || e.type || '","action":"' || e.action || '"' ||
            CASE WHEN e.action = 'update' THEN ',"updatedProperties":["name"]' ELSE '' END || ',"' || e.type || 'Id":"' || e.subject_id || '"}',
          CASE WHEN failed THEN 'FAILED'::webhook_delivery_state ELSE 'DELIVERED' END, CASE WHEN failed THEN 4 ELSE 1 END,
          e.at, e.at + CASE WHEN failed THEN interval '36 minutes' ELSE interval '1 second' END
        FROM app_event e JOIN webhook_endpoint w USING (client_id), LATERAL (SELECT ${pick("e.position", "failed", 100)} = 0 AS failed) outcome
        WHERE e.at >= ${now} - interval '29 days' ORDER BY e.position`,
    },
    {
      table: "webhook_attempt",
      sql: `INSERT INTO webhook_attempt (delivery_id, number, at, duration_ms, status, answer, error)
        SELECT id, number, created_at + (number - 1) * interval '12 minutes', 20 + id % 200,
          CASE WHEN state = 'DELIVERED' THEN 204 END, CASE WHEN state = 'DELIVERED' THEN ''::bytea END,
          CASE WHEN state = 'FAILED' THEN 'timeout' END
        FROM webhook_delivery, generate_series(1, attempts) number ORDER BY id, number`,
    },
  ];
}

function fillImports(shape: Shape): Fill[] {
  const { uuid, uuidAt, people, schools, perSchool, schoolOf, msOf, timeOf } = shape;
  const imports = `generate_series(0, ${schools * importsPerSchool - 1}) i`;
  const at = timeOf(msOf("i", schools * importsPerSchool, 365));
  const changedMs = msOf("n * 2 + step", people * 2, 365);
  // Each person changes classes twice a year.
  const moved = Math.ceil((perSchool * 2) / importsPerSchool);
  const counts = {
    people: { created: 0, changed: 0, restored: 0, removed: 0, joined: 0, left: 0, leftHome: 0 },
    groups: { created: 0, changed: 0, carriedOver: 0, restored: 0, removed: 0 },
    memberships: { created: moved, changed: 0, removed: moved },
    before: { people: perSchool, groups: groupsPerSchool },
  };
  return [
    {
      table: "import",
      sql: `INSERT INTO import (id, format, mode, state, file_name, school_year, created_at, applied_at, named_school_ids)
        SELECT ${uuid("import", "i")}, 'PLAIN', 'BULK', 'APPLIED', 'roster.csv', '', ${at}, ${at}, ARRAY[${uuid("school", `i % ${schools}`)}]
        FROM ${imports}`,
    },
    {
      table: "import_school",
      sql: `INSERT INTO import_school (import_id, school_id, state, counts, applied_at)
        SELECT ${uuid("import", "i")}, ${uuid("school", `i % ${schools}`)}, 'APPLIED', '${JSON.stringify(counts)}', ${at} FROM ${imports}`,
    },
    {
      table: "person_import",
      sql: `INSERT INTO person_import (id, at, person_id, school_id, import_id, change, classes_before, classes_after)
        SELECT ${uuidAt(changedMs, "change", "n || ' ' || step")}, ${timeOf(changedMs)}, ${uuid("person", "n")}, ${uuid("school", schoolOf("n"))},
          ${uuid("import", `(n * 2 + step) % ${importsPerSchool} * ${schools} + ${schoolOf("n")}`)}, 'CLASSES', '{5a}', '{5b}'
        FROM generate_series(0, ${people - 1}) n, generate_series(0, 1) step ORDER BY n, step`,
    },
  ];
}

function fillTraffic({ uuid, uuidAt, now, people, schools, msOf, timeOf }: Shape): Fill[] {
  const apps = `generate_series(0, ${appCount - 1}) k`;
  const app = "'app-' || lpad(k::text, 2, '0')";
  const subjects = `(SELECT '' AS subject, metric FROM unnest('{signIns,tokens,apiCalls,refusals,deliveries}'::text[]) metric
    UNION ALL SELECT 'app:' || ${app}, metric FROM ${apps}, unnest('{signIns,tokens,apiCalls,refusals,deliveries}'::text[]) metric
    UNION ALL SELECT 'school:' || ${uuid("school", "s")}, metric FROM generate_series(0, ${schools - 1}) s, unnest('{signIns,apiCalls}'::text[]) metric) subjects`;
  // As many as the service keeps of an app of this size: at most 1,000 requests and 5,000 steps.
  const [requests, steps] = [Math.min(1000, Math.ceil(people / 1000)), Math.min(5000, Math.ceil(people / 200))];
  const [requestMs, stepMs] = [msOf("n", requests, 7), msOf("n", steps, 7)];
  const figures = (step: string, from: string) =>
    `SELECT metric, '${step}', subject, at, 'done', 20 FROM ${from}, ${subjects} WHERE extract(isodow FROM at) < 6`;
  const day = `date_trunc('day', ${now}, 'UTC')`;
  return [
    {
      table: "figure",
      sql: `INSERT INTO figure (metric, step, subject, at, outcome, count)
        ${figures("DAY", `(SELECT ${day} - d * interval '1 day' AS at FROM generate_series(1, 365) d) days`)}
        UNION ALL ${figures("HOUR", `(SELECT ${day} - d * interval '1 day' + h * interval '1 hour' AS at FROM generate_series(1, 13) d, generate_series(6, 16) h) hours`)}`,
    },
    {
      table: "last_call",
      sql: `INSERT INTO last_call (client_id, school_id, at)
        SELECT client_id, school_id, ${now} - interval '1 hour' FROM "grant" WHERE sync ORDER BY school_id, client_id`,
    },
    {
      table: "api_request",
      sql: `INSERT INTO api_request (id, client_id, request_id, at, operation_id, status, duration_ms)
        SELECT ${uuidAt(requestMs, "request", "n || ' ' || k")}, ${app}, md5('request ' || n || ' ' || k)::uuid, ${timeOf(requestMs)}, 'listSchoolPeople', 200, 12
        FROM generate_series(0, ${requests - 1}) n, ${apps} ORDER BY n, k`,
    },
    {
      table: "sign_on_step",
      sql: `INSERT INTO sign_on_step (id, client_id, request_id, at, attempt, step, outcome, sent)
        SELECT ${uuidAt(stepMs, "step", "n || ' ' || k")}, ${app}, md5('step ' || n || ' ' || k)::uuid, ${timeOf(stepMs)}, md5('attempt ' || n / 5 || ' ' || k),
          (ARRAY['authorize', 'login', 'code', 'token', 'userinfo'])[1 + n % 5], CASE WHEN n % 5 = 1 THEN 'waiting' ELSE 'done' END,
          CASE WHEN n % 5 IN (0, 3) THEN jsonb_build_array(
            jsonb_build_object('name', 'client_id', 'value', ${app}, 'length', NULL, 'problem', NULL)) END
        FROM generate_series(0, ${steps - 1}) n, ${apps} ORDER BY n, k`,
    },
  ];
}

function fillAudit(shape: Shape): Fill {
  const { uuid, uuidAt, made, people, signIns, pick, schoolOf, appOf, msOf, timeOf } = shape;
  const count = people * signIns;
  // Seven of each ten people sign in, each at two apps.
  const ms = msOf("n", count, 365);
  const chosen = pick("n", "who", Math.max(7, Math.floor(people / 10) * 7));
  return {
    table: "audit",
    sql: `INSERT INTO audit (id, at, action, actor_id, client_id, person_id, school_id, request_id, detail)
      SELECT ${uuidAt(ms, "audit", "n")}, ${timeOf(ms)},
        CASE WHEN n % 100 < 88 THEN 'signed_in' WHEN n % 100 < 98 THEN 'logged_out' ELSE 'sign_in_refused' END, NULL::text,
        ${appOf(schoolOf("p"), `CASE WHEN n % 3 < 2 THEN 0 ELSE 1 + p % 5 END`)}, ${uuid("person", "p")}, NULL::uuid,
        md5('audit request ' || n)::uuid::text, '{}'::jsonb
      FROM generate_series(0::bigint, ${count - 1}) n, LATERAL (SELECT ${chosen} AS k OFFSET 0) chosen, LATERAL (SELECT k / 7 * 10 + k % 7 AS p OFFSET 0) person
      UNION ALL
      SELECT ${uuidAt("ms", "consent", "person_id || client_id")}, first_sign_in_at, 'consent_given', NULL, client_id, person_id, NULL, NULL, '{}'
      FROM sign_in, LATERAL (SELECT (extract(epoch FROM first_sign_in_at) * 1000)::bigint AS ms) times
      UNION ALL
      SELECT ${uuidAt("ms", "imported", "i.id")}, i.created_at, 'import_applied', 'importer', NULL, NULL, i.named_school_ids[1], NULL, '{}'
      FROM import i, LATERAL (SELECT (extract(epoch FROM i.created_at) * 1000)::bigint AS ms) times
      UNION ALL
      SELECT ${uuidAt("ms", "granted", "client_id || school_id")}, ${made}, 'grant_set', 'operator', client_id, NULL, school_id, NULL, '{}'
      FROM "grant", LATERAL (SELECT (extract(epoch FROM ${made}) * 1000)::bigint AS ms) times`,
  };
}
