import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { startService } from "../../support/service.ts";
import { askFor, getAppToken, getUserTokens } from "../../support/token.ts";
import { rotateKeys } from "./rotation.ts";
import { startWorld } from "./world.ts";

const world = startWorld();

async function listKids(url: string, alg: string): Promise<string[]> {
  const jwks = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: { kid: string; alg: string }[] };
  return jwks.keys.filter((key) => key.alg === alg).map(({ kid }) => kid);
}

const listKeys = () =>
  world.service.db.prisma.signingKey.findMany({ select: { kid: true, state: true }, orderBy: { kid: "asc" } });

test.each(["RS256", "ES256", "EdDSA"] as const)(
  "ID tokens of an app that chose %s verify with the published keys",
  async (idTokenAlgorithm) => {
    const { service, login } = world;
    const app = await world.app({ idTokenAlgorithm });
    const { id_token } = await getUserTokens(service, app, login);
    const { protectedHeader } = await jwtVerify(
      id_token!,
      createRemoteJWKSet(new URL(`${service.url}/.well-known/jwks.json`)),
      { issuer: service.url, audience: app.clientId },
    );
    expect(protectedHeader.alg).toBe(idTokenAlgorithm);
  },
);

test("a rotated key was published before, every process follows without a restart, and the old one stays until its tokens have expired", async () => {
  const { service, login } = world;
  const other = await startService({ db: service.db, clock: service.clock, env: { ISSUER_URL: service.url } });
  const app = await world.app();
  const before = await getUserTokens(service, app, login);
  const published = await listKids(service.url, "RS256");
  const oldKid = decodeProtectedHeader(before.id_token!).kid!;

  await rotateKeys(service);
  for (const each of [service, other]) await each.runJob("sign-on.watchKeys");
  const after = await getUserTokens(service, app, login);
  const newKid = decodeProtectedHeader(after.id_token!).kid!;
  expect(newKid).not.toBe(oldKid);
  expect(published).toContain(newKid);
  for (const each of [service, other]) {
    expect(await listKids(each.url, "RS256")).toEqual(expect.arrayContaining([oldKid, newKid]));
  }
  const hinted = askFor(service, app, { params: { prompt: "none", id_token_hint: before.id_token! } });
  expect((await after.browser.open(hinted.address)).url).toContain("code=");

  service.clock.forwardSeconds(3600 + 601);
  await service.runJob("sign-on.dropRetiredKeys");
  await service.runJob("sign-on.watchKeys");
  expect(await listKids(service.url, "RS256")).not.toContain(oldKid);
});

test("a key that apps may not have yet does not sign unless that is forced", async () => {
  const { service } = world;
  service.clock.forwardSeconds(4200);
  await rotateKeys(service);
  const published = await listKeys();
  service.clock.forwardSeconds(4199);
  const possible = new Date(service.clock().getTime() + 1000).toISOString();
  await expect(rotateKeys(service)).rejects.toMatchObject({
    kind: "conflict",
    code: "signing_key_too_new",
    message: expect.stringContaining(possible) as string,
  });
  expect(await listKeys()).toEqual(published);
  const audited = async () => (await service.db.prisma.audit.findMany({ where, orderBy })).map(({ detail }) => detail);
  const [where, orderBy] = [{ action: "signing_key_rotated" }, { id: "desc" as const }];
  await rotateKeys(service, { isForced: true });
  expect((await audited())[0]).toMatchObject({ forced: true });
  service.clock.forwardSeconds(4200);
  for (const isForced of [false, true]) {
    await rotateKeys(service, { isForced });
    expect((await audited())[0]).not.toHaveProperty("forced");
    service.clock.forwardSeconds(4200);
  }
});

test("processes that start at once on an empty database share keys, sessions and tokens", async () => {
  const { testDatabase } = await import("../../support/database.ts");
  const db = await testDatabase();
  const services = await Promise.all(
    Array.from({ length: 3 }, () => startService({ db, env: { ISSUER_URL: "http://localhost:3999" } })),
  );
  const kids = await Promise.all(
    services.map(({ url: _url }) => db.pool.query<{ count: number }>("SELECT count(*)::int AS count FROM signing_key")),
  );
  expect(kids.map(({ rows }) => rows[0]?.count)).toEqual([6, 6, 6]);
});

test("private keys are not readable in the database", async () => {
  const { rows } = await world.service.db.pool.query<{ row: string }>(
    "SELECT to_jsonb(k)::text || encode(encrypted_private, 'escape') AS row FROM signing_key k",
  );
  for (const { row } of rows) expect(row).not.toMatch(/"(d|p|q|dp|dq|qi)":/);
});

test("another encryption key than the one used before is refused at start, with what to do", async () => {
  const env = { ENCRYPTION_KEYS: Buffer.alloc(32, "another key").toString("base64") };
  await expect(startService({ db: world.service.db, env })).rejects.toThrow(/ENCRYPTION_KEYS/);
});

test("what has expired is told from what never was, then swept in batches", async () => {
  const { service } = world;
  const app = await world.app();
  await getAppToken(service, app, ["schools:read"]);
  const count = async () =>
    (
      await service.db.pool.query<{ count: number }>(
        "SELECT count(*)::int AS count FROM oidc_artifact WHERE kind = 'ClientCredentials'",
      )
    ).rows[0]!.count;
  expect(await count()).toBeGreaterThan(0);
  service.clock.forwardSeconds(3600 + 24 * 3600 + 1);
  await service.runJob("sign-on.sweepExpired");
  expect(await count()).toBe(0);
});
