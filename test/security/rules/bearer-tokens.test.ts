import { expect, test } from "vitest";
import { basic } from "../../support/token.ts";
import { peopleRead, schoolsRead, startRuleWorld } from "./world.ts";

const world = startRuleWorld();
const schools = "/idm/ep/v1/schools";

const appToken = async (scope = schoolsRead) =>
  (await world.token({ grant_type: "client_credentials", scope })).body.access_token;
const ask = (headers: Record<string, string>, path = schools) => fetch(world.service.url + path, { headers });
const askWith = (authorization: string, path?: string) => ask({ authorization }, path);
const challengeOf = ({ status, headers }: Response) => [status, headers.get("www-authenticate")];

test("RFC 6750 2.1: a token is taken in the header Authorization", async () => {
  expect((await askWith(`Bearer ${await appToken()}`)).status).toBe(200);
});

test("RFC 6750 2.1: the scheme is read in any letters", async () => {
  const token = await appToken();
  for (const scheme of ["bearer", "BEARER", "bEaReR"]) expect((await askWith(`${scheme} ${token}`)).status).toBe(200);
});

test("RFC 6750 2.1: another scheme is no token", async () => {
  const token = await appToken();
  for (const header of [token, `Token ${token}`, `Basic ${token}`, "Bearer", "Bearer "])
    expect((await askWith(header)).status, header).toBe(401);
});

test("RFC 6750 2.2: a token in a form is not read where there is no form", async () => {
  const body = new URLSearchParams({ access_token: await appToken() });
  const { status } = await fetch(world.service.url + schools, { method: "POST", body });
  expect(status).toBeGreaterThanOrEqual(400);
});

test("RFC 6750 2.3: a token in the address is not taken", async () => {
  expect((await ask({}, `${schools}?access_token=${await appToken()}`)).status).toBe(401);
});

test("RFC 6750 2.3: a token in the address of userinfo is not taken", async () => {
  const { access_token } = await world.tokens();
  expect((await ask({}, `/oauth2/userinfo?access_token=${access_token}`)).status).toBeGreaterThanOrEqual(400);
});

test("RFC 6750 2: a token in two places at once is refused", async () => {
  const { access_token: token } = await world.tokens();
  const response = await fetch(`${world.service.url}/oauth2/userinfo`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: new URLSearchParams({ access_token: token }),
  });
  expect(response.status).toBe(400);
});

test("RFC 6750 3: a request without a token is told the scheme and no error", async () => {
  expect(challengeOf(await ask({}))).toEqual([401, "Bearer"]);
});

test("RFC 6750 3: userinfo answers a request without a token with the scheme", async () => {
  const { status, headers } = await ask({}, "/oauth2/userinfo");
  expect([status >= 400, headers.get("www-authenticate")]).toEqual([true, expect.stringMatching(/^Bearer/)]);
});

test("RFC 6750 3.1: an unknown token is invalid_token with 401", async () => {
  expect(challengeOf(await askWith("Bearer unknown"))).toEqual([401, 'Bearer error="invalid_token"']);
});

test("RFC 6750 3.1: an expired token is invalid_token with 401", async () => {
  const token = await appToken();
  world.service.clock.forwardSeconds(3601);
  expect(challengeOf(await askWith(`Bearer ${token}`))).toEqual([401, 'Bearer error="invalid_token"']);
});

test("RFC 6750 3.1: a revoked token is invalid_token with 401", async () => {
  const token = await appToken();
  const body = new URLSearchParams({ token });
  await fetch(`${world.service.url}/oauth2/revoke`, { method: "POST", headers: basic(world.app), body });
  expect(challengeOf(await askWith(`Bearer ${token}`))).toEqual([401, 'Bearer error="invalid_token"']);
});

test("RFC 6750 3.1: a token without the scope is insufficient_scope with 403, and the scope is named", async () => {
  const token = await appToken(peopleRead);
  expect(challengeOf(await askWith(`Bearer ${token}`))).toEqual([
    403,
    `Bearer error="insufficient_scope", scope="${schoolsRead}"`,
  ]);
});

test("RFC 6750 3.1: a request without a token learns nothing about parameters", async () => {
  const [plain, odd] = [await ask({}), await ask({}, `${schools}?nonsense=1`)];
  expect([plain.status, odd.status]).toEqual([401, 401]);
});

test("RFC 6750 5.2: a token of one app shows nothing of another", async () => {
  const other = await world.make.app();
  const { body } = await world.token({ grant_type: "client_credentials", scope: schoolsRead }, { app: other });
  const response = await world.read(schools, body.access_token);
  expect([response.status, await response.json()]).toEqual([200, []]);
});

test("RFC 6750 5.2: what is protected by a token is for no shared cache", async () => {
  const { headers } = await askWith(`Bearer ${await appToken()}`);
  expect(headers.get("cache-control")).toMatch(/private|no-store/);
});

test("RFC 6750 5.2: userinfo is kept by no cache", async () => {
  const { access_token } = await world.tokens();
  expect((await world.read("/oauth2/userinfo", access_token)).headers.get("cache-control")).toMatch(/no-store|private/);
});

test("RFC 6750 5.3: a token is not part of any answer", async () => {
  const token = await appToken();
  for (const path of [schools, "/idm/ep/v1/nothing", "/idm/ep/v1/schools/x"]) {
    const response = await askWith(`Bearer ${token}`, path);
    expect(`${await response.text()}${JSON.stringify([...response.headers])}`).not.toContain(token);
  }
});

test("RFC 6750 5.3: an altered token is unknown", async () => {
  const token = await appToken();
  const other = token.endsWith("A") ? "B" : "A";
  for (const altered of [token.slice(0, -1) + other, `${token}A`, token.slice(1), token.toLowerCase()])
    expect((await askWith(`Bearer ${altered}`)).status).toBe(401);
});

test("RFC 6750 5.3: an ID token is no access token", async () => {
  const { id_token } = await world.tokens();
  expect((await askWith(`Bearer ${id_token!}`)).status).toBe(401);
});

test("RFC 6750 5.3: a refresh token is no access token", async () => {
  const { refresh_token } = await world.tokens("openid offline_access");
  expect((await world.read("/oauth2/userinfo", refresh_token!)).status).toBe(401);
});
