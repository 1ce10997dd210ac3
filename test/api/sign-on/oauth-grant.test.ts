import { expect, test } from "vitest";
import type { PersonId } from "../../../src/directory/index.ts";
import { makeAdapterFactory } from "../../../src/sign-on/protocol/storage/adapter.ts";
import { type Artifact, hashId } from "../../../src/sign-on/protocol/storage/artifact.ts";
import { makeStore } from "../../../src/sign-on/protocol/storage/store.ts";
import { testDatabase } from "../../support/database.ts";
import { makeMakers } from "../../support/make.ts";
import { giveLogin } from "../../support/token.ts";

const db = await testDatabase();
const store = makeStore(db, () => new Date("2026-02-03T08:00:00Z"));
const make = makeMakers(db);
const school = await make.school();

const adapter = makeAdapterFactory({
  db,
  store,
  clock: () => new Date("2026-02-03T08:00:00Z"),
  refreshGraceSeconds: 10,
  findClient: async () => undefined,
  readClientId: () => null,
})("Grant");

const token = (kind: string, grantId: string, personId: PersonId, scope: string): Artifact => ({
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
  await store.put({ ...token("AccessToken", "grant", person, "openid"), generation });
  await store.put({ ...token("RefreshToken", "grant", person, "openid profile"), generation });
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
