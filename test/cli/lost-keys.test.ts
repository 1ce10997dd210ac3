import { expect, test } from "vitest";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { seal } from "../../src/platform/crypto/seal.ts";
import { registerEndpoint } from "../support/webhook-changes.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { inside } from "../support/webhooks.ts";
import { getAppToken } from "../support/token.ts";
import { makeOperator, runHere } from "./program.ts";

const [lostKey, newKey] = [Buffer.alloc(32, "lost key"), Buffer.alloc(32, "new key")];
const at = new Date();

type Replaced = { authenticators: number; cards: number; endpoints: { endpointId: string; secret: string }[] };

test("where the encryption keys are lost, the service starts with new ones, and passwords and passkeys stay", async () => {
  const db = await testDatabase();
  const start = (key: Buffer) => startService({ db, env: { ENCRYPTION_KEYS: key.toString("base64") } });
  const before = await start(lostKey);
  const make = makeMakers(db);
  const school = await make.school();
  const person = await make.person({ school });
  const app = await make.app({ scopes: ["schools:read"] });
  await make.grant({ app: app.clientId, school });
  await getAppToken(before, app, ["schools:read"]);
  const endpoint = await registerEndpoint(
    db,
    { clientId: app.clientId, url: "http://127.0.0.1:5000/hook", eventTypes: ["person"] },
    { origin: { at }, keys: [lostKey], policy: inside },
  );
  const factor = { personId: person, label: "mine", transports: [], createdAt: at };
  const [totp, passkey] = [crypto.randomUUID(), crypto.randomUUID()];
  await withPrismaTransaction(db, async ({ prisma }) => {
    const secret = Uint8Array.from(seal([lostKey], "totp", Buffer.from("secret")));
    await prisma.secondFactor.create({ data: { ...factor, id: totp, kind: "TOTP", secret } });
    const keys = { credentialId: "credential", publicKey: new Uint8Array(8), counter: 0n };
    await prisma.secondFactor.create({ data: { ...factor, ...keys, id: passkey, kind: "PASSKEY" } });
    await prisma.recoveryCode.create({ data: { personId: person, hash: new Uint8Array(32) } });
    const card = { personId: person, schoolId: school, createdAt: at };
    const steps = [
      { id: crypto.randomUUID(), tokenHash: new Uint8Array(32).fill(1), secondStep: "NONE" as const },
      {
        id: crypto.randomUUID(),
        tokenHash: new Uint8Array(32).fill(2),
        secondStep: "PIN" as const,
        secondStepHash: new Uint8Array(32),
      },
    ];
    for (const step of steps) await prisma.loginCard.create({ data: { ...card, ...step } });
  });
  await before.close();

  const beside = (key: Buffer) => runHere({ DATABASE_URL: db.url, ENCRYPTION_KEYS: key.toString("base64") });
  const replace = ["replace-lost-keys", "--yes"];
  expect(await makeOperator(beside(lostKey)).refusal(...replace)).toMatchObject({ exitCode: 3, code: "keys_not_lost" });
  const replaced = await makeOperator(beside(newKey)).ask<Replaced>(...replace);
  expect(replaced).toMatchObject({ authenticators: 1, cards: 1, endpoints: [{ endpointId: endpoint.id }] });
  expect(replaced.endpoints[0]!.secret).not.toBe(endpoint.secret);

  const after = await start(newKey);
  expect((await db.prisma.secondFactor.findMany()).map(({ id }) => id)).toEqual([passkey]);
  expect(await db.prisma.recoveryCode.count()).toBe(0);
  const cards = await db.prisma.loginCard.findMany({ where: { revokedAt: null } });
  expect(cards.map(({ secondStep }) => secondStep)).toEqual(["NONE"]);
  expect(await getAppToken(after, app, ["schools:read"])).toBeTypeOf("string");
  expect(await makeOperator(beside(newKey)).ask("re-encrypt")).toMatchObject({ values: 8 });
});

test("after re-encrypting, the old key can be taken away", async () => {
  const db = await testDatabase();
  const textOf = (...keys: Buffer[]) => keys.map((key) => key.toString("base64")).join();
  const listKeys = async (key: Buffer) => {
    const service = await startService({ db, env: { ENCRYPTION_KEYS: textOf(key) } });
    const keys: unknown = await (await fetch(`${service.url}/.well-known/jwks.json`)).json();
    await service.close();
    return keys;
  };
  const reEncrypt = (...keys: Buffer[]) =>
    runHere({ DATABASE_URL: db.url, ENCRYPTION_KEYS: textOf(...keys) })(["re-encrypt"]);
  const before = await listKeys(lostKey);
  expect(await reEncrypt(newKey, lostKey)).toMatchObject({ code: 0 });
  expect(await listKeys(newKey)).toEqual(before);
  expect(await reEncrypt(lostKey)).toMatchObject({
    code: 1,
    err: expect.stringContaining("None of the encryption keys") as string,
  });
});
