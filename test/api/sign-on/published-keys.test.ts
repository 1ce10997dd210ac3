import { createLocalJWKSet, decodeProtectedHeader, importJWK, type JSONWebKeySet, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { deleteApp, updateApp } from "../../../src/access/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { forgetApp } from "../../../src/sign-on/index.ts";
import { startService } from "../../support/service.ts";
import { getUserTokens, type TestApp } from "../../support/token.ts";
import { rotateKeys } from "./rotation.ts";
import { startWorld } from "./world.ts";

const world = startWorld();
const rs256 = ["RS256", "RS256"];
const idTokenSeconds = 3600;
const skewSeconds = 600;
const sessionSeconds = 36_000;
const backUri = "http://127.0.0.1:4999/";

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

test("an app can hint at a session with an ID token of another algorithm or of a retired key until the session ends", async () => {
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
  service.clock.forwardSeconds(60 + skewSeconds + 1);
  await service.runJob("sign-on.dropRetiredKeys");
  expect(await service.db.prisma.signingKey.count({ where: { kid } })).toBe(0);
});
