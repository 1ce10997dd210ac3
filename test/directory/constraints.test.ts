import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { withTransaction } from "../../src/platform/database/db.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";

const db = await testDatabase();
const make = makeMakers(db);
const school = await make.school({ schoolingLevel: null });
const otherSchool = await make.school();
const group = await make.group({ school });
await make.group({ school });
const person = await make.person({ school, sourceSystemIdentifier: "known" });
const stranger = await make.person({ school: otherSchool });
const { clientId } = await make.app();
const publicApp = await make.app({ type: "PUBLIC" });
await make.grant({ app: clientId, school });
await make.signIn({ app: clientId, person });
const { sandbox, sandboxSchool, invented } = await createSandbox(
  db,
  {
    clientId,
    restoreWindowDays: 30,
    finish: async (_change, made) => {
      const [pupil] = made.accounts;
      return { sandbox: made.sandbox.id, sandboxSchool: pupil!.schoolIds[0]!, invented: pupil!.personId };
    },
  },
  { at: new Date("2026-02-03T08:00:00Z") },
);
const [oldSector, newSector] = [randomUUID(), randomUUID()];
await db.prisma.idMove.create({ data: { clientId, subjectType: "APP", oldSector, newSector, startedAt: new Date(0) } });

/** Changes that no code should ask for, each after the constraint that refuses it; `{school}` is the id of that row. */
const wrongStates = `
school_name_check: UPDATE school SET name = ' '
school_official_id_check: UPDATE school SET official_id = ' DE-1' WHERE id = '{school}'
school_official_id_key: UPDATE school SET official_id = 'DE-1'
school_country_check: UPDATE school SET country = 'Germany'
school_state_check: UPDATE school SET state = 'Bremen'
school_address_addition_check: UPDATE school SET address_addition = ''
school_schooling_level_check: UPDATE school SET schooling_level = 'primary school'

person_name_check: UPDATE person SET first_call = NULL
person_name_filled_check: UPDATE person SET last = ' '
person_name_length_check: UPDATE person SET last = repeat('x', 201)
person_source_system_identifier_check: UPDATE person SET source_system_identifier = ''
person_home_school_id_source_system_identifier_key:
  INSERT INTO person SELECT gen_random_uuid(), home_school_id, role, status, first_full, first_call, last, sort_key,
    source_system_identifier, NULL, NULL, created_at, updated_at FROM person WHERE id = '{person}'
person_status_check: UPDATE person SET purge_at = now()
person_status_check: UPDATE person SET status = 'SOFT_DELETED', soft_deleted_at = now()
person_status_check:
  UPDATE person SET status = 'SOFT_DELETED', soft_deleted_at = now(), purge_at = now() - interval '1 day'
person_home_affiliation_fkey: UPDATE person SET home_school_id = '{otherSchool}' WHERE id = '{person}'
person_home_affiliation_fkey: DELETE FROM affiliation WHERE person_id = '{person}'
affiliation_pkey: INSERT INTO affiliation VALUES (gen_random_uuid(), '{person}', '{school}')
person_home_school_id_fkey: DELETE FROM school WHERE id = '{otherSchool}'

group_name_check: UPDATE "group" SET name = ''
group_source_system_identifier_check: UPDATE "group" SET source_system_identifier = ' '
group_school_id_source_system_identifier_key:
  UPDATE "group" SET source_system_identifier = 'twice' WHERE school_id = '{school}'
group_status_check: UPDATE "group" SET deleted_at = now()
group_status_check: UPDATE "group" SET status = 'DELETED'
membership_person_id_school_id_fkey: INSERT INTO membership VALUES ('{group}', '{stranger}', '{school}', 'STUDENT')
membership_group_id_school_id_fkey: INSERT INTO membership VALUES ('{group}', '{stranger}', '{otherSchool}', 'STUDENT')

app_client_id_check: UPDATE app SET client_id = 'a:b' WHERE client_id = '{publicClientId}'
app_name_check: UPDATE app SET name = ''
app_scope_platform_check: UPDATE app SET scope_platform = 'Old' WHERE client_id = '{clientId}'
app_sector_check: UPDATE app SET subject_type = 'APP', sector = NULL WHERE client_id = '{clientId}'
app_secret_check: UPDATE app SET secret_hash = NULL WHERE client_id = '{clientId}'
app_secret_check: UPDATE app SET secret_hash = sha256('') WHERE client_id = '{publicClientId}'
app_secret_hash_check: UPDATE app SET secret_hash = 'secret' WHERE client_id = '{clientId}'
app_old_secret_check: UPDATE app SET old_secret_hash = sha256('') WHERE client_id = '{clientId}'
app_old_secret_hash_check:
  UPDATE app SET old_secret_hash = 'secret', old_secret_ends_at = now() WHERE client_id = '{clientId}'
app_old_secret_hash_check:
  UPDATE app SET old_secret_hash = sha256(''), old_secret_ends_at = now() WHERE client_id = '{publicClientId}'
app_pkce_check: UPDATE app SET pkce_required = false WHERE client_id = '{publicClientId}'
app_scopes_check: UPDATE app SET scopes = '{everything}'
app_uris_check: UPDATE app SET redirect_uris = ARRAY[NULL]
id_move_sectors_check: UPDATE id_move SET new_sector = old_sector
id_move_subject_type_check: UPDATE id_move SET subject_type = 'SHARED'
id_move_cut_over_check: UPDATE id_move SET state = 'CUT_OVER', cut_over_at = NULL

grant_sign_on_roles_check: UPDATE "grant" SET sign_on_audience = 'ROLES'
grant_sign_on_roles_check: UPDATE "grant" SET sign_on_roles = '{TEACHER}'
synced_group_group_id_school_id_fkey: INSERT INTO synced_group VALUES ('{clientId}', '{otherSchool}', '{group}')
grant_sign_on_group_group_id_school_id_fkey: INSERT INTO grant_sign_on_group VALUES ('{clientId}', '{otherSchool}', '{group}')
synced_group_client_id_school_id_fkey: INSERT INTO synced_group VALUES ('{publicClientId}', '{school}', '{group}')
sign_in_order_check: UPDATE sign_in SET last_sign_in_at = first_sign_in_at - interval '1 day'
school_choice_person_id_school_id_fkey:
  INSERT INTO school_choice (person_id, client_id, school_id) VALUES ('{person}', '{clientId}', '{otherSchool}')

app_logo_type_check: INSERT INTO app_logo VALUES ('{clientId}', 'image/svg+xml', repeat('0', 32), '1')
app_logo_hash_check: INSERT INTO app_logo VALUES ('{clientId}', 'image/png', '../x', '1')
app_logo_bytes_check:
  INSERT INTO app_logo VALUES ('{clientId}', 'image/png', repeat('0', 32), repeat('1', 262145)::bytea)
school_logo_type_check: INSERT INTO school_logo VALUES ('{school}', 'image/webp', repeat('0', 32), '1')
school_logo_hash_check: INSERT INTO school_logo VALUES ('{school}', 'image/png', 'x', '1')
school_logo_bytes_check:
  INSERT INTO school_logo VALUES ('{school}', 'image/png', repeat('0', 32), repeat('1', 262145)::bytea)
scope_request_state_check:
  INSERT INTO scope_request VALUES (gen_random_uuid(), '{clientId}', '{openid}', 'Sign-on', 'APPROVED', now())
scope_request_one_open_idx:
  INSERT INTO scope_request SELECT gen_random_uuid(), '{clientId}', '{openid}', 'Sign-on', 'REQUESTED', now()
    FROM generate_series(1, 2)

school_sandbox_fkey: UPDATE school SET sandbox_id = '{sandbox}' WHERE id = '{school}'
affiliation_sandbox_fkey: INSERT INTO affiliation VALUES (gen_random_uuid(), '{person}', '{sandboxSchool}')
affiliation_sandbox_fkey: INSERT INTO affiliation VALUES (gen_random_uuid(), '{invented}', '{school}')
grant_sandbox_fkey: INSERT INTO "grant" VALUES ('{publicClientId}', '{sandboxSchool}', 'NOBODY', '{}', true, now(), now())
staff_role_sandbox_fkey:
  INSERT INTO staff_role (id, role, person_id, given_at) VALUES (gen_random_uuid(), 'OPERATOR', '{invented}', now())
staff_role_school_sandbox_fkey: INSERT INTO staff_role_school VALUES (gen_random_uuid(), '{sandboxSchool}')
import_school_sandbox_fkey:
  INSERT INTO import_school (import_id, school_id, state, counts)
    VALUES (gen_random_uuid(), '{sandboxSchool}', 'READY', '{}')
sandbox_expires_at_check: UPDATE sandbox SET expires_at = created_at
sandbox_step_step_check: INSERT INTO sandbox_step VALUES ('{sandbox}', 'join', now())
audit_action_check: UPDATE audit SET action = 'Did something'
`;
const publicClientId = publicApp.clientId;
const ids = {
  school,
  otherSchool,
  group,
  person,
  stranger,
  clientId,
  publicClientId,
  sandbox,
  sandboxSchool,
  invented,
};
const wrong = wrongStates
  .split(/\n(?=\w)/)
  .slice(1)
  .map((text) => /^(\w+):\s+([^]+)$/.exec(text)!.slice(1) as [constraint: string, sql: string]);

