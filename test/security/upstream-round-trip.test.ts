import { createHmac } from "node:crypto";
import { SignJWT, decodeJwt, exportJWK, exportSPKI, generateKeyPair, importJWK, type JWK, type JWTPayload } from "jose";
import { beforeAll, expect, test } from "vitest";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { unlinkIn } from "../../src/upstream/index.ts";
import { askFor, exchange, giveLogin } from "../support/token.ts";
import { signInThere } from "../support/upstream-browser.ts";
import { clientId, startUpstreamProvider, type UpstreamProvider } from "../support/upstream-provider.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { reasonOn, startAttackWorld, type AttackedSchool } from "./upstream-world.ts";

// Attackers between the browser, this service and the providers.
const world = startAttackWorld();

/** A pupil whose account at the provider signs in from now on. */
async function makePupil(school: AttackedSchool, id: string = crypto.randomUUID()) {
  const personId = await world.makePerson(school, id);
  return { personId, sub: signInThere(school.provider, { import_id: id }) };
}

const codeCalls = ({ provider }: AttackedSchool) => provider.requests.filter(({ path }) => path === "/token").length;
const paramsOf = (url: URL) => Object.fromEntries(url.searchParams) as Record<string, string>;

test("what links a browser, a request and an account cannot be predicted, and is stored as hashes and ciphertext", async () => {
  const school = await world.connect();
  const browser = world.newBrowser();
  const asked: Record<string, string>[] = [];
  for (let made = 0; made < 5; made++) asked.push(paramsOf(await world.leave(browser, school)));
  for (const name of ["state", "nonce", "code_challenge"]) {
    const values = asked.map((params) => params[name]!);
    expect([new Set(values).size, values.every((value) => /^[\w-]{43}$/.test(value))]).toEqual([5, true]);
  }
  for (const { state, nonce } of asked) expect(state).not.toBe(nonce);
  expect(asked[0]).toMatchObject({ response_type: "code", code_challenge_method: "S256" });
  const rows = await world.service.db.pool.query<{ text: string }>(
    "SELECT encode(state_hash, 'escape') || encode(browser_hash, 'escape') || encode(details, 'escape') AS text FROM upstream_round_trip",
  );
  const stored = rows.rows.map(({ text }) => text).join("\n");
  const secrets = [...asked.flatMap(({ state, nonce }) => [state!, nonce!]), ...browser.cookies().map((c) => c.value)];
  for (const secret of secrets) expect(stored).not.toContain(secret);
});

test("mix-up: the response of an honest provider to a request that an attacker's provider passed on is sent to nobody", async () => {
  const [honest, evil] = [await world.connect(), await world.connect({}, await startUpstreamProvider())];
  await makePupil(honest);
  const browser = world.newBrowser();
  const asked = await world.leave(browser, evil);
  // The attacker's provider sends the browser on to the honest one, with the state of its own request.
  const own = await world.leave(world.newBrowser(), honest);
  const passedOn = new URL(own);
  for (const name of ["state", "nonce", "code_challenge"])
    passedOn.searchParams.set(name, asked.searchParams.get(name)!);
  const params = await honest.provider.visit(passedOn);
  const before = [codeCalls(honest), codeCalls(evil)];
  const shown = await world.comeBack(browser, honest.connectionId, params);
  expect([reasonOn(shown), await world.isSignedIn(browser)]).toEqual(["INVALID_RESPONSE", false]);
  expect([codeCalls(honest), codeCalls(evil)]).toEqual(before);
  // Nor does the attacker's redirect URI take what names the honest issuer, or none.
  for (const iss of [honest.provider.issuer, null]) {
    const again = await world.leave(browser, evil);
    const response = new URLSearchParams({ code: "stolen", state: again.searchParams.get("state")! });
    if (iss !== null) response.set("iss", iss);
    expect(reasonOn(await world.comeBack(browser, evil.connectionId, response))).toBe("INVALID_RESPONSE");
  }
  expect([codeCalls(honest), codeCalls(evil)]).toEqual(before);
});

