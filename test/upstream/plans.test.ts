// @module-tag slow
import { beforeAll, expect, test } from "vitest";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import {
  findConnection,
  linkByHandIn,
  listConnections,
  listLinks,
  listRefusals,
  listWaysIn,
  previewRule,
  unlinkIn,
  type ConnectionId,
  type RefusalId,
} from "../../src/upstream/index.ts";
import type { PersonId, SchoolId } from "../../src/directory/index.ts";
import { testDatabase } from "../support/database.ts";
import { countRead, explainQuery, listScanned, recordQueries, type Query } from "../support/explain.ts";
import { fillDatabase, findFilled } from "../support/fill.ts";
import { clientId, startUpstreamProvider } from "../support/upstream-provider.ts";
import { encryptionKeys, makeRelyingParty } from "../support/upstream.ts";

/** A school has 100 people, each with a link, a session that something depends on, and a claim that was kept. */
const size = { schools: 300, people: 30_000 };
/** Tables that grow with people or schools: no statement reads one from end to end. */
const large = new Set([
  ...["person", "credential", "membership", "staff_role", "group", "oidc_artifact", "audit", "school"],
  ...["upstream_connection", "upstream_link", "upstream_session", "upstream_recent_sign_in", "upstream_refusal"],
  ...["upstream_round_trip", "upstream_set_up_link", "school_way_in"],
]);

const db = await testDatabase();
const provider = await startUpstreamProvider();
const party = makeRelyingParty(db);
const { upstream } = party;
let school: SchoolId;
let connection: ConnectionId;
let seen: Query[];

beforeAll(async () => {
  await fillDatabase(db, size);
  school = (await findFilled(db, 0)).school;
  connection = await party.connect(provider, school);
  await fillUpstream();
  seen = await recordQueries(/\b(FROM|INTO|UPDATE)\b/, callEverything);
});

async function fillUpstream(): Promise<void> {
  const client = await db.pool.connect();
  try {
    await client.query("SET session_replication_role = replica; SET statement_timeout = 0");
    for (const text of [
      `INSERT INTO upstream_connection (id, school_id, profile, name, issuer, client_id, client_secret, tested_at, token_endpoint_auth_method, scopes, subject_claim,
         rule_claim, rule_field, normalisations, group_ids, state, created_at, updated_at, refresh_at, failing_since, last_failure, last_failure_at)
       SELECT md5('connection' || id)::uuid, id, 'OIDC', 'Login', 'https://login.example/' || id, '${clientId}', '\\x00', now(),
         'client_secret_basic', '{openid}', 'sub', 'employee_id', 'SOURCE_SYSTEM_IDENTIFIER', '{}', '{}', 'ON', now(), now(),
         now() + interval '1 day', CASE WHEN name LIKE '%9' THEN now() END, 'UPSTREAM_DOWN', now()
       FROM school WHERE id <> '${school}'`,
      `INSERT INTO school_way_in (school_id, link_name) SELECT id, 'school-' || id FROM school`,
      `INSERT INTO upstream_link (connection_id, issuer, subject, person_id, linked_at, linked_by, last_sign_in_at)
       SELECT c.id, c.issuer, p.source_system_identifier, p.id, now(), 'RULE', now()
       FROM person p JOIN upstream_connection c ON c.school_id = p.home_school_id
       WHERE p.source_system_identifier NOT IN ('source-300', 'source-600')`,
      `INSERT INTO upstream_session (id, connection_id, sub, sid, person_id, created_at, check_at)
       SELECT md5('session' || person_id)::uuid, connection_id, subject, 'sid-' || subject, person_id,
         now() - interval '40 days', now() + interval '1 day' FROM upstream_link`,
      `INSERT INTO oidc_artifact (kind, id_hash, payload, person_id, upstream_session_id, expires_at)
       SELECT 'RefreshToken', sha256(id::text::bytea), '{}', person_id, id, now() + interval '30 days' FROM upstream_session`,
      `INSERT INTO upstream_recent_sign_in (connection_id, place, person_id, claims, at)
       SELECT connection_id, row_number() OVER (PARTITION BY connection_id) - 1, person_id, '\\x00', now() FROM upstream_link`,
      `INSERT INTO upstream_refusal (id, connection_id, code, subject_hash, details, first_at, last_at, tries)
       SELECT gen_random_uuid(), id, 'NOBODY_MATCHES', sha256(n::text::bytea), '\\x00', now(), now(), 1
       FROM upstream_connection, generate_series(1, 100) n`,
      `INSERT INTO upstream_round_trip (state_hash, connection_id, browser_hash, purpose, details, expires_at)
       SELECT sha256((id || n::text)::bytea), id, sha256('browser'), 'SIGN_IN', '\\x00', now() + interval '10 minutes'
       FROM upstream_connection, generate_series(1, 30) n`,
      `INSERT INTO upstream_set_up_link (id, connection_id, token_hash, created_at, expires_at)
       SELECT gen_random_uuid(), id, sha256((id || n::text)::bytea), now(), now() + interval '10 days'
       FROM upstream_connection, generate_series(1, 4) n`,
      `INSERT INTO staff_role (id, role, person_id, given_at)
       SELECT gen_random_uuid(), 'SCHOOL_ADMIN', id, now() FROM person WHERE role = 'TEACHER'`,
      "RESET session_replication_role",
      "ANALYZE",
      "RESET statement_timeout",
    ])
      await client.query(text);
  } finally {
    client.release();
  }
}