test("the database refuses every wrong state, each by the constraint that is about it", async () => {
  const refused: string[] = [];
  for (const [, sql] of wrong) {
    const filled = Object.entries(ids).reduce((text, [name, id]) => text.replaceAll(`{${name}}`, id), sql);
    // The grant to the other school exists only here, so that the group's school is what is wrong.
    const attempt = withTransaction(db, async (tx) => {
      await tx.query(`INSERT INTO "grant" VALUES ($1, $2, 'NOBODY', '{}', true, now(), now())`, [
        clientId,
        otherSchool,
      ]);
      await tx.query(filled);
      return { constraint: "none" };
    });
    const { constraint } = await attempt.catch((error: unknown) => error as { constraint?: string });
    refused.push(`${constraint}: ${sql}`);
  }
  expect(refused).toEqual(wrong.map(([constraint, sql]) => `${constraint}: ${sql}`));
});

const tables =
  'school person affiliation "group" membership app app_logo school_logo scope_request "grant" synced_group ' +
  "grant_sign_on_group sign_in audit sandbox sandbox_step";

test("every check constraint of directory, access and events has a test that breaks it", async () => {
  const { rows } = await db.pool.query<{ name: string }>(
    `SELECT conname AS name FROM pg_constraint WHERE contype = 'c' AND conrelid = ANY ($1::regclass[])`,
    [tables.split(" ")],
  );
  const broken = new Set(wrong.map(([constraint]) => constraint));
  expect(rows.map((row) => row.name).filter((name) => !broken.has(name))).toEqual([]);
});

test("every foreign key has an index that finds the rows that refer to one row", async () => {
  const { rows } = await db.pool.query<{ key: string }>(
    // An index serves if it begins with a column of the key; the first column decides how much is left to look
    // through. A condition that the column is not null holds for whatever is looked for.
    `SELECT con.conname AS key FROM pg_constraint con
     WHERE con.contype = 'f' AND con.connamespace = 'public'::regnamespace AND NOT EXISTS (
       SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
       WHERE i.indrelid = con.conrelid AND i.indisvalid AND i.indkey[0] = ANY (con.conkey)
         AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) = format('(%I IS NOT NULL)', a.attname)))
     UNION ALL SELECT 'no foreign keys were found' WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE contype = 'f')`,
  );
  expect(rows.map((row) => row.key)).toEqual([]);
});
