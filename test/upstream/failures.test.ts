import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { startReceiver } from "../support/receiver.ts";
import { giveLogin } from "../support/token.ts";
import { clientId, clientSecret, startUpstreamProvider } from "../support/upstream-provider.ts";
import { makeRelyingParty } from "../support/upstream.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { findConnection, updateConnectionIn, type ConnectionId } from "../../src/upstream/index.ts";

const db = await testDatabase();
const make = makeMakers(db);
const provider = await startUpstreamProvider();
const party = makeRelyingParty(db);
const school = await make.school();
await giveLogin(db, await make.person({ school, sourceSystemIdentifier: "1" }));
provider.claims["account-1"] = { employee_id: "1" };
const connection = await party.connect(provider, school);
await party.upstream.checkConnection(connection);
const stateOf = async (id: ConnectionId) => {
  const { lastFailure, failingSince } = (await findConnection(db, id))!;
  return { lastFailure, isFailing: failingSince !== null };
};

async function withAnswer<T>(after: typeof provider.after, work: () => Promise<T>): Promise<T> {
  provider.after = after;
  try {
    return await work();
  } finally {
    provider.after = null;
  }
}

const atToken = (change: (body: Record<string, unknown>) => Promise<object> | object) =>
  async function (path: string, body: Record<string, unknown>) {
    return path === "/token" && body["id_token"] !== undefined ? { ...body, ...(await change(body)) } : body;
  };
/** The ID token of the answer with other claims, signed by the provider. */
const withClaims = (claims: () => object, header = {}) =>
  atToken(async ({ id_token }) => ({
    id_token: await provider.sign({ ...decodeJwt(id_token as string), ...claims() }, header),
  }));
const signInWith = (after: typeof provider.after) =>
  withAnswer(after, () => party.codeOf(party.signIn(provider, connection)));

const soon = () => Math.floor(Date.now() / 1000);
test.each<[string, string, () => object, object?]>([
  ["an end that has passed by more than the skew", "CLOCK", () => ({ exp: soon() - 70 })],
  ["a beginning in the future", "CLOCK", () => ({ iat: soon() + 120 })],
  ["a beginning long ago", "CLOCK", () => ({ iat: soon() - 3600 })],
  [
    "claims that are nested too deep to walk",
    "INVALID_RESPONSE",
    () => ({ deep: JSON.parse(`${"[".repeat(1000)}${"]".repeat(1000)}`) as unknown }),
  ],
])("an ID token with %s: %s", async (_what, code, claims, header) => {
  expect(await signInWith(withClaims(claims, header))).toBe(code);
});

test("an ID token within the skew of the clocks is accepted", async () => {
  expect(await signInWith(withClaims(() => ({ exp: soon() - 30, iat: soon() + 30 })))).toBe("signed_in");
});

test("an ID token with an algorithm that the provider did not announce for ID tokens is refused", async () => {
  await db.pool.query(
    "UPDATE upstream_connection SET metadata = jsonb_set(metadata, '{id_token_signing_alg_values_supported}', '[\"ES256\"]')",
  );
  expect(await signInWith(null)).toBe("INVALID_RESPONSE");
  await party.upstream.checkConnection(connection);
  expect(await signInWith(null)).toBe("signed_in");
});

