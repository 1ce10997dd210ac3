import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { isCurrent } from "../../src/accounts/index.ts";
import { findRows, sql, statement, table } from "../../src/platform/database/sql.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import {
  deleteConnectionIn,
  findConnection,
  updateConnectionIn,
  type ConnectionId,
  type UpstreamSessionId,
} from "../../src/upstream/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { giveLogin } from "../support/token.ts";
import { clientId, clientSecret, startUpstreamProvider } from "../support/upstream-provider.ts";
import { issuerUrl, makeRelyingParty } from "../support/upstream.ts";

const db = await testDatabase();
const make = makeMakers(db);
const provider = await startUpstreamProvider();
let now = new Date();
const party = makeRelyingParty(db, () => now);
let people = 0;

const connectSchool = async (wishes: Parameters<typeof party.connect>[2] = {}) =>
  party.connect(provider, await make.school(), wishes);

const artifact = table("oidcArtifact");
const countCurrent = statement<{ personId: PersonId }>(
  ({ personId }) => sql`SELECT count(*)::int AS count FROM ${artifact}
    WHERE ${artifact.personId} = ${personId} AND ${isCurrent(artifact)}`,
);
/** How many artifacts of a person are good. */
const current = async (personId: PersonId) =>
  (await findRows<{ count: number }>(db.pool, countCurrent, { personId }))[0]!.count;

async function signIn(connection: ConnectionId) {
  // The provider's tokens have the real time.
  now = new Date();
  const { schoolId } = (await findConnection(db, connection))!;
  const name = `pupil-${++people}`;
  const personId = await make.person({ school: schoolId, sourceSystemIdentifier: name });
  await giveLogin(db, personId);
  provider.account = name;
  provider.claims[name] = { employee_id: name };
  const result = await party.signIn(provider, connection);
  if (result.kind !== "signed_in") throw new Error(result.kind);
  const { upstreamSessionId, generation } = result;
  const idHash = crypto.getRandomValues(new Uint8Array(32));
  const expiresAt = new Date(now.getTime() + 3_600_000);
  const session = { kind: "Session", idHash, payload: {}, personId, generation, upstreamSessionId, expiresAt };
  await db.prisma.oidcArtifact.create({ data: session });
  expect(await current(personId)).toBe(1);
  const { sid } = await db.prisma.upstreamSession.findUniqueOrThrow({ where: { id: upstreamSessionId } });
  return { personId, upstreamSessionId, sub: name, sid };
}

const event = { "http://schemas.openid.net/event/backchannel-logout": {} };
const logoutToken = (claims: object = {}, header: object = { typ: "logout+jwt" }) => {
  const iat = Math.floor(now.getTime() / 1000);
  const jti = crypto.randomUUID();
  return provider.sign(
    { iss: provider.issuer, aud: clientId, iat, exp: iat + 120, jti, events: event, ...claims },
    header,
  );
};

test("a logout token ends the sessions of its account; the apps are told, and it is good once", async () => {
  const connection = await connectSchool();
  const [one, other] = [await signIn(connection), await signIn(connection)];
  const token = await logoutToken({ sub: one.sub });
  expect(await party.upstream.endByLogoutToken(connection, token)).toBe("ended");
  expect([await current(one.personId), await current(other.personId)]).toEqual([0, 1]);
  // The job of void sign-ins deletes them and leaves the notices.
  const where = { personId: { in: [one.personId, other.personId] } };
  expect(await db.prisma.voidSignIn.findMany({ where })).toEqual([{ personId: one.personId }]);
  expect(await party.upstream.endByLogoutToken(connection, token)).toBe("invalid");
});

test("a logout token with a session id ends that session of the account only", async () => {
  const connection = await connectSchool();
  const [one, another] = [await signInAt(connection, "s-1"), await signInAt(connection, "s-2")];
  expect(await party.upstream.endByLogoutToken(connection, await logoutToken({ sid: "s-1" }))).toBe("ended");
  expect([await isEnded(one), await isEnded(another)]).toEqual([true, false]);
  expect(await party.upstream.endByLogoutToken(connection, await logoutToken({ sid: "s-2", sub: "another" }))).toBe(
    "ended",
  );
  expect(await isEnded(another)).toBe(false);
});

const isEnded = async (id: UpstreamSessionId) =>
  (await db.prisma.upstreamSession.findUniqueOrThrow({ where: { id } })).endedAt !== null;

/** A session of an account at the provider, without the way there. */
async function signInAt(connectionId: ConnectionId, sid: string): Promise<UpstreamSessionId> {
  const id = crypto.randomUUID() as UpstreamSessionId;
  const personId = await make.person({ school: await make.school() });
  const times = { createdAt: now, checkAt: now };
  await db.prisma.upstreamSession.create({ data: { id, connectionId, sub: "sub", sid, personId, ...times } });
  return id;
}