test("mix-up: a state is good at its own connection alone where no provider names itself, and an error of another one is none", async () => {
  const nameless: UpstreamProvider["after"] = (path, body) =>
    path.startsWith("/.well-known") ? { ...body, authorization_response_iss_parameter_supported: undefined } : body;
  const evil = await world.connect({}, await startUpstreamProvider());
  const honest = await world.connect({ profile: "ISERV", subjectClaim: "sub" }, await startUpstreamProvider());
  for (const { provider } of [evil, honest]) provider.after = nameless;
  const browser = world.newBrowser();
  const back = async (began: AttackedSchool, at: AttackedSchool, params: Record<string, string>) => {
    const { state } = paramsOf(await world.leave(browser, began));
    return reasonOn(await world.comeBack(browser, at.connectionId, { ...params, state: state! }));
  };
  expect(await back(evil, honest, { code: "of the honest provider" })).toBe("INVALID_RESPONSE");
  expect(await back(honest, evil, { code: "of the honest provider" })).toBe("INVALID_RESPONSE");
  expect([codeCalls(honest), codeCalls(evil)]).toEqual([0, 0]);
  const error = { error: "invalid_scope", iss: evil.provider.issuer };
  expect(await back(honest, honest, error)).toBe("INVALID_RESPONSE");
  honest.provider.after = null;
  await world.service.db.pool.query("UPDATE upstream_connection SET metadata = NULL WHERE id = $1", [
    honest.connectionId,
  ]);
  expect(await back(honest, honest, { error: "invalid_scope" })).toBe("INVALID_RESPONSE");
});

test("two tabs of a browser do not overwrite each other's state, whatever comes back first", async () => {
  const [one, other] = [await world.connect(), await world.connect()];
  const [first, second] = [await makePupil(one), await makePupil(other)];
  const browser = world.newBrowser();
  const toFirst = await world.leave(browser, one, "/account");
  const toSecond = await world.leave(browser, other, "/account/privacy");
  const ofSecond = await other.provider.visit(toSecond);
  other.provider.account = first.sub;
  const ofFirst = await one.provider.visit(toFirst);
  // Each state is good for its own connection alone.
  expect(ofFirst.get("state")).not.toBe(ofSecond.get("state"));
  await world.comeBack(browser, one.connectionId, ofFirst);
  expect([await world.sessionsOf(first.personId), await world.sessionsOf(second.personId)]).toEqual([1, 0]);
  await world.comeBack(browser, other.connectionId, ofSecond);
  expect([await world.sessionsOf(first.personId), await world.sessionsOf(second.personId)]).toEqual([0, 1]);
});

test("code injection: a stolen code in a response to a request of the attacker is refused, by PKCE and by the nonce", async () => {
  const school = await world.connect();
  const victim = await makePupil(school);
  const stolen = await school.provider.visit(await world.leave(world.newBrowser(), school));
  const inject = async () => {
    const attacker = world.newBrowser();
    const { state } = paramsOf(await world.leave(attacker, school));
    const params = { code: stolen.get("code")!, state: state!, iss: school.provider.issuer };
    const shown = await world.comeBack(attacker, school.connectionId, params);
    return [reasonOn(shown), await world.isSignedIn(attacker)];
  };
  expect(await inject()).toEqual(["EXPIRED", false]);
  // A provider that ignores PKCE.
  const { nonce } = paramsOf(await world.leave(world.newBrowser(), school));
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: school.provider.issuer, sub: victim.sub, aud: "schultor", iat: now, exp: now + 60 };
  const id_token = await school.provider.sign({ ...claims, nonce: nonce! });
  school.provider.before = (req, res) => {
    if (req.url !== "/token") return false;
    res.writeHead(200, { "content-type": "application/json" });
    res.end(JSON.stringify({ access_token: "a", token_type: "bearer", id_token }));
    return true;
  };
  expect(await inject()).toEqual(["INVALID_RESPONSE", false]);
  school.provider.before = null;
  expect(await world.sessionsOf(victim.personId)).toBe(0);
});

