import { createHmac } from "node:crypto";
import { decodeJwt, exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT, type JWK, type JWTPayload } from "jose";
import { beforeAll, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { signInThere } from "../support/upstream-browser.ts";
import { clientId, startUpstreamProvider } from "../support/upstream-provider.ts";
import { type AttackedSchool, reasonOn, startAttackWorld } from "./upstream-world.ts";

// Attackers who write tokens: at the token endpoint of a provider, and at our logout address.
const world = startAttackWorld();

type Key = Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];

let school: AttackedSchool;
let canary: Receiver;
let published: JWK;
let evilKey: Key;
let evilJwk: JWK;
beforeAll(async () => {
  school = await world.connect();
  await world.makePerson(school, "1");
  canary = await startReceiver((_call, response) => response.end(JSON.stringify({ keys: [evilJwk] })));
  const evil = await generateKeyPair("RS256", { extractable: true });
  evilKey = evil.privateKey;
  const document = (await (await fetch(`${school.provider.issuer}/jwks`)).json()) as { keys: JWK[] };
  published = document.keys[0]!;
  evilJwk = { ...(await exportJWK(evil.publicKey)), kid: "evil", alg: "RS256", use: "sig" };
});

type Header = Record<string, unknown>;
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const raw = (header: Header, claims: JWTPayload, signature: (text: string) => string) => {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${signature(text)}`;
};
const byEvil = (claims: JWTPayload, header: Header) =>
  new SignJWT(claims).setProtectedHeader({ alg: "RS256", ...header }).sign(evilKey);
const hmac = (secret: string | Buffer) => (text: string) =>
  createHmac("sha256", secret).update(text).digest("base64url");

/** Tokens with the right claims that the provider did not sign. */
const forgeries: Record<string, (claims: JWTPayload) => Promise<string> | string> = {
  "alg none": (claims) => raw({ alg: "none" }, claims, () => ""),
  "alg None with a kid": (claims) => raw({ alg: "None", kid: published.kid }, claims, () => ""),
  "HS256 with the public key as PEM": async (claims) => {
    const key = (await importJWK(published, "RS256", { extractable: true })) as Key;
    return raw({ alg: "HS256", kid: published.kid }, claims, hmac(await exportSPKI(key)));
  },
  "HS256 with the public key as JWK": (claims) =>
    raw({ alg: "HS256", kid: published.kid }, claims, hmac(JSON.stringify(published))),
  "HS256 with the modulus": (claims) =>
    raw({ alg: "HS256", kid: published.kid }, claims, hmac(Buffer.from(published.n!, "base64url"))),
  "HS256 with the client secret": (claims) => raw({ alg: "HS256" }, claims, hmac("secret-of-schultor-at-the-provider")),
  "a key of another provider under the same kid": (claims) => byEvil(claims, { kid: published.kid }),
  "a key of another provider under its own kid": (claims) => byEvil(claims, { kid: "evil" }),
  "a key of another provider without a kid": (claims) => byEvil(claims, {}),
  "its own key in the header": (claims) => byEvil(claims, { kid: published.kid, jwk: evilJwk }),
  "the address of its keys in the header": (claims) =>
    byEvil(claims, { kid: "evil", jku: `${canary.url}/keys`, x5u: `${canary.url}/certificates` }),
  "a kid that is an address": (claims) => byEvil(claims, { kid: `${canary.url}/keys` }),
  "a kid that is a path and a statement": (claims) => byEvil(claims, { kid: "../../dev/null' OR 1=1 --" }),
  "no signature": async (claims) => (await school.provider.sign(claims)).replace(/[^.]+$/, ""),
  "a signature of another token": async (claims) => {
    const [, , signature] = (await school.provider.sign({ ...claims, sub: "another" })).split(".");
    return raw({ alg: "RS256", kid: published.kid }, claims, () => signature!);
  },
};

test.each(Object.entries(forgeries))("algorithm and key confusion: %s signs nobody in", async (_name, forge) => {
  const { provider } = school;
  signInThere(provider, { import_id: "1" }, "victim");
  provider.after = async (path, body) =>
    path === "/token" ? { ...body, id_token: await forge(decodeJwt(String(body["id_token"]))) } : body;
  const browser = world.newBrowser();
  try {
    const params = await provider.visit(await world.leave(browser, school));
    const shown = await world.comeBack(browser, school.connectionId, params);
    expect([reasonOn(shown), await world.isSignedIn(browser)]).toEqual(["INVALID_RESPONSE", false]);
  } finally {
    provider.after = null;
  }
  expect(canary.received).toEqual([]);
});

test("key confusion: symmetric and private keys in the key set of a provider verify nothing", async () => {
  const evil = await startUpstreamProvider();
  const place = await world.connect({}, evil);
  await world.makePerson(place, "1");
  const secret = Buffer.alloc(32, 1);
  evil.after = (path, body) => {
    if (path === "/jwks")
      return { keys: [{ kty: "oct", kid: "shared", alg: "HS256", k: secret.toString("base64url") }] };
    if (path.startsWith("/.well-known"))
      return { ...body, id_token_signing_alg_values_supported: ["none", "HS256", "RS256"] };
    if (path !== "/token") return body;
    return {
      ...body,
      id_token: raw({ alg: "HS256", kid: "shared" }, decodeJwt(String(body["id_token"])), hmac(secret)),
    };
  };
  expect(await world.outcome(place, { import_id: "1" })).toBe("INVALID_RESPONSE");
  evil.after = (path, body) =>
    path.startsWith("/.well-known") ? { ...body, id_token_signing_alg_values_supported: ["none", "HS256"] } : body;
  await world.service.db.pool.query("UPDATE upstream_connection SET metadata = NULL WHERE id = $1", [
    place.connectionId,
  ]);
  const browser = world.newBrowser();
  await browser.open(`/s/${place.linkName}`);
  const page = await browser.open("/sign-in");
  const shown = await browser.submit(page, "/upstream", { connection: place.connectionId });
  expect(reasonOn(shown)).toBe("INVALID_RESPONSE");
});

test("a logout token is no ID token, and what a request of another person got is none of this one", async () => {
  const { provider } = school;
  signInThere(provider, { import_id: "1" }, "victim");
  const now = Math.floor(Date.now() / 1000);
  const own = { iss: provider.issuer, sub: "victim", aud: clientId, iat: now, exp: now + 60 };
  const foreign = [
    () => provider.sign({ ...own, jti: "1", events: { [logoutEvent]: {} } }, { typ: "logout+jwt" }),
    () => provider.sign({ ...own, nonce: "of another request" }),
    (claims: JWTPayload) => provider.sign({ ...claims, sub: "" }),
    (claims: JWTPayload) => provider.sign({ ...claims, sub: "victim\0" }),
    (claims: JWTPayload) => provider.sign({ ...claims, sub: ["victim"] as never }),
  ];
  for (const [index, make] of foreign.entries()) {
    provider.after = async (path, body) =>
      path === "/token" ? { ...body, id_token: await make(decodeJwt(String(body["id_token"]))) } : body;
    const { browser, shown } = await world.arrive(school, { import_id: "1" }, "victim");
    provider.after = null;
    expect([reasonOn(shown), await world.isSignedIn(browser)], String(index)).toEqual(["INVALID_RESPONSE", false]);
  }
});

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";

test("a logout token that is forged, of another client, connection, kind or time ends nothing; a true one ends its own once", async () => {
  const other = await world.connect();
  await world.makePerson(other, "2");
  const { browser } = await world.arrive(school, { import_id: "1" }, "victim");
  const elsewhere = (await world.arrive(other, { import_id: "2" }, "of another school")).browser;
  const { provider } = school;
  const where = { connectionId: school.connectionId, endedAt: null };
  const { sid } = await world.service.db.prisma.upstreamSession.findFirstOrThrow({
    where,
    orderBy: { createdAt: "desc" },
  });
  const now = Math.floor(Date.now() / 1000);
  let made = 0;
  const claimsOf = (changes: object): JWTPayload => ({
    iss: provider.issuer,
    aud: clientId,
    iat: now,
    exp: now + 120,
    jti: `jti-${++made}`,
    sid: sid!,
    sub: "victim",
    events: { [logoutEvent]: {} },
    ...changes,
  });
  const send = async (token: string, at = school) => {
    const body = new URLSearchParams({ logout_token: token });
    const answer = await fetch(`${world.service.url}/upstream/${at.connectionId}/backchannel-logout`, {
      method: "POST",
      body,
    });
    return [answer.status, answer.headers.get("cache-control")];
  };
  const typ = "logout+jwt";
  const refused: Record<string, string> = {
    "wrong aud": await provider.sign(claimsOf({ aud: "another" }), { typ }),
    "wrong iss": await provider.sign(claimsOf({ iss: "https://evil.example" }), { typ }),
    "a nonce": await provider.sign(claimsOf({ nonce: "n" }), { typ }),
    "an empty nonce": await provider.sign(claimsOf({ nonce: "" }), { typ }),
    "another typ": await provider.sign(claimsOf({}), { typ: "at+jwt" }),
    "no events": await provider.sign(claimsOf({ events: undefined }), { typ }),
    "another event": await provider.sign(claimsOf({ events: { "http://example.org/other": {} } }), { typ }),
    "no sid and no sub": await provider.sign(claimsOf({ sid: undefined, sub: undefined }), { typ }),
    "a sid that is a list": await provider.sign(claimsOf({ sid: [sid, "another"], sub: null }), { typ }),
    "a sub with NUL": await provider.sign(claimsOf({ sid: undefined, sub: "victim\0" }), { typ }),
    "no jti": await provider.sign(claimsOf({ jti: undefined }), { typ }),
    "no iat": await provider.sign(claimsOf({ iat: undefined }), { typ }),
    "an end in the past": await provider.sign(claimsOf({ exp: now - 120 }), { typ }),
    "a beginning in the future": await provider.sign(claimsOf({ iat: now + 300, exp: now + 600 }), { typ }),
    "an old one": await provider.sign(claimsOf({ iat: now - 3600, exp: now + 600 }), { typ }),
    "an ID token": await provider.sign({ ...claimsOf({ nonce: "n" }), events: undefined }),
    "not a token": "a.b.c",
    "very long": "a".repeat(40_000),
  };
  for (const [name, forge] of Object.entries(forgeries)) refused[name] = await forge(claimsOf({}));
  for (const [name, token] of Object.entries(refused)) expect(await send(token), name).toEqual([400, "no-store"]);
  // Of another connection of the same provider and client: its own sessions only.
  expect(await send(await provider.sign(claimsOf({}), { typ }), other)).toEqual([200, "no-store"]);
  expect([await world.isSignedIn(browser), await world.isSignedIn(elsewhere)]).toEqual([true, true]);
  expect(canary.received).toEqual([]);

  const token = await provider.sign(claimsOf({}), { typ });
  expect(await send(token)).toEqual([200, "no-store"]);
  expect([await world.isSignedIn(browser), await world.isSignedIn(elsewhere)]).toEqual([false, true]);
  expect(await send(token)).toEqual([400, "no-store"]);
});
