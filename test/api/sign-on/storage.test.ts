import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { ClientId } from "../../../src/access/index.ts";
import type { PersonId } from "../../../src/directory/index.ts";
import { hashId, type Artifact } from "../../../src/sign-on/protocol/storage/artifact.ts";
import { makeStore } from "../../../src/sign-on/protocol/storage/store.ts";
import type { TokenUse } from "../../../src/sign-on/protocol/storage/write.ts";
import { testDatabase } from "../../support/database.ts";
import { makeMakers } from "../../support/make.ts";
import { giveLogin } from "../../support/token.ts";
import { makeAdapterFactory } from "../../../src/sign-on/protocol/storage/adapter.ts";

const db = await testDatabase();
const store = makeStore(db, () => new Date("2026-02-03T08:00:00Z"));
const make = makeMakers(db);
const at = new Date("2026-02-03T08:00:00Z");
const { clientId } = await make.app();
const school = await make.school();
const person = await make.person({ school });
await giveLogin(db, person);
const { generation } = await db.prisma.credential.findUniqueOrThrow({ where: { personId: person } });

type Told = { token: string; use: TokenUse };

const artifact = (kind: string, id: string, personId: PersonId): Artifact => ({
  kind,
  idHash: hashId(id),
  payload: { kind },
  clientId,
  personId,
  generation,
  cardId: null,
  upstreamSessionId: null,
  grantId: id,
  sessionUid: null,
  expiresAt: new Date("2026-02-03T09:00:00Z"),
});

async function makeUse(
  signIn: { clientId: ClientId; personId: PersonId } = { clientId, personId: person },
): Promise<Told> {
  const [code, token] = [randomUUID(), randomUUID()];
  await store.put(artifact("AuthorizationCode", code, signIn.personId));
  const puts = [artifact("AccessToken", token, signIn.personId)];
  return {
    token,
    use: {
      kind: "AuthorizationCode",
      idHash: hashId(code),
      at,
      replay: null,
      puts,
      signIn: { ...signIn, at, requestId: code },
    },
  };
}

const isThere = async (token: string): Promise<boolean> =>
  (await store.findArtifact({ kind: "AccessToken", idHash: hashId(token) })) !== null;

async function countAudit({ use }: Told): Promise<number> {
  const { rows } = await db.pool.query<{ count: number }>(
    "SELECT count(*)::int FROM audit WHERE action = 'signed_in' AND request_id = $1",
    [use.signIn?.requestId],
  );
  return rows[0]!.count;
}

test("many at once are all written, also several sign-ins of one person", async () => {
  const uses = await Promise.all(Array.from({ length: 30 }, () => makeUse()));
  expect(await Promise.all(uses.map(({ use }) => store.useToken(use)))).toEqual(uses.map(() => true));
  for (const told of uses) {
    expect(await isThere(told.token)).toBe(true);
    expect(await countAudit(told)).toBe(1);
  }
  const { rows } = await db.pool.query("SELECT last_sign_in_at FROM sign_in WHERE client_id = $1 AND person_id = $2", [
    clientId,
    person,
  ]);
  expect(rows).toEqual([{ last_sign_in_at: at }]);
});

test("one code twice at once counts once, with what is given for it", async () => {
  const [first, other, innocent] = [await makeUse(), await makeUse(), await makeUse()];
  const again = { ...other, use: { ...other.use, idHash: first.use.idHash } };
  const told = [first, again, innocent];
  const used = await Promise.all(told.map(({ use }) => store.useToken(use)));
  expect(used.filter(Boolean)).toHaveLength(2);
  expect(used[2]).toBe(true);
  for (const [index, one] of told.entries()) {
    expect(await isThere(one.token)).toBe(used[index]);
    expect(await countAudit(one)).toBe(used[index] ? 1 : 0);
  }
});

test("one that cannot be written fails alone and leaves nothing behind", async () => {
  const uses = [await makeUse(), await makeUse({ clientId, personId: randomUUID() as PersonId }), await makeUse()];
  const outcomes = await Promise.allSettled(uses.map(({ use }) => store.useToken(use)));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await Promise.all(uses.map(({ token }) => isThere(token)))).toEqual([true, false, true]);
  expect(await countAudit(uses[1]!)).toBe(0);
  // Its code is as good as before.
  expect(await store.useToken({ ...uses[1]!.use, signIn: null })).toBe(true);
});

const adapter = makeAdapterFactory({
  db,
  store,
  clock: () => new Date("2026-02-03T08:00:00Z"),
  refreshGraceSeconds: 10,
  sessionSeconds: 3600,
  findClient: async () => undefined,
  readClientId: () => null,
})("Grant");

const tokenOf = (kind: string, grantId: string, personId: PersonId, scope: string): Artifact => ({
  kind,
  idHash: hashId(`${kind} ${grantId}`),
  clientId: "app",
  personId,
  generation: 0,
  grantId,
  cardId: null,
  upstreamSessionId: null,
  sessionUid: null,
  payload: { kind, clientId: "app", accountId: personId, grantId, scope, claims: { id_token: { rat: null } } },
  expiresAt: new Date("2026-02-03T09:00:00Z"),
});

test("an OAuth grant that the request has read no token of is found by its tokens", async () => {
  const person = await make.person({ school });
  await giveLogin(db, person);
  const { generation } = await db.prisma.credential.findUniqueOrThrow({ where: { personId: person } });
  expect(await adapter.find("grant")).toBeUndefined();
  await store.put({ ...tokenOf("AccessToken", "grant", person, "openid"), generation });
  await store.put({ ...tokenOf("RefreshToken", "grant", person, "openid profile"), generation });
  expect(await adapter.find("grant")).toEqual({
    jti: "grant",
    kind: "Grant",
    accountId: person,
    clientId: "app",
    openid: { scope: "openid profile", claims: ["rat"] },
  });
  await db.pool.query("UPDATE credential SET generation = generation + 1 WHERE person_id = $1", [person]);
  expect(await adapter.find("grant")).toBeUndefined();
});