test("a new key of the provider is read when it is first used, and a made-up one at most once a minute", async () => {
  let ahead = 0;
  const own = makeRelyingParty(db, () => new Date(Date.now() + ahead));
  const signInOwn = (after: typeof provider.after) =>
    withAnswer(after, () => own.codeOf(own.signIn(provider, connection)));
  const asked: string[] = [];
  let isDown = false;
  provider.before = (req, res) => {
    asked.push(req.url!);
    return isDown && req.url!.startsWith("/.well-known/") && (res.writeHead(503).end(), true);
  };
  const readKeys = () => asked.filter((path) => path === "/jwks").length;
  const madeUp = withClaims(() => ({}), { kid: "made-up" });
  expect([await signInOwn(madeUp), readKeys()]).toEqual(["INVALID_RESPONSE", 1]);
  ahead = 120_000;
  await provider.changeKey();
  expect([await signInOwn(null), readKeys()]).toEqual(["signed_in", 2]);
  expect([await signInOwn(madeUp), readKeys()]).toEqual(["INVALID_RESPONSE", 2]);
  // Nor do tokens that anybody makes up call a provider again and again while it is down.
  ahead = 240_000;
  [isDown, asked.length] = [true, 0];
  const iat = Math.floor((Date.now() + ahead) / 1000);
  for (const jti of ["1", "2", "3"]) {
    const claims = { iss: provider.issuer, aud: clientId, iat, exp: iat + 60, jti };
    const token = await provider.sign(claims, { kid: "made-up" });
    expect(await own.upstream.endByLogoutToken(connection, token)).toBe("invalid");
  }
  provider.before = null;
  expect(asked).toEqual(["/.well-known/openid-configuration"]);
});

test("tokens that strangers make up do not keep a new key of the provider from being read, and call it seldom", async () => {
  let ahead = 0;
  const own = makeRelyingParty(db, () => new Date(Date.now() + ahead));
  const asked: string[] = [];
  provider.before = (req) => (asked.push(req.url!), false);
  const readKeys = () => asked.filter((path) => path === "/jwks").length;
  const logout = async (address: string, of: { kid?: string } = { kid: "made-up" }) => {
    const iat = Math.floor(Date.now() / 1000);
    const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
    const claims = {
      iss: provider.issuer,
      aud: clientId,
      iat,
      exp: iat + 60,
      jti: crypto.randomUUID(),
      sub: "x",
      events,
    };
    const token = await provider.sign(claims, { typ: "logout+jwt", ...of });
    return own.upstream.endByLogoutToken(connection, token, address);
  };
  for (let n = 1; n < 10; n++) for (let again = 0; again < 5; again++) await logout(`203.0.113.${n}`);
  expect(readKeys()).toBe(15);
  await provider.changeKey();
  const { account } = provider;
  const atOnce = await Promise.all(
    Array.from({ length: 8 }, async () => own.finish(connection, await provider.visit(await own.begin(connection)))),
  );
  expect([account, ...(await Promise.all(atOnce.map(own.codeOf)))]).toEqual([
    account,
    ...atOnce.map(() => "signed_in"),
  ]);
  expect(readKeys()).toBeLessThan(20);
  // Also a logout token of the provider, which comes right after one from elsewhere.
  ahead = 61_000;
  await logout("203.0.113.1");
  await provider.changeKey();
  expect(await logout("198.51.100.1", {})).toBe("ended");
  // And an ID token, after one that no key fits.
  ahead = 122_000;
  const count = readKeys();
  await withAnswer(
    withClaims(() => ({}), { kid: "made-up" }),
    () => own.codeOf(own.signIn(provider, connection)),
  );
  await provider.changeKey();
  provider.before = (req) => (asked.push(req.url!), false);
  expect(await own.codeOf(own.signIn(provider, connection))).toBe("signed_in");
  expect(readKeys()).toBe(count + 2);
  provider.before = null;
});

test("the errors of the provider have a code each", async () => {
  const back = async (error: string, more: Parameters<typeof party.begin>[1] = {}) => {
    const state = (await party.begin(connection, more)).searchParams.get("state")!;
    const params = new URLSearchParams({ error, state, iss: provider.issuer });
    return party.codeOf(party.finish(connection, params));
  };
  expect(await back("access_denied")).toBe("CANCELLED");
  expect(await back("temporarily_unavailable")).toBe("UPSTREAM_DOWN");
  expect(await back("login_required", { silent: true })).toBe("LOGIN_REQUIRED");
  expect(await back("made_up_error")).toBe("INVALID_RESPONSE");
});

