import { expect } from "vitest";
import { basic } from "../../support/token.ts";
import { peopleRead, schoolsRead, startRuleWorld, tryRules, type Answer } from "./world.ts";

const world = startRuleWorld();
const forItself = { grant_type: "client_credentials" };
const refusal = ({ status, body }: Answer) => [status, body.error];

async function post(path: string, body: URLSearchParams, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(world.service.url + path, { method: "POST", headers, body });
}

async function refreshToken(scope = "openid offline_access"): Promise<string> {
  return (await world.tokens(scope)).refresh_token!;
}
const refresh = (token: string, more: Record<string, string> = {}, of: Parameters<typeof world.token>[1] = {}) =>
  world.token({ grant_type: "refresh_token", refresh_token: token, ...more }, of);

tryRules({
  "RFC 6749 2.3: two ways of authentication in one request are refused": async () => {
    const { clientId, clientSecret } = world.app;
    const answer = await world.token({ ...forItself, client_id: clientId, client_secret: clientSecret });
    expect(refusal(answer)).toEqual([400, "invalid_request"]);
  },
  "RFC 6749 2.3.1: a client id in the header and another in the body are refused": async () => {
    const other = await world.makeApp();
    const answer = await world.token({ ...forItself, client_id: other.clientId });
    expect([answer.status, answer.body.access_token]).toEqual([400, undefined]);
  },
  "RFC 6749 2.3.1: credentials in the address are never read": async () => {
    const { clientId, clientSecret } = world.app;
    const query = new URLSearchParams({ client_id: clientId, client_secret: clientSecret!, ...forItself });
    expect((await post(`/oauth2/token?${query.toString()}`, new URLSearchParams(forItself))).status).toBe(400);
  },
  "RFC 6749 2.3.1: a secret is form-urlencoded inside HTTP Basic": async () => {
    const { clientId, clientSecret } = world.app;
    const escaped = [...clientSecret!].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join("");
    const headers = { authorization: `Basic ${Buffer.from(`${clientId}:${escaped}`).toString("base64")}` };
    expect((await world.token(forItself, { headers })).status).toBe(200);
  },
  "RFC 6749 2.3.1: wrong secrets do not tell whether the client exists": async () => {
    const wrong = { ...world.app, clientSecret: "wrong" };
    const nobody = { ...world.app, clientId: "nobody" as typeof world.app.clientId };
    const answers = [await world.token(forItself, { app: wrong }), await world.token(forItself, { app: nobody })];
    expect(answers[0]!.body).toEqual(answers[1]!.body);
  },
  "RFC 6749 3.2: the token endpoint answers POST only": async () => {
    for (const method of ["GET", "PUT", "DELETE", "PATCH"]) {
      const { status } = await fetch(`${world.service.url}/oauth2/token`, { method, headers: basic(world.app) });
      expect([method, status >= 400 && status < 500]).toEqual([method, true]);
    }
  },
  "RFC 6749 3.2: a parameter that nobody knows is ignored": async () =>
    expect((await world.token({ ...forItself, extra: "1" })).status).toBe(200),
  "RFC 6749 3.2: a repeated parameter is refused": async () => {
    const body = new URLSearchParams([
      ["grant_type", "client_credentials"],
      ["grant_type", "client_credentials"],
    ]);
    const response = await post("/oauth2/token", body, basic(world.app));
    expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([400, "invalid_request"]);
  },
  "RFC 6749 3.2: parameters of the address are not read": async () => {
    const response = await post("/oauth2/token?grant_type=client_credentials", new URLSearchParams(), basic(world.app));
    expect(response.status).toBe(400);
  },
  "RFC 6749 3.2.1: a confidential client gets nothing without its secret": async () => {
    const answer = await world.token({ ...forItself, client_id: world.app.clientId }, { headers: {} });
    expect([answer.status, answer.body.access_token]).toEqual([400, undefined]);
  },
  "RFC 6749 3.3: the answer names the scopes that were given": async () => {
    expect((await world.token({ ...forItself, scope: schoolsRead })).body.scope).toBe(schoolsRead);
    expect((await world.tokens("openid profile")).scope.split(" ").sort()).toEqual(["openid", "profile"]);
  },
  "RFC 6749 4.3: the password grant is not offered": async () => {
    const answer = await world.token({ grant_type: "password", ...world.login });
    expect(refusal(answer)).toEqual([400, "unsupported_grant_type"]);
  },
  "RFC 6749 4.4: a public client gets no token for itself": async () =>
    expect(refusal(await world.token(forItself, { app: world.spa }))).toEqual([400, "unauthorized_client"]),
  "RFC 6749 4.4.3: client credentials give no refresh token": async () => {
    const { body } = await world.token(forItself);
    expect([body.refresh_token, body.id_token]).toEqual([undefined, undefined]);
  },
  "RFC 6749 5.1: an answer with tokens is JSON that nobody keeps": async () => {
    const { headers } = await world.token(forItself);
    expect([headers.get("content-type"), headers.get("cache-control")]).toEqual([
      expect.stringMatching(/^application\/json/),
      expect.stringContaining("no-store"),
    ]);
  },
  "RFC 6749 5.1: an answer names type and lifetime of the token": async () =>
    expect((await world.token(forItself)).body).toMatchObject({ token_type: "bearer", expires_in: 3600 }),
  "RFC 6749 5.2: a missing grant type is invalid_request": async () =>
    expect(refusal(await world.token({}))).toEqual([400, "invalid_request"]),
  "RFC 6749 5.2: a wrong secret is invalid_client": async () =>
    expect(refusal(await world.token(forItself, { app: { ...world.app, clientSecret: "wrong" } }))).toEqual([
      400,
      "invalid_client",
    ]),
  "RFC 6749 5.2: an unknown grant type is unsupported_grant_type": async () =>
    expect(refusal(await world.token({ grant_type: "magic" }))).toEqual([400, "unsupported_grant_type"]),
  "RFC 6749 5.2: a scope that the client was not given is invalid_scope": async () => {
    const app = await world.makeApp({ scopes: ["openid", "schools:read"] });
    expect(refusal(await world.token({ ...forItself, scope: peopleRead }, { app }))).toEqual([400, "invalid_scope"]);
  },
  "RFC 6749 5.2: a grant that the client may not use is unauthorized_client": async () => {
    const app = await world.makeApp({ scopes: ["openid"] });
    const answer = await world.token({ grant_type: "refresh_token", refresh_token: "x" }, { app });
    expect(refusal(answer)).toEqual([400, "unauthorized_client"]);
  },
  "RFC 6749 5.2: descriptions of errors hold printable ASCII without quote and backslash": async () => {
    for (const fields of [{ grant_type: 'a"b\\c☃' }, { ...forItself, scope: 'x"\\ä' }, { grant_type: "\u0000" }]) {
      const { body } = await world.token(fields);
      expect(`${body.error ?? ""}${body.error_description ?? ""}`).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    }
  },
  "RFC 6749 5.2: an error is JSON that nobody keeps": async () => {
    const { headers } = await world.token({});
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(headers.get("cache-control")).toContain("no-store");
  },
  "RFC 6749 6: a refresh token gives a new access token": async () => {
    const { status, body } = await refresh(await refreshToken());
    expect([status, (await world.read("/oauth2/userinfo", body.access_token)).status]).toEqual([200, 200]);
  },
  "RFC 6749 6: a refresh token is refused for another client": async () => {
    const other = await world.makeApp();
    expect(refusal(await refresh(await refreshToken(), {}, { app: other }))).toEqual([400, "invalid_grant"]);
  },
  "RFC 6749 6: a refresh token is refused without the client's authentication": async () => {
    const answer = await refresh(await refreshToken(), { client_id: world.app.clientId }, { headers: {} });
    expect([answer.status, answer.body.access_token]).toEqual([400, undefined]);
  },
  "RFC 6749 6: a refresh asks for no scope that was not given": async () => {
    const answer = await refresh(await refreshToken(), { scope: `openid ${peopleRead}` });
    expect(refusal(answer)).toEqual([400, "invalid_scope"]);
  },
  "RFC 6749 6: a refresh may ask for fewer scopes": async () => {
    const { status, body } = await refresh(await refreshToken("openid profile offline_access"), { scope: "openid" });
    expect([status, body.scope]).toEqual([200, "openid"]);
  },
  "RFC 6749 10.4: a guessed refresh token is an invalid grant": async () =>
    expect(refusal(await refresh("a".repeat(43)))).toEqual([400, "invalid_grant"]),
  "RFC 6749 10.3: tokens are long and never the same": async () => {
    const tokens = await Promise.all(
      Array.from({ length: 5 }, async () => (await world.token(forItself)).body.access_token),
    );
    expect(new Set(tokens).size).toBe(5);
    for (const token of tokens) expect(token).toMatch(/^[\w-]{43,}$/);
  },
  "RFC 6749 10.4: an access token is refused as a refresh token": async () =>
    expect(refusal(await refresh((await world.tokens()).access_token))).toEqual([400, "invalid_grant"]),
  "RFC 9700 2.2.2: a refresh token of a public client is replaced when it is used": async () => {
    const { refresh_token: first } = await world.tokens("openid offline_access", { app: world.spa });
    const { body } = await refresh(first!, {}, { app: world.spa });
    expect(body.refresh_token).toMatch(/^[\w-]{43,}$/);
    expect(body.refresh_token).not.toBe(first);
  },
  "RFC 9700 2.2.2: a refresh token that was replaced ends its whole family when it comes again": async () => {
    const { refresh_token: first } = await world.tokens("openid offline_access", { app: world.spa });
    const { body } = await refresh(first!, {}, { app: world.spa });
    world.service.clock.forwardSeconds(11);
    expect(refusal(await refresh(first!, {}, { app: world.spa }))).toEqual([400, "invalid_grant"]);
    expect(refusal(await refresh(body.refresh_token!, {}, { app: world.spa }))).toEqual([400, "invalid_grant"]);
    expect((await world.read("/oauth2/userinfo", body.access_token)).status).toBe(401);
  },
  "RFC 9700 2.3: a token is good for what it was given for, and nothing else": async () => {
    const { body } = await world.token({ ...forItself, scope: schoolsRead });
    const school = `/idm/ep/v1/schools/${world.school}`;
    expect([
      (await world.read("/idm/ep/v1/schools", body.access_token)).status,
      (await world.read(`${school}/people`, body.access_token)).status,
      (await world.read("/admin/v1/schools", body.access_token)).status,
    ]).toEqual([200, 403, 403]);
  },
  "RFC 9700 4.14.2: a refresh token ends with its time": async () => {
    const token = await refreshToken();
    world.service.clock.forwardSeconds(31 * 86_400);
    expect(refusal(await refresh(token))).toEqual([400, "invalid_grant"]);
    world.service.clock.forwardSeconds(-31 * 86_400);
  },
  "RFC 9700 4.14.2: a refresh token ends when it is revoked": async () => {
    const { body } = await refresh(await refreshToken());
    const response = await post(
      "/oauth2/revoke",
      new URLSearchParams({ token: body.refresh_token! }),
      basic(world.app),
    );
    expect([response.status, refusal(await refresh(body.refresh_token!))]).toEqual([200, [400, "invalid_grant"]]);
  },
  "RFC 9700 4.15: a client's own token is never taken for a person's": async () => {
    const { body } = await world.token(forItself);
    expect((await world.read("/oauth2/userinfo", body.access_token)).status).toBeGreaterThanOrEqual(400);
    expect((await world.read("/idm/schulconnex/v1/person-info", body.access_token)).status).toBe(401);
  },
  "RFC 9700 4.15: a client whose id is that of a person gets no token of the person": async () => {
    const app = await world.makeApp({ clientId: world.pupil as never });
    const { body } = await world.token(forItself, { app });
    const asked = await post("/oauth2/introspect", new URLSearchParams({ token: body.access_token }), basic(app));
    expect(await asked.json()).not.toHaveProperty("sub");
    expect((await world.read("/idm/schulconnex/v1/person-info", body.access_token)).status).toBe(401);
  },
});

