const old = "timestamptz '2024-01-05'";
const older = "timestamptz '2023-01-05'";
const count = 6000;
const numbers = `generate_series(1, ${count}) n`;
const id = (n = "n") => `lpad(to_hex(${n}), 32, '0')::uuid`;
const hash = "sha256(n::text::bytea)";
const importId = id("1");

const waitingImport = `INSERT INTO import (id, format, mode, state, file_name, created_at)
  VALUES (${importId}, 'PLAIN', 'BULK', 'READY', 'roster.csv', ${old}) ON CONFLICT (id) DO UPDATE SET state = 'READY'`;

const oldMerger = `INSERT INTO school_merger (id, from_school_id, into_school_id, people, groups, apps, merged_at, undo_until)
  VALUES (${id("1")}, ${id("1")}, ${id("2")}, 1, 0, 0, ${old}, ${old}) ON CONFLICT (id) DO NOTHING`;

const artifact = (kind: string, client: string) =>
  `INSERT INTO oidc_artifact (kind, id_hash, payload, client_id, expires_at)
   SELECT '${kind}', ${hash}, '{}', ${client}, ${old} FROM ${numbers}`;

/**
 * More rows of each table than one statement may remove, all of them older than they are kept, and the condition by
 * which they are found. Foreign keys and triggers are off when they are written.
 */
