import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { askFor, basic, signOn } from "../../support/token.ts";
import { discover, startRuleWorld, type Answer, type Params } from "./world.ts";

const world = startRuleWorld();
const withoutChallenge = { code_challenge: null, code_challenge_method: null };
const challengeOf = (verifier: string) => createHash("sha256").update(verifier).digest("base64url");

/** Exchanges a new code, with other fields than the right ones. */
async function exchangeWith(fields: Params, params: Params = {}): Promise<Answer> {
  const authorized = await world.authorize(params);
  return world.token({ ...world.fieldsOf(authorized), ...fields });
}

const refusal = ({ status, body }: Answer) => [status, body.error];
const userinfo = async (token: string) => (await world.read("/oauth2/userinfo", token)).status;

test("RFC 6749 4.1.2: a code expires shortly after it was issued", async () => {
  const authorized = await world.authorize();
  world.service.clock.forwardSeconds(61);
  expect(refusal(await world.token(world.fieldsOf(authorized)))).toEqual([400, "invalid_grant"]);
});

test("RFC 6749 4.1.2: a code is good once", async () => {
  const fields = world.fieldsOf(await world.authorize());
  const [first, again] = [await world.token(fields), await world.token(fields)];
  expect([first.status, refusal(again)]).toEqual([200, [400, "invalid_grant"]]);
});

test("RFC 6749 4.1.2: a code that is used again ends the tokens that it gave", async () => {
  const fields = world.fieldsOf(await world.authorize({}, { scope: "openid offline_access" }));
  const { body } = await world.token(fields);
  expect(await userinfo(body.access_token)).toBe(200);
  await world.token(fields);
  expect(await userinfo(body.access_token)).toBe(401);
  expect(refusal(await world.token({ grant_type: "refresh_token", refresh_token: body.refresh_token! }))).toEqual([
    400,
    "invalid_grant",
  ]);
});

test("RFC 6749 4.1.3: a code of another client is refused", async () => {
  const other = await world.makeApp();
  const authorized = await world.authorize();
  expect(refusal(await world.token(world.fieldsOf(authorized), { app: other }))).toEqual([400, "invalid_grant"]);
});

test("RFC 6749 4.1.3: a client that tries another's code does not spend it", async () => {
  const other = await world.makeApp();
  const fields = world.fieldsOf(await world.authorize());
  await world.token(fields, { app: other });
  expect((await world.token(fields)).status).toBe(200);
});

test("RFC 6749 4.1.3: a code is refused with another redirect URI", async () => {
  expect(refusal(await exchangeWith({ redirect_uri: "http://127.0.0.1:4999/other" }))).toEqual([400, "invalid_grant"]);
});

test("RFC 6749 4.1.3: a code is refused without its redirect URI", async () => {
  const { status, body } = await exchangeWith({ redirect_uri: null });
  expect([status, ["invalid_grant", "invalid_request"].includes(body.error!)]).toEqual([400, true]);
});

test("RFC 6749 4.1.3: a confidential client authenticates to exchange a code", async () => {
  const fields = world.fieldsOf(await world.authorize());
  const { status, body } = await world.token({ ...fields, client_id: world.app.clientId }, { headers: {} });
  expect([status, body.access_token]).toEqual([400, undefined]);
});

test("RFC 6749 4.1.3: a request without a code is an invalid request", async () => {
  expect(refusal(await exchangeWith({ code: null }))).toEqual([400, "invalid_request"]);
});

test("RFC 6749 10.10: a guessed code is an invalid grant", async () => {
  for (const code of ["x", "0".repeat(43), "'; DROP TABLE oidc_artifact; --"])
    expect(refusal(await exchangeWith({ code }))).toEqual([400, "invalid_grant"]);
});

test("RFC 6749 10.5: a code is refused as an access token", async () => {
  const { code } = await world.authorize();
  expect(await userinfo(code!)).toBe(401);
});

test("RFC 7636 4.1: the shortest verifier of 43 characters is taken", async () => {
  const verifier = "a".repeat(43);
  const { status } = await exchangeWith({ code_verifier: verifier }, { code_challenge: challengeOf(verifier) });
  expect(status).toBe(200);
});

test("RFC 7636 4.1: the longest verifier of 128 characters is taken", async () => {
  const verifier = "a-._~9Z".repeat(19).slice(0, 128);
  const { status } = await exchangeWith({ code_verifier: verifier }, { code_challenge: challengeOf(verifier) });
  expect(status).toBe(200);
});

test("RFC 7636 4.1: a verifier of 42 characters is refused", async () => {
  const verifier = "a".repeat(42);
  const answer = await exchangeWith({ code_verifier: verifier }, { code_challenge: challengeOf(verifier) });
  expect([answer.status, answer.body.access_token]).toEqual([400, undefined]);
});

test("RFC 7636 4.1: a verifier of 129 characters is refused", async () => {
  const verifier = "a".repeat(129);
  const answer = await exchangeWith({ code_verifier: verifier }, { code_challenge: challengeOf(verifier) });
  expect([answer.status, answer.body.access_token]).toEqual([400, undefined]);
});

test("RFC 7636 4.1: a verifier with other characters is refused", async () => {
  const verifier = `${"a".repeat(42)}+`;
  const answer = await exchangeWith({ code_verifier: verifier }, { code_challenge: challengeOf(verifier) });
  expect([answer.status, answer.body.access_token]).toEqual([400, undefined]);
});