const signInAs = (account: string, claims: Record<string, unknown>) => {
  provider.account = account;
  provider.claims[account] = claims;
  return party.codeOf(party.signIn(provider, connection));
};

/** What people, staff and jobs do. */
async function callEverything(): Promise<void> {
  const personId = (await findFilled(db, 900)).person;
  expect(await signInAs("source-900", { employee_id: "source-900" })).toBe("signed_in");
  expect(await signInAs("new", { employee_id: "source-300" })).toBe("signed_in");
  expect(await signInAs("unknown", { employee_id: "nobody" })).toBe("NOBODY_MATCHES");
  expect(await signInAs("source-1200", { employee_id: "source-900" })).toBe("LINK_CONTRADICTED");
  await party.openLink(connection);
  await Promise.all([listWaysIn(db.pool, school), findConnection(db, connection)]);
  await listLinks(db, { connectionId: connection, limit: 50 });
  await listLinks(db, { personId, limit: 50 });
  const until = new Date();
  await listConnections(db, { schoolIds: [school], limit: 50 });
  await listConnections(db, { isFailing: true, limit: 5 });
  await listConnections(db, { secretExpires: { isSoon: true, until }, limit: 5 });
  const rule = { ruleClaim: "employee_id", ruleField: "SOURCE_SYSTEM_IDENTIFIER" as const, normalisations: [] };
  await previewRule(db, { connectionId: connection, rule, groupIds: [], at: new Date() }, encryptionKeys);
  const [refusal] = (await listRefusals(db, { connectionId: connection, limit: 500 }, encryptionKeys)).filter(
    ({ subject }) => subject === "unknown",
  );
  const change = { keys: encryptionKeys, origin: { at: new Date(), actorId: "test" } };
  const unlinked = (await findFilled(db, 600)).person;
  await withPrismaTransaction(db, (tx) =>
    linkByHandIn(tx, { refusalId: refusal!.id as RefusalId, personId: unlinked }, change),
  );
  await withPrismaTransaction(db, (tx) => unlinkIn(tx, { connectionId: connection, personId }, change.origin));
  for (const by of [{ sub: "source-1200" }, { sid: "sid-source-1500" }, { sub: "source-1800", sid: "another" }])
    expect(await upstream.endByLogoutToken(connection, await logoutToken(by))).toBe("ended");
  await db.pool.query("UPDATE upstream_session SET check_at = now() WHERE person_id = $1", [unlinked as PersonId]);
  for (const { run } of upstream.jobs) await run(new AbortController().signal);
}

function logoutToken(by: { sub?: string; sid?: string }): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
  const named = { iss: provider.issuer, aud: clientId, jti: crypto.randomUUID(), iat, exp: iat + 120, events };
  return provider.sign({ ...named, ...by }, { typ: "logout+jwt" });
}

async function findFaults(mode: "force_custom_plan" | "force_generic_plan"): Promise<string[]> {
  const faults: string[] = [];
  for (const query of seen) {
    const plan = await explainQuery(db, query, mode);
    const scanned = listScanned(plan).filter((name) => large.has(name));
    const rows = countRead(plan);
    if (scanned.length > 0 || rows > 3000) faults.push(`${rows} rows, all of ${scanned.join()}: ${query.text}`);
  }
  return faults;
}

test("the statements of sign-ins, of staff and of jobs are among those that were seen", () => {
  const texts = seen.map(({ text }) => text).join("\n");
  expect([...large].filter((name) => !new RegExp(`\\b${name}\\b`).test(texts))).toEqual([]);
  expect(seen.length).toBeGreaterThan(40);
});

test.each(["force_custom_plan", "force_generic_plan"] as const)(
  "none of them reads a large table from end to end, or more than the people of one school, with %s",
  async (mode) => {
    expect(await findFaults(mode)).toEqual([]);
  },
);