export const oldRows: Record<string, { insert: string; areOld: string }> = {
  oidc_artifact: {
    insert: [artifact("Session", "NULL"), artifact("AccessToken", "'a'"), artifact("ClientCredentials", "'a'")].join(
      ";",
    ),
    areOld: `expires_at = ${old}`,
  },
  pairwise_id: {
    insert: `INSERT INTO id_move (client_id, state, subject_type, old_sector, new_sector, is_announced, started_at, cut_over_at)
      VALUES ('a', 'CUT_OVER', 'APP', ${id("1")}, ${id("2")}, true, ${old}, ${old});
      INSERT INTO pairwise_id (person_id, record_id, sector, id) SELECT ${id()}, ${id()}, ${id("1")}, ${id()} FROM ${numbers}`,
    areOld: `sector = ${id("1")}`,
  },
  void_sign_in: {
    insert: `INSERT INTO void_sign_in (person_id) SELECT ${id()} FROM ${numbers}`,
    areOld: "true",
  },
  user_name: {
    insert: `INSERT INTO user_name (hash, released_on) SELECT ${hash}, ${old} FROM ${numbers}`,
    areOld: `released_on = ${old}::date`,
  },
  user_name_number: {
    insert: `INSERT INTO user_name_number (hash, last, used_on) SELECT ${hash}, 1, ${old} FROM ${numbers}`,
    areOld: `used_on = ${old}::date`,
  },
  sign_in_brake: {
    insert: `INSERT INTO sign_in_brake (key, failures, wait_until, forget_at) SELECT ${hash}, 1, ${old}, ${old} FROM ${numbers}`,
    areOld: `forget_at = ${old}`,
  },
  wrong_password: {
    insert: `INSERT INTO wrong_password (key, hour, tries, last_at) SELECT ${hash}, ${old}, 1, ${old} FROM ${numbers}`,
    areOld: `hour = ${old}`,
  },
  rate_limit: {
    insert: `INSERT INTO rate_limit (key, full_at) SELECT ${hash}, ${old} FROM ${numbers}`,
    areOld: `full_at = ${old}`,
  },
  sign_in_place: {
    insert: `INSERT INTO sign_in_place (person_id, place, last_used_at) SELECT ${id()}, ${hash}, ${old} FROM ${numbers}`,
    areOld: `last_used_at = ${old}`,
  },
  card_print: {
    insert: `INSERT INTO card_print (id, caller, encrypted, created_at) SELECT ${id()}, 'a', '', ${old} FROM ${numbers}`,
    areOld: `created_at = ${old}`,
  },
  credential_batch: {
    insert: `INSERT INTO credential_batch (id, school_id, caller, new_passwords, with_qr, only_missing, created_at, ready_at, expires_at)
      SELECT ${id()}, ${id()}, 'a', true, false, true, ${old}, ${old}, ${old} + interval '1 day' FROM ${numbers}`,
    areOld: `created_at = ${old}`,
  },
  class_list: {
    insert: `INSERT INTO class_list (id, group_id, code_hash, ends_at) SELECT ${id()}, ${id()}, ${hash}, ${old} FROM ${numbers}`,
    areOld: `ends_at = ${old}`,
  },
  login_card: {
    insert: `INSERT INTO login_card (id, person_id, school_id, token_hash, second_step, created_at, revoked_at)
      SELECT ${id()}, ${id()}, ${id()}, ${hash}, 'NONE', ${old}, ${old} FROM ${numbers}`,
    areOld: `revoked_at = ${old}`,
  },
  roster_run: {
    insert: `INSERT INTO roster_run (id, connection_id, trigger, outcome, started_at, ended_at)
      SELECT ${id()}, ${id("1")}, 'HAND', 'APPLIED', ${old}, ${old} FROM ${numbers}`,
    areOld: `started_at = ${old}`,
  },
  upstream_round_trip: {
    insert: `INSERT INTO upstream_round_trip (state_hash, connection_id, browser_hash, purpose, details, expires_at)
      SELECT ${hash}, ${id()}, ${hash}, 'SIGN_IN', '', ${old} FROM ${numbers}`,
    areOld: `expires_at = ${old}`,
  },
  upstream_set_up_link: {
    insert: `INSERT INTO upstream_set_up_link (id, connection_id, token_hash, created_at, expires_at)
      SELECT ${id()}, ${id()}, ${hash}, ${old}, ${old} FROM ${numbers}`,
    areOld: `expires_at = ${old}`,
  },
  upstream_refusal: {
    insert: `INSERT INTO upstream_refusal (id, connection_id, code, subject_hash, details, first_at, last_at, tries)
      SELECT ${id()}, ${id()}, 'NOBODY_MATCHES', ${hash}, '', ${old}, ${old}, 1 FROM ${numbers}`,
    areOld: `last_at = ${old}`,
  },
  upstream_recent_sign_in: {
    insert: `INSERT INTO upstream_recent_sign_in (connection_id, place, person_id, claims, at)
      SELECT ${id()}, 1, ${id()}, '', ${old} FROM ${numbers}`,
    areOld: `at = ${old}`,
  },
  upstream_session: {
    insert: `INSERT INTO upstream_session (id, connection_id, sub, person_id, created_at, check_at)
      SELECT ${id()}, ${id()}, 'a', ${id()}, ${old}, ${old} FROM ${numbers}`,
    areOld: `check_at = ${old}`,
  },
  audit: {
    insert: `INSERT INTO audit (id, at, action) SELECT ${id()}, ${old}, 'signed_in' FROM ${numbers}`,
    areOld: `at = ${old}`,
  },
  app_event: {
    insert: `UPDATE event_feed SET last_position = ${count}; INSERT INTO app_event (id, position, at, client_id, type, action, subject_id, updated_properties)
      SELECT ${id()}, n, ${old}, 'a', 'person', 'create', ${id()}, '{}' FROM ${numbers}`,
    areOld: `at = ${old}`,
  },
  erasure: {
    insert: `INSERT INTO erasure (id, client_id, subject_id, school_id, cause, since, state, reason, acknowledged_at)
      SELECT ${id()}, 'a', ${id()}, ${id()}, 'deleted', ${old}, (ARRAY['open', 'kept', 'erased'])[n % 3 + 1]::erasure_state,
        CASE n % 3 WHEN 1 THEN 'legal_claims' END::erasure_reason, CASE n % 3 WHEN 0 THEN NULL ELSE ${old} END FROM ${numbers}`,
    areOld: `since = ${old}`,
  },
  access_report: {
    insert: `INSERT INTO access_report (id, client_id, school_id, month, is_newest, type, trial)
      SELECT ${id()}, 'a', ${id()}, ${older}, true, 'SCHOOL', false FROM ${numbers}`,
    areOld: `month = ${older}`,
  },
  seat: {
    insert: `INSERT INTO seat (month, client_id, school_id, change, signed_in)
      SELECT ${older}, 'a', ${id()}, '', 1 FROM ${numbers}`,
    areOld: `month = ${older}`,
  },
  announced_sign_in: {
    insert: `INSERT INTO announced_sign_in (person_id, client_id, at, sight) SELECT ${id()}, 'a', ${old}, '{}' FROM ${numbers}`,
    areOld: `at = ${old}`,
  },
  disclosure_period: {
    insert: `INSERT INTO retired_client_id (client_id, retired_at) VALUES ('former', ${older}) ON CONFLICT DO NOTHING;
      INSERT INTO disclosure_period (person_id, client_id, since, until, is_user, is_person, sees_school)
      SELECT ${id()}, 'former', ${older}, CASE WHEN n % 2 = 0 THEN ${older} END, true, false, false FROM ${numbers}`,
    areOld: `since = ${older}`,
  },
  data_request: {
    insert: `INSERT INTO data_request (id, school_id, asked_by, received_on, due_on, outcome, closed_at)
      SELECT ${id()}, ${id()}, 'PERSON', ${older}, ${older}, 'ANSWERED', ${older} FROM ${numbers}`,
    areOld: `closed_at = ${older}`,
  },
  withheld_period: {
    insert: `INSERT INTO withheld_period (client_id, school_id, item, reason, since, until)
      SELECT 'former' || n, ${id()}, 'PERSON_NAME', 'SCHOOL', ${older}, ${older} FROM ${numbers}`,
    areOld: `since = ${older}`,
  },
  registration_period: {
    insert: `INSERT INTO registration_period (client_id, since, until, name, type)
      SELECT 'former' || n, ${older}, ${older}, 'Former', 'PUBLIC' FROM ${numbers}`,
    areOld: `since = ${older}`,
  },
  idempotency_key: {
    insert: `INSERT INTO idempotency_key (caller, key, request_hash, status, answer, created_at)
      SELECT 'a', n, ${hash}, 200, '', ${old} FROM ${numbers}`,
    areOld: `created_at = ${old}`,
  },
  staged_person: {
    insert: `${waitingImport}; INSERT INTO staged_person (import_id, row, line, "column", source_id, sort_key, is_deleted)
      SELECT ${importId}, n, n, 1, n, n, false FROM ${numbers}`,
    areOld: `import_id = ${importId}`,
  },
  staged_role: {
    insert: `${waitingImport}; INSERT INTO staged_role (import_id, row, line, "column", person_source_id, role, is_primary, is_deleted)
      SELECT ${importId}, n, n, 1, n, 'STUDENT', true, false FROM ${numbers}`,
    areOld: `import_id = ${importId}`,
  },
  staged_group: {
    insert: `${waitingImport}; INSERT INTO staged_group (import_id, row, line, "column", source_id, sort_key, is_deleted)
      SELECT ${importId}, n, n, 1, n, n, false FROM ${numbers}`,
    areOld: `import_id = ${importId}`,
  },
  staged_membership: {
    insert: `${waitingImport}; INSERT INTO staged_membership (import_id, row, line, person_column, group_column, person_source_id, group_source_id, is_deleted)
      SELECT ${importId}, n, n, 1, 2, n, n, false FROM ${numbers}`,
    areOld: `import_id = ${importId}`,
  },
  import_error: {
    insert: `${waitingImport}; INSERT INTO import_error (import_id, row, file, line, code, message, line_text)
      SELECT ${importId}, n, 'roster.csv', n, 'c', 'm', 'text' FROM ${numbers}`,
    areOld: "line_text IS NOT NULL",
  },
  import_change: {
    insert: `INSERT INTO import_change (import_id, subject_id, school_id, keep_until)
      SELECT ${importId}, ${id()}, ${id()}, ${old} FROM ${numbers}`,
    areOld: `keep_until = ${old}`,
  },
  import_piece: {
    insert: `${waitingImport}; INSERT INTO import_piece (import_id, number, bytes)
      SELECT ${importId}, n, '' FROM ${numbers}`,
    areOld: `import_id = ${importId}`,
  },
  import_faulty_row: {
    insert: `${waitingImport}; INSERT INTO import_faulty_row (import_id, line, fields, group_source_ids)
      SELECT ${importId}, n, '["1"]', '{}' FROM ${numbers}`,
    areOld: `import_id = ${importId}`,
  },
  person_import: {
    insert: `INSERT INTO person_import (id, at, person_id, school_id, import_id, change, classes_before, classes_after)
      SELECT ${id()}, ${old}, ${id()}, ${id()}, ${importId}, 'JOINED', '{}', '{}' FROM ${numbers}`,
    areOld: `at = ${old}`,
  },
  handover: {
    insert: `INSERT INTO handover (id, from_school_id, to_school_id, state, offered, created_at, expires_at)
      SELECT ${id()}, ${id()}, ${id()}, 'DECLINED', 1, ${old}, ${old} FROM ${numbers}`,
    areOld: `expires_at = ${old}`,
  },
  merged_person: {
    insert: `${oldMerger}; INSERT INTO merged_person (merger_id, person_id, was_home, was_at_both)
      SELECT ${id("1")}, ${id()}, true, false FROM ${numbers}`,
    areOld: `merger_id = ${id("1")}`,
  },
  merged_group: {
    insert: `${oldMerger}; INSERT INTO merged_group (merger_id, group_id, name) SELECT ${id("1")}, ${id()}, '5a' FROM ${numbers}`,
    areOld: `merger_id = ${id("1")}`,
  },
  merged_grant: {
    insert: `${oldMerger}; INSERT INTO merged_grant (merger_id, client_id, is_new, settings)
      SELECT ${id("1")}, n::text, true, '{}' FROM ${numbers}`,
    areOld: `merger_id = ${id("1")}`,
  },
  merged_staff_role: {
    insert: `${oldMerger}; INSERT INTO merged_staff_role (merger_id, role_id) SELECT ${id("1")}, ${id()} FROM ${numbers}`,
    areOld: `merger_id = ${id("1")}`,
  },
  figure: {
    insert: `INSERT INTO figure (metric, step, subject, at, outcome, count)
      SELECT 'signIns', step, 'app:' || n, timestamptz '2023-01-05', 'done', 1 FROM ${numbers}, unnest('{HOUR,DAY}'::text[]) step`,
    areOld: "at = timestamptz '2023-01-05'",
  },
  api_request: {
    insert: `INSERT INTO api_request (id, client_id, request_id, at, operation_id, status, duration_ms)
      SELECT ${id()}, 'a', n, ${old}, 'getUser', 200, 1 FROM ${numbers}`,
    areOld: `at = ${old}`,
  },
  sign_on_step: {
    insert: `INSERT INTO sign_on_step (id, client_id, request_id, at, attempt, step, outcome)
      SELECT ${id()}, 'a', n, ${old}, 'a', 'code', 'done' FROM ${numbers}`,
    areOld: `at = ${old}`,
  },
  webhook_delivery: {
    insert: `INSERT INTO webhook_delivery (message_id, endpoint_id, event_type, subject_id, body, state, created_at, finished_at)
      SELECT ${id()}, ${id()}, 'person', ${id()}, '{}', 'DELIVERED', ${old}, ${old} FROM ${numbers}`,
    areOld: `created_at = ${old}`,
  },
  webhook_attempt: {
    insert: `WITH made AS (
        INSERT INTO webhook_delivery (message_id, endpoint_id, event_type, subject_id, body, state, created_at, finished_at, attempts)
        SELECT ${id()}, ${id()}, 'person', ${id()}, '{}', 'DELIVERED', ${old}, ${old}, 1 FROM ${numbers} RETURNING id)
      INSERT INTO webhook_attempt (delivery_id, number, at, duration_ms, status, answer) SELECT id, 1, ${old}, 1, 204, '' FROM made`,
    areOld: `at = ${old}`,
  },
};