test("what the browser alone says does not make a connection fail; what the provider says does, until a sign-in", async () => {
  await signInWith(null);
  const state = (await party.begin(connection)).searchParams.get("state")!;
  const forged = new URLSearchParams({ error: "server_error", state, iss: provider.issuer });
  expect(await party.codeOf(party.finish(connection, forged))).toBe("UPSTREAM_DOWN");
  expect(await stateOf(connection)).toEqual({ lastFailure: "UPSTREAM_DOWN", isFailing: false });
  provider.before = (req, res) => req.url === "/token" && (res.writeHead(503).end(), true);
  expect(await signInWith(null)).toBe("UPSTREAM_DOWN");
  provider.before = null;
  expect(await stateOf(connection)).toEqual({ lastFailure: "UPSTREAM_DOWN", isFailing: true });
  expect(await signInWith(null)).toBe("signed_in");
  expect(await stateOf(connection)).toEqual({ lastFailure: "UPSTREAM_DOWN", isFailing: false });
});

test("userinfo that refuses the access token says nothing of the secret", async () => {
  const asked: string[] = [];
  provider.before = ({ url = "" }, res) => url === "/me" && (asked.push(url), res.writeHead(401).end(), true);
  expect(await signInWith(null)).toBe("INVALID_RESPONSE");
  expect(asked).toEqual(["/me"]);
  provider.before = null;
});

test("a connection that is off or a draft signs nobody in, also in the middle of a round trip", async () => {
  const id = await party.connect(provider, await make.school());
  const address = await party.begin(id);
  await db.prisma.upstreamConnection.update({ where: { id }, data: { state: "OFF" } });
  expect(await party.codeOf(party.finish(id, await provider.visit(address)))).toBe("CONNECTION_OFF");
  const { upstream, browser } = party;
  const start = { browser, address: "192.0.2.1", to: { path: "/" } };
  const draft = await party.connect(provider, await make.school(), { state: "DRAFT" });
  for (const connectionId of [id, draft, crypto.randomUUID() as ConnectionId])
    expect(await upstream.begin({ connectionId, ...start })).toMatchObject({ failure: { code: "CONNECTION_OFF" } });
});

test("a round trip lasts ten minutes", async () => {
  let now = new Date();
  const late = makeRelyingParty(db, () => now);
  const params = await provider.visit(await late.begin(connection));
  now = new Date(now.getTime() + 600_001);
  const { browser } = late;
  const back = { connectionId: connection, browser, address: "192.0.2.1", params, at: now };
  expect(await late.upstream.finish(back)).toMatchObject({ kind: "failed", failure: { code: "EXPIRED" }, to: null });
});

test("an address opens so many round trips", async () => {
  const begin = () =>
    party.upstream.begin({ connectionId: connection, browser: "b", address: "198.51.100.1", to: { path: "/" } });
  await begin();
  await db.pool.query("UPDATE rate_limit SET full_at = now() + interval '10 minutes'");
  expect(await begin()).toMatchObject({ failure: { code: "TOO_MANY" } });
  await db.pool.query("DELETE FROM rate_limit");
});

test("the tenant in the ID token counts, not what userinfo says", async () => {
  const post = await startUpstreamProvider({ authMethod: "client_secret_post" });
  const place = await make.school();
  await giveLogin(db, await make.person({ school: place, sourceSystemIdentifier: "1" }));
  const id = await party.connect(post, place, { profile: "GOOGLE", tenant: "goethe.example" });
  post.claims["account-1"] = { employee_id: "1", hd: "goethe.example" };
  expect(await party.codeOf(party.signIn(post, id))).toBe("TENANT");
  post.inIdToken = true;
  expect(await party.codeOf(party.signIn(post, id))).toBe("signed_in");
});