const schools = "/idm/ep/v1/schools";

const appToken = async (scope = schoolsRead) =>
  (await world.token({ grant_type: "client_credentials", scope })).body.access_token;
const ask = (headers: Record<string, string>, path = schools) => fetch(world.service.url + path, { headers });
const askWith = (authorization: string, path?: string) => ask({ authorization }, path);
const challengeOf = ({ status, headers }: Response) => [status, headers.get("www-authenticate")];

tryRules({
  "RFC 6750 2.1: a token is taken in the header Authorization": async () =>
    expect((await askWith(`Bearer ${await appToken()}`)).status).toBe(200),
  "RFC 6750 2.1: the scheme is read in any letters": async () => {
    const token = await appToken();
    for (const scheme of ["bearer", "BEARER", "bEaReR"]) expect((await askWith(`${scheme} ${token}`)).status).toBe(200);
  },
  "RFC 6750 2.1: another scheme is no token": async () => {
    const token = await appToken();
    for (const header of [token, `Token ${token}`, `Basic ${token}`, "Bearer", "Bearer "])
      expect((await askWith(header)).status, header).toBe(401);
  },
  "RFC 6750 2.2: a token in a form is not read where there is no form": async () => {
    const body = new URLSearchParams({ access_token: await appToken() });
    const { status } = await fetch(world.service.url + schools, { method: "POST", body });
    expect(status).toBeGreaterThanOrEqual(400);
  },
  "RFC 6750 2.3: a token in the address is not taken": async () =>
    expect((await ask({}, `${schools}?access_token=${await appToken()}`)).status).toBe(401),
  "RFC 6750 2.3: a token in the address of userinfo is not taken": async () => {
    const { access_token } = await world.tokens();
    expect((await ask({}, `/oauth2/userinfo?access_token=${access_token}`)).status).toBeGreaterThanOrEqual(400);
  },
  "RFC 6750 2: a token in two places at once is refused": async () => {
    const { access_token: token } = await world.tokens();
    const response = await fetch(`${world.service.url}/oauth2/userinfo`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: new URLSearchParams({ access_token: token }),
    });
    expect(response.status).toBe(400);
  },
  "RFC 6750 3: a request without a token is told the scheme and no error": async () =>
    expect(challengeOf(await ask({}))).toEqual([401, "Bearer"]),
  "RFC 6750 3: userinfo answers a request without a token with the scheme": async () => {
    const { status, headers } = await ask({}, "/oauth2/userinfo");
    expect([status >= 400, headers.get("www-authenticate")]).toEqual([true, expect.stringMatching(/^Bearer/)]);
  },
  "RFC 6750 3.1: an unknown token is invalid_token with 401": async () =>
    expect(challengeOf(await askWith("Bearer unknown"))).toEqual([401, 'Bearer error="invalid_token"']),
  "RFC 6750 3.1: an expired token is invalid_token with 401": async () => {
    const token = await appToken();
    world.service.clock.forwardSeconds(3601);
    expect(challengeOf(await askWith(`Bearer ${token}`))).toEqual([401, 'Bearer error="invalid_token"']);
  },
  "RFC 6750 3.1: a revoked token is invalid_token with 401": async () => {
    const token = await appToken();
    const body = new URLSearchParams({ token });
    await fetch(`${world.service.url}/oauth2/revoke`, { method: "POST", headers: basic(world.app), body });
    expect(challengeOf(await askWith(`Bearer ${token}`))).toEqual([401, 'Bearer error="invalid_token"']);
  },
  "RFC 6750 3.1: a token without the scope is insufficient_scope with 403, and the scope is named": async () => {
    const token = await appToken(peopleRead);
    expect(challengeOf(await askWith(`Bearer ${token}`))).toEqual([
      403,
      `Bearer error="insufficient_scope", scope="${schoolsRead}"`,
    ]);
  },
  "RFC 6750 3.1: a request without a token learns nothing about parameters": async () => {
    const [plain, odd] = [await ask({}), await ask({}, `${schools}?nonsense=1`)];
    expect([plain.status, odd.status]).toEqual([401, 401]);
  },
  "RFC 6750 5.2: a token of one app shows nothing of another": async () => {
    const other = await world.make.app();
    const { body } = await world.token({ grant_type: "client_credentials", scope: schoolsRead }, { app: other });
    const response = await world.read(schools, body.access_token);
    expect([response.status, await response.json()]).toEqual([200, []]);
  },
  "RFC 6750 5.2: what is protected by a token is for no shared cache": async () => {
    const { headers } = await askWith(`Bearer ${await appToken()}`);
    expect(headers.get("cache-control")).toMatch(/private|no-store/);
  },
  "RFC 6750 5.2: userinfo is kept by no cache": async () => {
    const { access_token } = await world.tokens();
    expect((await world.read("/oauth2/userinfo", access_token)).headers.get("cache-control")).toMatch(
      /no-store|private/,
    );
  },
  "RFC 6750 5.3: a token is not part of any answer": async () => {
    const token = await appToken();
    for (const path of [schools, "/idm/ep/v1/nothing", "/idm/ep/v1/schools/x"]) {
      const response = await askWith(`Bearer ${token}`, path);
      expect(`${await response.text()}${JSON.stringify([...response.headers])}`).not.toContain(token);
    }
  },
  "RFC 6750 5.3: an altered token is unknown": async () => {
    const token = await appToken();
    const other = token.endsWith("A") ? "B" : "A";
    for (const altered of [token.slice(0, -1) + other, `${token}A`, token.slice(1), token.toLowerCase()])
      expect((await askWith(`Bearer ${altered}`)).status).toBe(401);
  },
  "RFC 6750 5.3: an ID token is no access token": async () => {
    const { id_token } = await world.tokens();
    expect((await askWith(`Bearer ${id_token!}`)).status).toBe(401);
  },
  "RFC 6750 5.3: a refresh token is no access token": async () => {
    const { refresh_token } = await world.tokens("openid offline_access");
    expect((await world.read("/oauth2/userinfo", refresh_token!)).status).toBe(401);
  },
});
