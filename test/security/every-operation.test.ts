import { afterAll, describe, expect, test } from "vitest";
import { admin } from "../support/admin.ts";
import { demoApp, demoLogin, idmScopes, startDemo } from "../support/api.ts";
import { basic, getAppToken, getUserTokens } from "../support/token.ts";
import { documentNames, listPlaces, type Place } from "./requests/operations.ts";

// The OWASP API Security Top 10 of 2023, tried on every operation of every contract: a new operation is in the list by
// itself.
const places = await listPlaces();
const service = await startDemo();
const lernapp = demoApp("demo-lernapp");
const tokens = {
  app: await getAppToken(service, lernapp, idmScopes),
  user: (await getUserTokens(service, lernapp, demoLogin(2), { scopes: ["openid", ...idmScopes] })).access_token,
  // An app that no school gave anything.
  none: await getAppToken(service, demoApp("demo-lernapp"), []),
};

const tried = new Set<string>();
afterAll(() => expect([...tried].sort()).toEqual(places.map(nameOf).sort()));

const nameOf = ({ document, id }: Place) => `${document} ${id}`;
const isOffered = ({ statuses }: Place) => !statuses.includes(501);
/** Where a bearer token is asked for, other than by the endpoints of sign-on themselves. */
const takesToken = (place: Place) => place.isProtected && place.document !== "sign-on" && isOffered(place);
const isOfClient = ({ document, id }: Place) => document === "sign-on" && /Token$/.test(id);

type Sent = { method?: string; headers?: Record<string, string>; body?: string | Buffer | null; query?: string };

async function send(place: Place, { method = place.method, headers = {}, body, query = "" }: Sent = {}) {
  const text = body === undefined ? (place.body?.text ?? null) : body;
  const response = await fetch(`${service.url}${place.path}${query}`, {
    method,
    redirect: "manual",
    headers: { ...(text !== null && place.body !== null && { "content-type": place.body.type }), ...headers },
    ...(text !== null && method !== "GET" && method !== "HEAD" && { body: text as string }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const fitting = (place: Place): Record<string, string> =>
  isOfClient(place)
    ? basic(lernapp)
    : bearer(place.isOfUser || place.document === "sign-on" ? tokens.user : tokens.app);

test("each document has operations, and no operation is in none of the groups", () => {
  expect(new Set(places.map(({ document }) => document))).toEqual(new Set(documentNames));
  expect(places.filter(takesToken).length).toBeGreaterThan(100);
});

describe.each(places.map((place) => ({ ...place, name: nameOf(place) })))("$name", (place) => {
  tried.add(place.name);

  test("API2 and API5: without its token, with a wrong one and with another's, it does nothing", async () => {
    if (!takesToken(place)) {
      // Whoever needs no token gets no failure for bringing one.
      expect((await send(place, { headers: bearer("unknown") })).status).not.toBe(500);
      return;
    }
    const wrong = [{}, bearer("unknown"), bearer(""), basic(lernapp), { authorization: tokens.app }];
    for (const headers of wrong) expect((await send(place, { headers })).status).toBe(401);
    // A token without the scope, and one of the other kind.
    const other = place.isOfUser ? tokens.app : tokens.none;
    expect([401, 403]).toContain((await send(place, { headers: bearer(other) })).status);
    expect((await send(place, { query: `?access_token=${tokens.app}` })).status).toBe(401);
  });

  test("API3, API4 and API8: what is too much, of another type or by another method is refused, with no failure", async () => {
    const headers = fitting(place);
    const isSafe = (status: number) => status < 500 || (status === 501 && !isOffered(place));
    const answers = {
      method: await send(place, { method: "PROPFIND", headers, body: null }),
      query: await send(place, { headers, query: `?${"x=1&".repeat(300)}` }),
      long: await send(place, { headers, query: `?x=${"a".repeat(6000)}` }),
      ...(place.body !== null && {
        extra: await send(place, { headers, body: `{"isOperator":true,"__proto__":{"a":1},"schoolId":"x"}` }),
        type: await send(place, { headers: { ...headers, "content-type": "text/xml" }, body: "<x/>" }),
        broken: await send(place, { headers, body: '{"a":' }),
        huge: await send(place, { headers, body: Buffer.alloc(1_500_000, "a") }),
      }),
    };
    for (const [what, { status, text }] of Object.entries(answers)) {
      expect([what, status, isSafe(status)]).toEqual([what, status, true]);
      expect(text).not.toMatch(/\bat .{1,200}\.(ts|js):\d+|node_modules|SELECT .* FROM/);
    }
    if (takesToken(place)) expect(answers.method.status).toBeGreaterThanOrEqual(400);
    if ("huge" in answers && place.document === "admin") expect(answers.huge!.status).toBeGreaterThanOrEqual(400);
  });
});

const namesThing = places.filter(
  (place) => takesToken(place) && place.document !== "admin" && /0{4}-4000-8000/.test(place.path),
);
const foreign: Record<string, string> = { a: "2", b: "6", c: "9" };

test.each(namesThing.map((place) => ({ ...place, name: nameOf(place) })))(
  "API1: $name hides what belongs to a school that does not share it",
  async (place) => {
    const path = place.path.replace(
      /([abc])(0{7}-0000-4000-8000-0{11})\d/,
      (_all, kind: string, middle: string) => `${kind}${middle}${foreign[kind]!}`,
    );
    expect(path).not.toBe(place.path);
    const { status } = await send({ ...place, path }, { headers: fitting(place) });
    expect([403, 404]).toContain(status);
  },
);

test("API1: no operation of the staff answers an app without a role, whatever it names", async () => {
  const outcomes = new Set<number>();
  for (const place of places.filter(({ document }) => document === "admin"))
    outcomes.add((await send(place, { headers: bearer(tokens.app) })).status);
  expect([...outcomes]).toEqual([403]);
  expect(admin).toBe("/admin/v1");
});

test("API6: guessing passwords is slowed down", async () => {
  const page = await fetch(`${service.url}/sign-in`);
  const cookie = page.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
  const csrf = /name="csrf"[^>]*value="([^"]+)"|value="([^"]+)"[^>]*name="csrf"/.exec(await page.text())!;
  const statuses = [];
  for (let tries = 0; tries < 12; tries++) {
    const body = new URLSearchParams({ username: "student.goethe", password: `x${tries}`, csrf: csrf[1] ?? csrf[2]! });
    const answer = await fetch(`${service.url}/sign-in`, {
      method: "POST",
      headers: { cookie },
      body,
      redirect: "manual",
    });
    statuses.push(answer.status);
  }
  expect(statuses).toContain(429);
});

test("API7: the service fetches no address that a request names", async () => {
  for (const address of ["http://127.0.0.1:1/", "http://169.254.169.254/latest", "http://[::1]:1/"]) {
    const query = new URLSearchParams({
      client_id: lernapp.clientId,
      request_uri: address,
      sector_identifier_uri: address,
    });
    const { status } = await fetch(`${service.url}/oauth2/auth?${query.toString()}`, { redirect: "manual" });
    expect(status).toBeLessThan(500);
  }
});

test("API9: no other version and no hidden path of an API answers", async () => {
  for (const path of [
    "/idm/ep/v0/schools",
    "/idm/ep/v2/schools",
    "/admin/v2/schools",
    "/admin/v0/me",
    "/idm/ep/schools",
  ])
    expect((await fetch(service.url + path, { headers: bearer(tokens.app) })).status).toBeGreaterThanOrEqual(400);
});
