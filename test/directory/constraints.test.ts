// @module-tag every-postgresql
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

const schoolLogo = "INSERT INTO school_logo VALUES ($1, $2, $3, decode(repeat('00', $4), 'hex'))";
const noHash = "0".repeat(32);
const logo = "INSERT INTO app_logo VALUES ($1, $2, $3, decode(repeat('00', $4), 'hex'))";

/** A change of the record that no code should ask for, and the constraint that refuses it. */
const wrongStates: [constraint: string, claim: string, sql: string, values?: unknown[]][] = [
  ["school_name_check", "a school without a name", "UPDATE school SET name = ' '"],
  [
    "school_official_id_check",
    "an official id with white space around it",
    "UPDATE school SET official_id = ' DE-1' WHERE id = $1",
    [school],
  ],
  [
    "app_scope_platform_check",
    "a second platform name with a capital letter",
    "UPDATE app SET scope_platform = 'Old' WHERE client_id = $1",
    [clientId],
  ],
  [
    "app_sector_check",
    "ids of the app's own without a sector",
    "UPDATE app SET subject_type = 'APP', sector = NULL WHERE client_id = $1",
    [clientId],
  ],
  ["id_move_sectors_check", "a move that changes no id", "UPDATE id_move SET new_sector = old_sector"],
  ["id_move_subject_type_check", "a move to shared ids", "UPDATE id_move SET subject_type = 'SHARED'"],
  ["id_move_cut_over_check", "a cut-over at no time", "UPDATE id_move SET state = 'CUT_OVER', cut_over_at = NULL"],
  ["school_official_id_key", "two schools with one official id", "UPDATE school SET official_id = 'DE-1'"],
  ["school_country_check", "a country that is no ISO code", "UPDATE school SET country = 'Germany'"],
  ["school_state_check", "a state that is no ISO code", "UPDATE school SET state = 'Bremen'"],
  [
    "school_address_addition_check",
    "an addition to the address that says nothing",
    "UPDATE school SET address_addition = ''",
  ],
  [
    "school_schooling_level_check",
    "a schooling level that is no code",
    "UPDATE school SET schooling_level = 'primary school'",
  ],

  ["person_name_check", "half a name", "UPDATE person SET first_call = NULL"],
  ["person_name_filled_check", "an empty part of a name", "UPDATE person SET last = ' '"],
  ["person_name_length_check", "a name without end", "UPDATE person SET last = repeat('x', 201)"],
  [
    "person_source_system_identifier_check",
    "an empty source identifier",
    "UPDATE person SET source_system_identifier = ''",
  ],
  [
    "person_home_school_id_source_system_identifier_key",
    "one source identifier twice at a school",
    `INSERT INTO person SELECT gen_random_uuid(), home_school_id, role, status, first_full, first_call, last, sort_key,
       source_system_identifier, NULL, NULL, created_at, updated_at FROM person WHERE id = $1`,
    [person],
  ],
  ["person_status_check", "an active person with a date of purge", "UPDATE person SET purge_at = now()"],
  [
    "person_status_check",
    "a soft-deleted person without a date of purge",
    "UPDATE person SET status = 'SOFT_DELETED', soft_deleted_at = now()",
  ],
  [
    "person_status_check",
    "a purge before the deletion",
    "UPDATE person SET status = 'SOFT_DELETED', soft_deleted_at = now(), purge_at = now() - interval '1 day'",
  ],
  [
    "person_home_affiliation_fkey",
    "a home that is none of the person's schools",
    "UPDATE person SET home_school_id = $2 WHERE id = $1",
    [person, otherSchool],
  ],
  [
    "person_home_affiliation_fkey",
    "a person who left their home",
    "DELETE FROM affiliation WHERE person_id = $1",
    [person],
  ],
  [
    "affiliation_pkey",
    "a person twice at one school",
    "INSERT INTO affiliation VALUES (gen_random_uuid(), $1, $2)",
    [person, school],
  ],
  [
    "person_home_school_id_fkey",
    "a school that goes while people are there",
    "DELETE FROM school WHERE id = $1",
    [otherSchool],
  ],

  ["group_name_check", "a group without a name", `UPDATE "group" SET name = ''`],
  [
    "group_source_system_identifier_check",
    "an empty source identifier of a group",
    `UPDATE "group" SET source_system_identifier = ' '`,
  ],
  [
    "group_school_id_source_system_identifier_key",
    "one source identifier twice among the groups of a school",
    `UPDATE "group" SET source_system_identifier = 'twice' WHERE school_id = $1`,
    [school],
  ],
  ["group_status_check", "an active group that was deleted", `UPDATE "group" SET deleted_at = now()`],
  ["group_status_check", "a deleted group that never was", `UPDATE "group" SET status = 'DELETED'`],
  [
    "membership_person_id_school_id_fkey",
    "a member from another school",
    "INSERT INTO membership VALUES ($1, $2, $3, 'STUDENT')",
    [group, stranger, school],
  ],
  [
    "membership_group_id_school_id_fkey",
    "a membership at another school than the group's",
    "INSERT INTO membership VALUES ($1, $2, $3, 'STUDENT')",
    [group, stranger, otherSchool],
  ],

  [
    "app_client_id_check",
    "a client id that Basic auth would garble",
    "UPDATE app SET client_id = 'a:b' WHERE client_id = $1",
    [publicApp.clientId],
  ],
  ["app_name_check", "an app without a name", "UPDATE app SET name = ''"],
  [
    "app_secret_check",
    "a confidential app without a secret",
    "UPDATE app SET secret_hash = NULL WHERE client_id = $1",
    [clientId],
  ],
  [
    "app_secret_check",
    "a public app with a secret",
    "UPDATE app SET secret_hash = sha256('') WHERE client_id = $1",
    [publicApp.clientId],
  ],
  [
    "app_secret_hash_check",
    "a secret that is not hashed",
    "UPDATE app SET secret_hash = 'secret' WHERE client_id = $1",
    [clientId],
  ],
  [
    "app_old_secret_check",
    "an old secret without an end",
    "UPDATE app SET old_secret_hash = sha256('') WHERE client_id = $1",
    [clientId],
  ],
  [
    "app_old_secret_hash_check",
    "an old secret that is not hashed",
    "UPDATE app SET old_secret_hash = 'secret', old_secret_ends_at = now() WHERE client_id = $1",
    [clientId],
  ],
  [
    "app_old_secret_hash_check",
    "a public app with an old secret",
    "UPDATE app SET old_secret_hash = sha256(''), old_secret_ends_at = now() WHERE client_id = $1",
    [publicApp.clientId],
  ],
  [
    "app_pkce_check",
    "a public app without PKCE",
    "UPDATE app SET pkce_required = false WHERE client_id = $1",
    [publicApp.clientId],
  ],
  ["app_scopes_check", "a scope that does not exist", "UPDATE app SET scopes = '{everything}'"],
  ["app_uris_check", "a redirect URI that is null", "UPDATE app SET redirect_uris = ARRAY[NULL]"],
  ["grant_sign_on_roles_check", "a grant for roles without a role", `UPDATE "grant" SET sign_on_audience = 'ROLES'`],
  ["grant_sign_on_roles_check", "roles of a grant for everybody", `UPDATE "grant" SET sign_on_roles = '{TEACHER}'`],
  [
    "synced_group_group_id_school_id_fkey",
    "a school that syncs another's group",
    "INSERT INTO synced_group VALUES ($1, $2, $3)",
    [clientId, otherSchool, group],
  ],
  [
    "grant_sign_on_group_group_id_school_id_fkey",
    "a school that lets another's group sign in",
    "INSERT INTO grant_sign_on_group VALUES ($1, $2, $3)",
    [clientId, otherSchool, group],
  ],
  [
    "synced_group_client_id_school_id_fkey",
    "a group synced without a grant",
    "INSERT INTO synced_group VALUES ($1, $2, $3)",
    [publicApp.clientId, school, group],
  ],
  [
    "sign_in_order_check",
    "a last sign-in before the first",
    "UPDATE sign_in SET last_sign_in_at = first_sign_in_at - interval '1 day'",
  ],
  [
    "school_choice_person_id_school_id_fkey",
    "a chosen school that is not the person's",
    "INSERT INTO school_choice (person_id, client_id, school_id) VALUES ($1, $2, $3)",
    [person, clientId, otherSchool],
  ],
  ["app_logo_type_check", "a logo that is no image", logo, [clientId, "image/svg+xml", "0".repeat(32), 1]],
  ["app_logo_hash_check", "a logo whose hash could be a path", logo, [clientId, "image/png", "../x", 1]],
  ["app_logo_bytes_check", "a logo of more than 256 KB", logo, [clientId, "image/png", "0".repeat(32), 262_145]],
  ["school_logo_type_check", "a logo of a type that is not printed", schoolLogo, [school, "image/webp", noHash, 1]],
  ["school_logo_hash_check", "a logo whose hash is none", schoolLogo, [school, "image/png", "x", 1]],
  [
    "school_logo_bytes_check",
    "a school's logo of more than 256 KB",
    schoolLogo,
    [school, "image/png", noHash, 262_145],
  ],
  [
    "scope_request_state_check",
    "a request that is decided at no time",
    `INSERT INTO scope_request VALUES (gen_random_uuid(), $1, '{openid}', 'Sign-on', 'APPROVED', now())`,
    [clientId],
  ],
  [
    "scope_request_one_open_idx",
    "two open requests of one app",
    `INSERT INTO scope_request SELECT gen_random_uuid(), $1, '{openid}', 'Sign-on', 'REQUESTED', now()
     FROM generate_series(1, 2)`,
    [clientId],
  ],
  [
    "school_sandbox_fkey",
    "a real school in a sandbox",
    "UPDATE school SET sandbox_id = $1 WHERE id = $2",
    [sandbox, school],
  ],
  [
    "affiliation_sandbox_fkey",
    "a person of a real school in a sandbox",
    "INSERT INTO affiliation VALUES (gen_random_uuid(), $1, $2)",
    [person, sandboxSchool],
  ],
  [
    "affiliation_sandbox_fkey",
    "a person of a sandbox at a real school",
    "INSERT INTO affiliation VALUES (gen_random_uuid(), $1, $2)",
    [invented, school],
  ],
  [
    "grant_sandbox_fkey",
    "a sandbox that another app sees",
    `INSERT INTO "grant" VALUES ($1, $2, 'NOBODY', '{}', true, now(), now())`,
    [publicApp.clientId, sandboxSchool],
  ],
  [
    "staff_role_sandbox_fkey",
    "staff among the people of a sandbox",
    "INSERT INTO staff_role (id, role, person_id, given_at) VALUES (gen_random_uuid(), 'OPERATOR', $1, now())",
    [invented],
  ],
  [
    "staff_role_school_sandbox_fkey",
    "a staff role for a school of a sandbox",
    "INSERT INTO staff_role_school VALUES (gen_random_uuid(), $1)",
    [sandboxSchool],
  ],
  [
    "import_school_sandbox_fkey",
    "an import into a school of a sandbox",
    "INSERT INTO import_school (import_id, school_id, state, counts) VALUES (gen_random_uuid(), $1, 'READY', '{}')",
    [sandboxSchool],
  ],
  ["sandbox_expires_at_check", "a sandbox that is over at once", "UPDATE sandbox SET expires_at = created_at"],
  [
    "sandbox_step_step_check",
    "a step that is no code",
    "INSERT INTO sandbox_step VALUES ($1, 'join', now())",
    [sandbox],
  ],
  ["audit_action_check", "an audit line whose action is no code", "UPDATE audit SET action = 'Did something'"],
];

test.each(wrongStates)("%s refuses %s", async (constraint, _claim, sql, values) => {
  // The grant to the other school exists only here, so that the group's school is what is wrong.
  const attempt = withTransaction(db, async (tx) => {
    await tx.query(`INSERT INTO "grant" VALUES ($1, $2, 'NOBODY', '{}', true, now(), now())`, [clientId, otherSchool]);
    await tx.query(sql, values);
  });
  await expect(attempt).rejects.toMatchObject({ constraint });
});

test("every check constraint of directory, access and events has a test that breaks it", async () => {
  const { rows } = await db.pool.query<{ name: string }>(
    `SELECT conname AS name FROM pg_constraint WHERE contype = 'c' AND conrelid = ANY ($1::regclass[])`,
    [
      [
        "school",
        "person",
        "affiliation",
        '"group"',
        "membership",
        "app",
        "app_logo",
        "school_logo",
        "scope_request",
        '"grant"',
        "synced_group",
        "grant_sign_on_group",
        "sign_in",
        "audit",
        "sandbox",
        "sandbox_step",
      ],
    ],
  );
  const broken = new Set(wrongStates.map(([constraint]) => constraint));
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