test("replay: a response is good once, also at the same moment", async () => {
  const school = await world.connect();
  const { personId } = await makePupil(school);
  const browser = world.newBrowser();
  const params = await school.provider.visit(await world.leave(browser, school));
  const address = `/upstream/${school.connectionId}/callback?${params.toString()}`;
  const answers = await Promise.all(Array.from({ length: 5 }, () => browser.once(address)));
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 400, 400, 400, 400]);
  expect(await world.sessionsOf(personId)).toBe(1);
  expect(reasonOn(await world.comeBack(browser, school.connectionId, params))).toBe("EXPIRED");
});

test("login CSRF: a response that an attacker began signs no other browser in as the attacker", async () => {
  const school = await world.connect();
  const attacker = await makePupil(school);
  const victim = await makePupil(school);
  const [fresh, signedIn] = [world.newBrowser(), world.newBrowser()];
  await world.comeBack(signedIn, school.connectionId, await school.provider.visit(await world.leave(signedIn, school)));
  expect(await world.sessionsOf(victim.personId)).toBe(1);
  school.provider.account = attacker.sub;
  for (const browser of [fresh, signedIn]) {
    const own = world.newBrowser();
    const params = await school.provider.visit(await world.leave(own, school));
    expect(reasonOn(await world.comeBack(browser, school.connectionId, params))).toBe("OTHER_BROWSER");
    // The state is used up for the attacker too.
    expect(reasonOn(await world.comeBack(own, school.connectionId, params))).toBe("EXPIRED");
  }
  expect([await world.sessionsOf(attacker.personId), await world.sessionsOf(victim.personId)]).toEqual([0, 1]);
  // Nor does another site begin a sign-in here.
  const page = await fresh.open("/sign-in");
  const form = { connection: school.connectionId };
  const foreign = await fresh.once("/sign-in/upstream", { method: "POST", body: new URLSearchParams(form) });
  expect([foreign.headers.get("location"), page.status]).toEqual(["/sign-in", 200]);
});

test("a link proof does not outlive its sign-in, an unlink or another issuer", async () => {
  const school = await world.connect();
  const { personId, sub } = await makePupil(school, "1");
  const sessions = async () => [await world.sessionsOf(personId), (await world.linksOf(school)).length];
  const browser = world.newBrowser();
  const params = await school.provider.visit(await world.leave(browser, school));
  await world.comeBack(browser, school.connectionId, params);
  expect(await sessions()).toEqual([1, 1]);
  // A sign-in that was on its way when the person was unlinked and no rule names them any more.
  const late = world.newBrowser();
  const onItsWay = await school.provider.visit(await world.leave(late, school));
  const { db } = world.service;
  const of = { connectionId: school.connectionId, personId };
  await withPrismaTransaction(db, (tx) => unlinkIn(tx, of, { at: world.service.clock() }));
  expect(await world.isSignedIn(browser)).toBe(false);
  await db.prisma.person.update({ where: { id: personId }, data: { sourceSystemIdentifier: "2" } });
  expect(reasonOn(await world.comeBack(late, school.connectionId, onItsWay))).toBe("NOBODY_MATCHES");
  // After success nothing is left that links: the responses before, with or without their states.
  expect(reasonOn(await world.comeBack(browser, school.connectionId, params))).toBe("EXPIRED");
  expect(await sessions()).toEqual([expect.any(Number), 0]);
  // The same subject of another issuer is another account.
  await db.prisma.person.update({ where: { id: personId }, data: { sourceSystemIdentifier: "1" } });
  expect(await world.outcome(school, { import_id: "1" }, sub)).toBe("signed in");
  const other = await world.connect({ schoolId: school.school }, await startUpstreamProvider());
  expect(await world.outcome(other, {}, sub)).toBe("CLAIM_MISSING");
  expect(await world.linksOf(other)).toEqual([]);
});