test("a discovery document that names another issuer is not used", async () => {
  const of = await party.connect(provider, await make.school());
  const checked = await withAnswer(
    (path, body) => (path.startsWith("/.well-known/") ? { ...body, issuer: "https://other.example" } : body),
    () => party.upstream.checkConnection(of),
  );
  expect(checked).toMatchObject({ kind: "failed", failure: { code: "INVALID_RESPONSE" } });
});

test("a client secret goes to no other host that the discovery document names later, until it is typed again", async () => {
  const of = await party.connect(provider, await make.school());
  const evil = await startReceiver();
  const check = async (tokenEndpoint: string) =>
    withAnswer(
      (path, body) => (path.startsWith("/.well-known/") ? { ...body, token_endpoint: tokenEndpoint } : body),
      () => party.upstream.checkConnection(of),
    );
  const own = `${provider.issuer}/token`;
  expect(await check(own)).toMatchObject({ kind: "reached" });
  const moved = await check(`${evil.url}/token`);
  expect(moved).toMatchObject({ kind: "failed", failure: { code: "INVALID_RESPONSE" } });
  expect(moved).toMatchObject({ detail: expect.stringContaining("type the client secret again") });
  expect(await stateOf(of)).toMatchObject({ lastFailure: "INVALID_RESPONSE" });
  // Another path of the issuer's own host, as after an update of IServ, is where the secret may go.
  expect(await check(`${provider.issuer}/v2/token`)).toMatchObject({
    endpoints: { token: `${provider.issuer}/v2/token` },
  });
  expect(await check(own)).toMatchObject({ endpoints: { token: own } });
  const codeOfSignIn = async () => party.codeOf(party.signIn(provider, of));
  expect(await codeOfSignIn()).toBe("NOBODY_MATCHES");
  expect(evil.received).toEqual([]);
  const update = { clientSecret };
  await withPrismaTransaction(db, (tx) => updateConnectionIn(tx, { id: of, update }, party.context()));
  expect(await check(`${evil.url}/token`)).toMatchObject({ endpoints: { token: `${evil.url}/token` } });
});

test("a secret is sent as it is where nothing in it needs an escape, because many providers do not decode it", async () => {
  const connection = await party.connect(provider, school, {
    clientId: "a:b",
    clientSecret: "with-every_sign.and~one",
  });
  const sent: (string | undefined)[] = [];
  provider.before = ({ url, headers }) => url === "/token" && sent.push(headers.authorization) === 0;
  const address = await party.begin(connection);
  const params = new URLSearchParams({ code: "x", state: address.searchParams.get("state")!, iss: provider.issuer });
  expect(await party.codeOf(party.finish(connection, params))).toBe("SECRET_REFUSED");
  provider.before = null;
  const decoded = sent.map((one) => Buffer.from(one!.replace("Basic ", ""), "base64").toString());
  expect(decoded).toEqual(["a%3Ab:with-every_sign.and~one"]);
});

test("only browsers that are at the provider count against the limit of an address", async () => {
  const at = new Date();
  const { upstream, begin, browser, connect, codeOf } = makeRelyingParty(db, () => at);
  const connection = await connect(provider, await make.school());
  const address = "2001:db8:1:1::1";
  const countUsed = async () => {
    const text = "SELECT count(*)::int AS used FROM rate_limit WHERE full_at > $1::timestamptz + interval '10 ms'";
    return (await db.pool.query<{ used: number }>(text, [at])).rows[0]!.used;
  };
  await db.pool.query("DELETE FROM rate_limit");
  const tabs: URLSearchParams[] = [];
  for (let tab = 0; tab < 20; tab++) tabs.push((await begin(connection, { address })).searchParams);
  expect(await countUsed()).toBe(2);
  for (const tab of tabs) {
    const params = new URLSearchParams({ error: "access_denied", state: tab.get("state")!, iss: provider.issuer });
    expect(await codeOf(upstream.finish({ connectionId: connection, browser, address, params, at }))).toBe("CANCELLED");
  }
  expect(await countUsed()).toBe(0);
});
