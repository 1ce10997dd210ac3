import { createLocalJWKSet, decodeProtectedHeader, importJWK, type JSONWebKeySet, jwtVerify } from "jose";
import { beforeEach, expect, test } from "vitest";
import { deleteApp, updateApp } from "../../../src/access/index.ts";
import { readConfig } from "../../../src/config/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { forgetApp, makeNextKeys, rotateSigningKeysIn } from "../../../src/sign-on/index.ts";
import { testDatabase } from "../../support/database.ts";
import { startService, type TestService } from "../../support/service.ts";
import { askFor, getAppToken, getUserTokens, type TestApp } from "../../support/token.ts";
import { makeWorld, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
const rs256 = ["RS256", "RS256"];
const idTokenSeconds = 3600;
const skewSeconds = 600;
const sessionSeconds = 36_000;
const longestSessionSeconds = 30 * 86_400;
const backUri = "http://127.0.0.1:4999/";

const { encryptionKeys, lifetimes } = readConfig({ NODE_ENV: "test" });

async function rotateKeys({ db, clock }: TestService, { isForced = false } = {}): Promise<void> {
  const next = await makeNextKeys(encryptionKeys);
  await withPrismaTransaction(db, (tx) => rotateSigningKeysIn(tx, next, { isForced, ...lifetimes }, { at: clock() }));
}

const readKeys = async ({ url } = world.service) =>
  (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
const listAlgorithms = async (service = world.service) => (await readKeys(service)).keys.map(({ alg }) => alg);

const changeAlgorithm = ({ clientId }: TestApp, idTokenAlgorithm: "RS256" | "ES256" | "EdDSA") =>
  withPrismaTransaction(world.service.db, (tx) =>
    updateApp(tx, { clientId, idTokenAlgorithm }, { at: world.service.clock(), allowLoopbackHttp: true }),
  );

type SignedIn = Awaited<ReturnType<typeof getUserTokens>>;

async function logOut({ browser }: Pick<SignedIn, "browser">, idToken: string) {
  const params = new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: backUri });
  const page = await browser.open(`${world.service.url}/oauth2/sessions/logout?${params.toString()}`);
  return page.status === 200
    ? (await browser.submit(page, "/confirm", { logout: "yes" })).url
    : `status ${page.status}`;
}

test("the key set is JSON for everybody, and a key set by its own name for whoever prefers it", async () => {
  const typeFor = async (accept: string | null) => {
    const headers = accept === null ? {} : { accept };
    const { headers: answered } = await fetch(`${world.service.url}/.well-known/jwks.json`, { headers });
    expect(answered.get("vary")).toContain("Accept");
    return answered.get("content-type");
  };
  for (const accept of ["*/*", "application/json", "text/html", "application/json, application/jwk-set+json"])
    expect([accept, await typeFor(accept)]).toEqual([accept, "application/json; charset=utf-8"]);
  expect(await typeFor("application/jwk-set+json")).toMatch(/^application\/jwk-set\+json/);
});

test("a fresh service publishes the RS256 key that signs and the one after it, in this order, and no other", async () => {
  const { service, login } = world;
  const { keys } = await readKeys();
  expect(keys.map(({ alg }) => alg)).toEqual(rs256);
  const { id_token } = await getUserTokens(service, await world.app(), login);
  // Some clients take the first key that fits, whatever its id.
  const first = keys.find(({ kty }) => kty === "RSA")!;
  await jwtVerify(id_token!, await importJWK(first, "RS256"), { currentDate: service.clock() });
  const discovery = await (await fetch(`${service.url}/.well-known/openid-configuration`)).json();
  expect(discovery).toMatchObject({ id_token_signing_alg_values_supported: ["RS256", "ES256", "EdDSA"] });
});

test("keys of another algorithm are published by every process before the first token, and as long as tokens are valid", async () => {
  const { service, login } = world;
  const other = await startService({ db: service.db, clock: service.clock, env: { ISSUER_URL: service.url } });
  const app = await world.app({ idTokenAlgorithm: "ES256", postLogoutRedirectUris: [backUri] });
  const used = [...rs256, "ES256", "ES256"].sort();
  for (const each of [service, other]) expect((await listAlgorithms(each)).sort()).toEqual(used);
  const signedIn = await getUserTokens(service, app, login);
  const idToken = signedIn.id_token!;
  for (const each of [service, other])
    await jwtVerify(idToken, createLocalJWKSet(await readKeys(each)), { currentDate: service.clock() });
  const { keys } = await readKeys();
  expect(keys.find(({ alg }) => alg === "ES256")!.kid).toBe(decodeProtectedHeader(idToken).kid);

  service.clock.forwardSeconds(100_000);
  expect(await listAlgorithms()).toHaveLength(4);
  const last = await getUserTokens(service, app, login);
  await changeAlgorithm(app, "RS256");
  service.clock.forwardSeconds(idTokenSeconds + skewSeconds);
  for (const each of [service, other]) expect((await listAlgorithms(each)).sort()).toEqual(used);
  service.clock.forwardSeconds(1);
  for (const each of [service, other]) expect(await listAlgorithms(each)).toEqual(rs256);
  expect(await logOut(last, last.id_token!)).toBe(backUri);
});