test("open redirect: no return path, destination or page of a failure leads to another site", async () => {
  const school = await world.connect();
  await makePupil(school);
  const { service } = world;
  // Every spelling of a return path: src/sign-on/forms/page-request.test.ts.
  for (const path of ["//evil.example", "/\\evil.example", "/%2F/evil.example"]) {
    const browser = world.newBrowser();
    const params = await school.provider.visit(await world.leave(browser, school, path));
    const shown = await world.comeBack(browser, school.connectionId, params);
    expect(new URL(shown.url).origin, path).toBe(service.url);
    const failed = await world.comeBack(browser, school.connectionId, { ...Object.fromEntries(params), return: path });
    expect(failed.html, path).not.toMatch(/(href|action)="[^"]*evil/);
  }
  const out = await world
    .newBrowser()
    .once(`/upstream/${school.connectionId}/signed-out?state=x&then=https://evil.example`);
  expect(new URL(out.headers.get("location")!, service.url).origin).toBe(service.url);
});

test("what the browser brings back is not shown as markup, and a broken response is no fault of the service", async () => {
  const school = await world.connect();
  const browser = world.newBrowser();
  const markup = "<script>alert(1)</script>";
  const { state } = paramsOf(await world.leave(browser, school));
  const error = { error: markup, error_description: markup, error_uri: "https://evil.example/", state: state! };
  const shown = await world.comeBack(browser, school.connectionId, { ...error, iss: school.provider.issuer });
  expect([reasonOn(shown), shown.html.includes("alert(1)"), shown.html.includes("evil.example")]).toEqual([
    "INVALID_RESPONSE",
    false,
    false,
  ]);
  const twice = (await world.leave(browser, school)).searchParams.get("state")!;
  const odd = [
    "",
    "?",
    "?state=%00",
    `?state=${"a".repeat(5000)}`,
    `?state=${twice}&state=other&code=a&code=b&iss=${school.provider.issuer}`,
    "?state[]=a&code[x]=b",
  ];
  for (const query of odd) {
    const answer = await browser.once(`/upstream/${school.connectionId}/callback${query}`);
    expect([400, 403, 424], query).toContain(answer.status);
  }
  for (const id of ["none", "..%2f..%2fadmin", crypto.randomUUID()])
    expect((await browser.once(`/upstream/${id}/callback?state=a`)).status).toBe(400);
});

test("a person who comes back signed in as somebody else gets a session of their own, and the one before ends", async () => {
  const school = await world.connect();
  const before = await world.makePerson(school, null);
  const login = await giveLogin(world.service.db, before);
  const app = await world.make.app();
  await world.make.grant({ app: app.clientId, school: school.school });
  const browser = world.newBrowser();
  const pupil = await makePupil(school);
  // One tab waits at the provider while somebody signs in with a password in another.
  const asked = await world.leave(browser, school);
  await browser.submit(await browser.open("/sign-in?other"), "/sign-in", login);
  const names = () => browser.cookies().filter(({ name }) => name.includes("session"));
  const fixed = names();
  expect(await world.sessionsOf(before)).toBe(1);
  await world.comeBack(browser, school.connectionId, await school.provider.visit(asked));
  expect([await world.sessionsOf(before), await world.sessionsOf(pupil.personId)]).toEqual([0, 1]);
  for (const { name, value } of fixed) expect(names().find((one) => one.name === name)?.value).not.toBe(value);
  const request = askFor(world.service, app);
  const consent = await browser.open(request.address);
  const back = new URL((await browser.submit(consent, "/consent")).url);
  const { body } = await exchange(world.service, app, { browser, asked: request, back });
  expect(decodeJwt(body.id_token!).sub).toBe(pupil.personId);
});

// Attackers who write tokens: at the token endpoint of a provider, and at our logout address.

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

test("algorithm and key confusion: no forged token signs anybody in", async () => {
  const { provider } = school;
  for (const [name, forge] of Object.entries(forgeries)) {
    provider.after = async (path, body) =>
      path === "/token" ? { ...body, id_token: await forge(decodeJwt(String(body["id_token"]))) } : body;
    expect([name, await world.outcome(school, { import_id: "1" }, "victim")]).toEqual([name, "INVALID_RESPONSE"]);
  }
  provider.after = null;
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