test("a logout token that could not be obeyed is good again", async () => {
  const connection = await connectSchool();
  const session = await signInAt(connection, "s");
  const token = await logoutToken({ sid: "s" });
  await db.pool.query("ALTER TABLE upstream_session ADD CONSTRAINT stays_open CHECK (ended_at IS NULL) NOT VALID");
  await expect(party.upstream.endByLogoutToken(connection, token)).rejects.toThrow();
  await db.pool.query("ALTER TABLE upstream_session DROP CONSTRAINT stays_open");
  expect(await party.upstream.endByLogoutToken(connection, token)).toBe("ended");
  expect(await isEnded(session)).toBe(true);
});

test("the address of the logout at the provider, where the school wants it", async () => {
  const without = await signIn(await connectSchool());
  expect(await party.upstream.logoutUrlOf(without.upstreamSessionId, {})).toBeNull();
  const connection = await connectSchool({ endsUpstreamSession: true });
  const { upstreamSessionId } = await signIn(connection);
  const url = (await party.upstream.logoutUrlOf(upstreamSessionId, { state: "s" }))!;
  expect(url.origin).toBe(provider.issuer);
  const { id_token_hint, ...asked } = Object.fromEntries(url.searchParams);
  expect(asked).toMatchObject({
    post_logout_redirect_uri: `${issuerUrl}/upstream/${connection}/signed-out`,
    state: "s",
  });
  expect(decodeJwt(id_token_hint!)).toMatchObject({ iss: provider.issuer, aud: clientId });
  // An ID token goes to its own issuer alone.
  const other = await startUpstreamProvider();
  const update = { issuer: other.issuer, clientSecret };
  await withPrismaTransaction(db, (tx) => updateConnectionIn(tx, { id: connection, update }, party.context()));
  expect(await party.upstream.checkConnection(connection)).toMatchObject({ kind: "reached" });
  expect(await party.upstream.logoutUrlOf(upstreamSessionId, {})).toBeNull();
});

test("a connection that is deleted takes with it what its sign-ins opened here", async () => {
  const connection = await connectSchool();
  const { personId } = await signIn(connection);
  await withPrismaTransaction(db, (tx) => deleteConnectionIn(tx, connection, { at: now, actorId: "test" }));
  expect(await current(personId)).toBe(0);
  expect(await db.prisma.voidSignIn.count({ where: { personId } })).toBe(1);
});

test("the job keeps a session on which something here depends, and removes it afterwards", async () => {
  const connection = await connectSchool();
  const { personId, upstreamSessionId } = await signIn(connection);
  const sweep = party.upstream.jobs.find(({ name }) => name === "upstream.sweep")!;
  const runAfter = async (days: number) => {
    now = new Date(now.getTime() + days * 86_400_000);
    await sweep.run(new AbortController().signal);
    return db.prisma.upstreamSession.count({ where: { id: upstreamSessionId } });
  };
  expect(await runAfter(2)).toBe(1);
  await db.prisma.oidcArtifact.deleteMany({ where: { personId } });
  expect(await runAfter(0.5)).toBe(1);
  expect(await runAfter(1)).toBe(0);
});

test("what an account opened ends after 30 days in which it has not signed in anywhere, because it may be disabled there", async () => {
  const connection = await connectSchool();
  const [gone, active] = [await signIn(connection), await signIn(connection)];
  const inFuture = new Date(now.getTime() + 90 * 86_400_000);
  await db.prisma.oidcArtifact.updateMany({ data: { expiresAt: inFuture } });
  const sweep = party.upstream.jobs.find(({ name }) => name === "upstream.sweep")!;
  const after = async (days: number) => {
    now = new Date(now.getTime() + days * 86_400_000);
    await sweep.run(new AbortController().signal);
    return [await isEnded(gone.upstreamSessionId), await isEnded(active.upstreamSessionId)];
  };
  expect(await after(29)).toEqual([false, false]);
  // In another browser.
  const again = { where: { personId: active.personId }, data: { lastSignInAt: now } };
  await db.prisma.upstreamLink.updateMany(again);
  expect(await after(1)).toEqual([true, false]);
  expect([await current(gone.personId), await current(active.personId)]).toEqual([0, 1]);
  expect(await db.prisma.voidSignIn.count({ where: { personId: gone.personId } })).toBe(1);
  expect(await after(29)).toEqual([true, true]);
});

test("the job reads the discovery document and the keys of what is due, and notes what cannot be read", async () => {
  now = new Date();
  const connection = await connectSchool();
  await party.upstream.checkConnection(connection);
  const refresh = party.upstream.jobs.find(({ name }) => name === "upstream.refresh")!;
  const read = async () => {
    await refresh.run(new AbortController().signal);
    return db.prisma.upstreamConnection.findUniqueOrThrow({ where: { id: connection } });
  };
  const before = await read();
  expect(before.metadataReadAt).toEqual(now);
  now = new Date(now.getTime() + 90_000_000);
  expect((await read()).metadataReadAt).toEqual(now);
  provider.before = (_req, res) => (res.writeHead(503).end(), true);
  now = new Date(now.getTime() + 90_000_000);
  const failed = await read();
  provider.before = null;
  expect(failed).toMatchObject({ lastFailure: "UPSTREAM_DOWN", failingSince: now, issuer: provider.issuer });
  expect(failed.metadata).toEqual(before.metadata);
});
