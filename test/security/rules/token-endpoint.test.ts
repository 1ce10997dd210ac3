import { expect } from "vitest";
import { basic } from "../../support/token.ts";
import { peopleRead, refusalOf, schoolsRead, startRuleWorld, tryFaults, tryRules, type Params } from "./world.ts";

const world = startRuleWorld();
const forItself = { grant_type: "client_credentials" };

const post = (path: string, body: URLSearchParams, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(world.service.url + path, { method: "POST", headers, body });

const refreshToken = async () => (await world.tokens("openid offline_access")).refresh_token!;
const refresh = (token: string, more: Params = {}, of: Parameters<typeof world.token>[1] = {}) =>
  world.token({ grant_type: "refresh_token", refresh_token: token, ...more }, of);

tryFaults({
  invalid_request: {
    "RFC 6749 2.3: two ways of authentication": () =>
      world.token({ ...forItself, client_id: world.app.clientId, client_secret: world.app.clientSecret }),
    "RFC 6749 2.3.1: another client id in the body than in the header": () =>
      world.token({ ...forItself, client_id: world.spa.clientId }),
    "RFC 6749 5.2: no grant type": () => world.token({}),
  },
  invalid_client: {
    "RFC 6749 6: a refresh without authentication": async () =>
      refresh(await refreshToken(), { client_id: world.app.clientId }, { headers: {} }),
  },
  unsupported_grant_type: {
    "RFC 6749 4.3: the password grant": () => world.token({ grant_type: "password", ...world.login }),
    "RFC 6749 5.2: an unknown grant type": () => world.token({ grant_type: 'a"b\\c☃' }),
  },
  invalid_scope: {
    "RFC 6749 6: a refresh with a scope that was not given": async () =>
      refresh(await refreshToken(), { scope: `openid ${peopleRead}` }),
    "RFC 6749 5.2: a scope that cannot be in a description": () => world.token({ ...forItself, scope: 'x"\\ä' }),
  },
  invalid_grant: {
    "RFC 6749 10.4: a guessed refresh token": () => refresh("a".repeat(43)),
    "RFC 6749 10.4: an access token as a refresh token": async () => refresh((await world.tokens()).access_token),
    "RFC 9700 4.14.2: a refresh token whose time is over": async () => {
      const token = await refreshToken();
      world.service.clock.forwardSeconds(31 * 86_400);
      const answer = await refresh(token);
      world.service.clock.forwardSeconds(-31 * 86_400);
      return answer;
    },
    "RFC 9700 4.14.2: a refresh token that was revoked": async () => {
      const token = await refreshToken();
      const revoked = await post("/oauth2/revoke", new URLSearchParams({ token }), basic(world.app));
      expect(revoked.status).toBe(200);
      return refresh(token);
    },
  },
});

tryRules({
  "RFC 6749 5.2: what there is instead is said": async () => {
    const { body } = await world.token({ grant_type: "password", ...world.login });
    expect(body.error_description).toBe("grant_type is one of authorization_code, refresh_token, client_credentials");
    const { to } = await world.authorize({ response_type: "token" });
    expect(to!.searchParams.get("error_description")).toBe("response_type must be code");
    expect(await (await world.read("/oauth2/userinfo", "x")).json()).toMatchObject({
      error_description: "the access token is unknown, has expired or was revoked",
    });
  },
  "RFC 9110 11.4: several spaces after the scheme": async () => {
    const { authorization } = basic(world.app);
    const headers = { authorization: authorization!.replace(" ", "   ") };
    expect(refusalOf(await world.token(forItself, { headers }))).toEqual([200, undefined]);
  },
  "RFC 6749 3.2: a parameter that nobody described, such as a resource, is ignored": async () => {
    const more = { resource: "https://graph.example", audience: "x", authorization_details: "[]" };
    expect(refusalOf(await world.token({ ...forItself, ...more }))).toEqual([200, undefined]);
    expect(refusalOf(await refresh(await refreshToken(), more))).toEqual([200, undefined]);
    const code = world.fieldsOf(await world.authorize({}));
    expect(refusalOf(await world.token({ ...code, ...more }))).toEqual([200, undefined]);
  },
  "RFC 6749 2.3.1 and 3.2: nothing is read from the address, neither credentials nor parameters": async () => {
    const { clientId, clientSecret } = world.app;
    const query = new URLSearchParams({ client_id: clientId, client_secret: clientSecret!, ...forItself });
    expect((await post(`/oauth2/token?${query.toString()}`, new URLSearchParams(forItself))).status).toBe(400);
    const grant = await post("/oauth2/token?grant_type=client_credentials", new URLSearchParams(), basic(world.app));
    expect(grant.status).toBe(400);
  },
  "RFC 6749 2.3.1: a secret is form-urlencoded inside HTTP Basic; 3.2: an unknown parameter is ignored": async () => {
    const { clientId, clientSecret } = world.app;
    const escaped = [...clientSecret!].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join("");
    const headers = { authorization: `Basic ${Buffer.from(`${clientId}:${escaped}`).toString("base64")}` };
    expect((await world.token({ ...forItself, extra: "1" }, { headers })).status).toBe(200);
  },
  "RFC 9700 2.2.2: a refresh token of a public client is replaced, and ends its family when it comes again":
    async () => {
      const { refresh_token: first } = await world.tokens("openid offline_access", { app: world.spa });
      const { body } = await refresh(first!, {}, { app: world.spa });
      expect(body.refresh_token).not.toBe(first);
      world.service.clock.forwardSeconds(11);
      for (const token of [first!, body.refresh_token!])
        expect(refusalOf(await refresh(token, {}, { app: world.spa }))).toEqual([400, "invalid_grant"]);
      expect((await world.read("/oauth2/userinfo", body.access_token)).status).toBe(401);
    },
  "RFC 9700 2.3: a token is good for what it was given for, and nothing else": async () => {
    const { body } = await world.token({ ...forItself, scope: schoolsRead });
    const paths = [schools, `${schools}/${world.school}/people`, "/admin/v1/schools"];
    const statuses = paths.map(async (path) => (await world.read(path, body.access_token)).status);
    expect(await Promise.all(statuses)).toEqual([200, 403, 403]);
  },
  "RFC 9700 4.15: a client's own token is never a person's, also if the client has the id of one": async () => {
    const app = await world.makeApp({ clientId: world.pupil as never });
    for (const client of [world.app, app]) {
      const { body } = await world.token(forItself, { app: client });
      const asked = await post("/oauth2/introspect", new URLSearchParams({ token: body.access_token }), basic(client));
      expect(await asked.json()).not.toHaveProperty("sub");
      expect((await world.read("/idm/schulconnex/v1/person-info", body.access_token)).status).toBe(401);
      expect((await world.read("/oauth2/userinfo", body.access_token)).status).toBeGreaterThanOrEqual(400);
    }
  },
});

const schools = "/idm/ep/v1/schools";

const appToken = async (scope = schoolsRead) => (await world.token({ ...forItself, scope })).body.access_token;
const ask = (headers: Record<string, string>, path = schools) => fetch(world.service.url + path, { headers });
const askWith = (authorization: string, path?: string) => ask({ authorization }, path);
const challengeOf = ({ status, headers }: Response) => [status, headers.get("www-authenticate")];
const invalidToken = [401, 'Bearer error="invalid_token"'];

tryRules({
  "RFC 6750 2.1: the scheme is read in any letters, and another one is no token": async () => {
    const token = await appToken();
    for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR"])
      expect((await askWith(`${scheme} ${token}`)).status).toBe(200);
    for (const header of [`Token ${token}`, `Basic ${token}`, "Bearer", "Bearer "])
      expect((await askWith(header)).status, header).toBe(401);
  },
  "RFC 6750 2: a token in the address of userinfo, or in two places at once, is not taken": async () => {
    const { access_token: token } = await world.tokens();
    expect((await ask({}, `/oauth2/userinfo?access_token=${token}`)).status).toBeGreaterThanOrEqual(400);
    const headers = { authorization: `Bearer ${token}` };
    expect((await post("/oauth2/userinfo", new URLSearchParams({ access_token: token }), headers)).status).toBe(400);
  },
  "RFC 6750 3: a request without a token is told the scheme and no error, also if it is wrong in other ways":
    async () => {
      for (const path of [schools, `${schools}?nonsense=1`])
        expect(challengeOf(await ask({}, path)), path).toEqual([401, "Bearer"]);
      expect(challengeOf(await ask({}, "/oauth2/userinfo"))[1]).toMatch(/^Bearer/);
    },
  "RFC 6750 3.1: a token that is unknown, revoked or expired is invalid_token with 401": async () => {
    const [revoked, token] = [await appToken(), await appToken()];
    await post("/oauth2/revoke", new URLSearchParams({ token: revoked }), basic(world.app));
    for (const one of ["unknown", revoked]) expect(challengeOf(await askWith(`Bearer ${one}`))).toEqual(invalidToken);
    expect(challengeOf(await askWith("Bearer unknown", "/oauth2/userinfo"))).toEqual([
      401,
      expect.stringContaining('error="invalid_token"'),
    ]);
    world.service.clock.forwardSeconds(3601);
    expect(challengeOf(await askWith(`Bearer ${token}`))).toEqual(invalidToken);
  },
  "RFC 6750 3.1: a token without the scope is insufficient_scope with 403, and the scope is named": async () =>
    expect(challengeOf(await askWith(`Bearer ${await appToken(peopleRead)}`))).toEqual([
      403,
      `Bearer error="insufficient_scope", scope="${schoolsRead}"`,
    ]),
  "RFC 6750 5.2: a token of one app shows nothing of another": async () => {
    const { body } = await world.token({ ...forItself, scope: schoolsRead }, { app: await world.make.app() });
    const response = await world.read(schools, body.access_token);
    expect([response.status, await response.json()]).toEqual([200, []]);
  },
  "RFC 6750 5.2: what is protected by a token is for no shared cache": async () => {
    const answers = [await askWith(`Bearer ${await appToken()}`)];
    answers.push(await world.read("/oauth2/userinfo", (await world.tokens()).access_token));
    for (const { headers } of answers) expect(headers.get("cache-control")).toMatch(/private|no-store/);
  },
  "RFC 6750 5.3: a token is not part of any answer": async () => {
    const token = await appToken();
    for (const path of [schools, "/idm/ep/v1/nothing", "/idm/ep/v1/schools/x"]) {
      const response = await askWith(`Bearer ${token}`, path);
      expect(`${await response.text()}${JSON.stringify([...response.headers])}`).not.toContain(token);
    }
  },
  "RFC 6750 5.3: an altered token is unknown, and so are an ID token and a refresh token": async () => {
    const token = await appToken();
    const { id_token, refresh_token } = await world.tokens("openid offline_access");
    const altered = [token.slice(0, -1) + (token.endsWith("A") ? "B" : "A"), `${token}A`, token.slice(1)];
    for (const one of [...altered, token.toLowerCase(), id_token!, refresh_token!])
      expect((await askWith(`Bearer ${one}`)).status).toBe(401);
    expect((await world.read("/oauth2/userinfo", refresh_token!)).status).toBe(401);
  },
});