test("RFC 7636 4.2: a challenge that is no SHA-256 hash is an invalid request", async () => {
  for (const challenge of ["x", "a".repeat(42), "a".repeat(44), `${"a".repeat(42)}=`])
    expect((await world.authorize({ code_challenge: challenge })).error).toBe("invalid_request");
});

test("RFC 7636 4.3: the method plain is refused", async () => {
  expect((await world.authorize({ code_challenge_method: "plain" })).error).toBe("invalid_request");
});

test("RFC 7636 4.3: a challenge without a method, which would mean plain, is refused", async () => {
  expect((await world.authorize({ code_challenge_method: null })).error).toBe("invalid_request");
});

test("RFC 7636 4.3: a method without a challenge is refused", async () => {
  expect((await world.authorize({ code_challenge: null })).error).toBe("invalid_request");
});

test("RFC 7636 4.4.1: a public client without a challenge gets invalid_request", async () => {
  expect((await world.authorize(withoutChallenge, { app: world.spa })).error).toBe("invalid_request");
});

test("RFC 7636 4.4.1: an unknown method gets invalid_request", async () => {
  expect((await world.authorize({ code_challenge_method: "S512" })).error).toBe("invalid_request");
});

test("RFC 7636 4.6: a wrong verifier is an invalid grant", async () => {
  expect(refusal(await exchangeWith({ code_verifier: "b".repeat(43) }))).toEqual([400, "invalid_grant"]);
});

test("RFC 7636 4.6: a missing verifier is refused", async () => {
  const { status, body } = await exchangeWith({ code_verifier: null });
  expect([status, body.access_token]).toEqual([400, undefined]);
});

test("RFC 7636 4.6: the challenge itself is no verifier", async () => {
  const authorized = await world.authorize();
  const fields = { ...world.fieldsOf(authorized), code_verifier: challengeOf(authorized.verifier) };
  expect(refusal(await world.token(fields))).toEqual([400, "invalid_grant"]);
});

test("RFC 7636 4.6: a public client's code needs the verifier alone", async () => {
  const authorized = await world.authorize({}, { app: world.spa });
  expect((await world.token(world.fieldsOf(authorized, world.spa), { app: world.spa })).status).toBe(200);
});

test("RFC 7636 1: a stolen code of a public client is worth nothing without the verifier", async () => {
  const { code } = await world.authorize({}, { app: world.spa });
  const stolen = { ...world.fieldsOf(await world.authorize({}, { app: world.spa }), world.spa), code };
  expect(refusal(await world.token(stolen, { app: world.spa }))).toEqual([400, "invalid_grant"]);
});

test("RFC 9700 2.1.1: a public client must use PKCE", async () => {
  expect((await world.authorize(withoutChallenge, { app: world.spa })).code).toBeNull();
});

test("RFC 9700 2.1.1: a confidential client must use PKCE unless it was registered without", async () => {
  expect((await world.authorize(withoutChallenge)).code).toBeNull();
});

test("RFC 9700 2.1.1: discovery names the methods of PKCE", async () => {
  expect((await discover(world))["code_challenge_methods_supported"]).toEqual(["S256"]);
});

test("RFC 9700 2.1.1: a code belongs to the challenge of its own request", async () => {
  const [victim, attacker] = [await world.authorize(), await world.authorize()];
  const fields = { ...world.fieldsOf(victim), code_verifier: attacker.verifier };
  expect(refusal(await world.token(fields))).toEqual([400, "invalid_grant"]);
});

test("RFC 9700 4.2.4: of twenty exchanges of one code at once one gets tokens", async () => {
  const fields = world.fieldsOf(await world.authorize());
  const answers = await Promise.all(Array.from({ length: 20 }, () => world.token(fields)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

test("RFC 9700 4.5.3: a code injected into another session of the same client is refused", async () => {
  const stolen = await world.authorize();
  const own = await world.authorize();
  const answer = await world.token({ ...world.fieldsOf(own), code: stolen.code });
  expect(refusal(answer)).toEqual([400, "invalid_grant"]);
});

test("RFC 9700 4.8.2: a verifier for a code without a challenge is refused", async () => {
  const lax = await world.makeApp({ pkceRequired: false });
  const { back } = await signOn(world.service, lax, world.login, { browser: world.browser, pkce: false });
  const fields = {
    grant_type: "authorization_code",
    code: back.searchParams.get("code"),
    redirect_uri: lax.redirectUri,
    code_verifier: askFor(world.service, lax).verifier,
  };
  expect(refusal(await world.token(fields, { app: lax }))).toEqual([400, "invalid_grant"]);
});

test("RFC 9700 4.8.2: a client that was registered without PKCE and uses it is held to it", async () => {
  const lax = await world.makeApp({ pkceRequired: false });
  const { back } = await signOn(world.service, lax, world.login, { browser: world.browser });
  const fields = {
    grant_type: "authorization_code",
    code: back.searchParams.get("code"),
    redirect_uri: lax.redirectUri,
  };
  expect((await world.token(fields, { app: lax })).status).toBe(400);
});

test("RFC 8252 8.5: a public app that sends a secret gets nothing", async () => {
  const authorized = await world.authorize({}, { app: world.spa });
  const fields = { ...world.fieldsOf(authorized, world.spa), client_secret: "x" };
  expect((await world.token(fields, { app: world.spa })).body.access_token).toBeUndefined();
});

test("RFC 8252 8.5: nobody gets tokens with the id of a confidential app alone", async () => {
  const authorized = await world.authorize();
  const headers = basic({ ...world.app, clientSecret: "" });
  expect((await world.token(world.fieldsOf(authorized), { headers })).body.access_token).toBeUndefined();
});