test("the keys of a deleted app's algorithm stay as long as its tokens, those of another app's algorithm for good", async () => {
  const { service } = world;
  const [leaving, staying] = [
    await world.app({ idTokenAlgorithm: "EdDSA" }),
    await world.app({ idTokenAlgorithm: "EdDSA" }),
  ];
  const remove = ({ clientId }: TestApp) =>
    deleteApp(service.db, clientId, { origin: { at: service.clock() }, forget: forgetApp });
  await remove(leaving);
  service.clock.forwardSeconds(idTokenSeconds + skewSeconds + 1);
  expect(await listAlgorithms()).toContain("EdDSA");
  await remove(staying);
  expect(await listAlgorithms()).toContain("EdDSA");
  service.clock.forwardSeconds(idTokenSeconds + skewSeconds + 1);
  expect(await listAlgorithms()).toEqual(rs256);
});

test("an app can hint at a session with an ID token of another algorithm or of a retired key until the longest session ends", async () => {
  const { service, login } = world;
  const app = await world.app({ idTokenAlgorithm: "EdDSA", postLogoutRedirectUris: [backUri] });
  const { id_token, browser } = await getUserTokens(service, app, login);
  const kid = decodeProtectedHeader(id_token!).kid!;
  await changeAlgorithm(app, "ES256");
  await rotateKeys(service, { isForced: true });
  await service.runJob("sign-on.watchKeys");
  service.clock.forwardSeconds(sessionSeconds - 60);
  for (const name of ["sign-on.dropRetiredKeys", "sign-on.watchKeys"]) await service.runJob(name);
  expect((await readKeys()).keys.map((key) => key.kid)).not.toContain(kid);
  expect(await logOut({ browser }, id_token!)).toBe(backUri);
  const count = () => service.db.prisma.signingKey.count({ where: { kid } });
  service.clock.forwardSeconds(longestSessionSeconds - sessionSeconds);
  await service.runJob("sign-on.dropRetiredKeys");
  expect(await count()).toBe(1);
  service.clock.forwardSeconds(60 + skewSeconds + 1);
  await service.runJob("sign-on.dropRetiredKeys");
  expect(await count()).toBe(0);
});

const listKids = async (of = world.service) => (await readKeys(of)).keys.map(({ kid }) => kid!);
const listKeys = () =>
  world.service.db.prisma.signingKey.findMany({ select: { kid: true, state: true }, orderBy: { kid: "asc" } });

test("a rotated key was published before, every process follows without a restart, and the old one stays until its tokens have expired", async () => {
  const { service, login } = world;
  const other = await startService({ db: service.db, clock: service.clock, env: { ISSUER_URL: service.url } });
  const app = await world.app();
  const before = await getUserTokens(service, app, login);
  const published = await listKids(service);
  const oldKid = decodeProtectedHeader(before.id_token!).kid!;

  await rotateKeys(service);
  for (const each of [service, other]) await each.runJob("sign-on.watchKeys");
  const after = await getUserTokens(service, app, login);
  const newKid = decodeProtectedHeader(after.id_token!).kid!;
  expect(newKid).not.toBe(oldKid);
  expect(published).toContain(newKid);
  for (const each of [service, other]) {
    expect(await listKids(each)).toEqual(expect.arrayContaining([oldKid, newKid]));
  }
  const hinted = askFor(service, app, { params: { prompt: "none", id_token_hint: before.id_token! } });
  expect((await after.browser.open(hinted.address)).url).toContain("code=");

  service.clock.forwardSeconds(3600 + 601);
  await service.runJob("sign-on.dropRetiredKeys");
  await service.runJob("sign-on.watchKeys");
  expect(await listKids(service)).not.toContain(oldKid);
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
  const db = await testDatabase();
  const services = await Promise.all(
    Array.from({ length: 3 }, () => startService({ db, env: { ISSUER_URL: "http://localhost:3999" } })),
  );
  const kids = await Promise.all(
    services.map(({ url: _url }) => db.pool.query<{ count: number }>("SELECT count(*)::int AS count FROM signing_key")),
  );
  expect(kids.map(({ rows }) => rows[0]?.count)).toEqual([6, 6, 6]);
});

test("private keys are not readable in the database, and at start another encryption key is refused, with what to do", async () => {
  const { rows } = await world.service.db.pool.query<{ row: string }>(
    "SELECT to_jsonb(k)::text || encode(encrypted_private, 'escape') AS row FROM signing_key k",
  );
  for (const { row } of rows) expect(row).not.toMatch(/"(d|p|q|dp|dq|qi)":/);
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
