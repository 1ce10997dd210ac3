import { expect, test } from "vitest";
import { demoApp, demoLogin, idmScopes, startDemo } from "../support/api.ts";
import { makeBrowser } from "../support/browser.ts";
import { inBatches } from "../support/in-batches.ts";
import { basic, getAppToken, getUserTokens } from "../support/token.ts";
import { documentNames, listPlaces, type Place } from "./requests/operations.ts";

// The OWASP API Security Top 10 of 2023, tried on every operation of every contract: a new operation is in the list by
// itself. A table has the answers that are wrong.
const places = await listPlaces();
const service = await startDemo();
const lernapp = demoApp("demo-lernapp");
const tokens = {
  app: await getAppToken(service, lernapp, idmScopes),
  user: (await getUserTokens(service, lernapp, demoLogin(2), { scopes: ["openid", ...idmScopes] })).access_token,
  noScopes: await getAppToken(service, lernapp, []),
};

const isOffered = ({ statuses }: Place) => !statuses.includes(501);
/** Where a bearer token is asked for, other than by the endpoints of sign-on themselves. */
const takesToken = (place: Place) => place.isProtected && place.document !== "sign-on" && isOffered(place);
const isOfClient = ({ document, id }: Place) => document === "sign-on" && /Token$/.test(id);

type Sent = { method?: string; headers?: Record<string, string>; body?: string | Buffer | null; query?: string };
type Answer = { status: number; text: string };

async function send(place: Place, { method = place.method, headers = {}, body, query = "" }: Sent): Promise<Answer> {
  const given = body === undefined ? (place.body?.text ?? null) : body;
  const response = await fetch(`${service.url}${place.path}${query}`, {
    method,
    redirect: "manual",
    headers: { ...(given !== null && place.body !== null && { "content-type": place.body.type }), ...headers },
    ...(given !== null && method !== "GET" && method !== "HEAD" && { body: given as string }),
  });
  return { status: response.status, text: await response.text() };
}

type Attempt = Sent & { isRight: (answer: Answer) => boolean };

/** Sends each operation what is to be tried on it; returns what was not answered as it must be. */
async function findWrong(tried: readonly Place[], attemptsOn: (place: Place) => Record<string, Attempt>) {
  const attempts = tried.flatMap((place) =>
    Object.entries(attemptsOn(place)).map(([what, attempt]) => ({ place, what, attempt })),
  );
  const answers = await inBatches(attempts, ({ place, attempt }) => send(place, attempt));
  return attempts.flatMap(({ place, what, attempt }, n) => {
    const { status, text } = answers[n]!;
    return attempt.isRight(answers[n]!) ? [] : [[place.document, place.id, what, status, text.slice(0, 200)]];
  });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const fitting = (place: Place): Record<string, string> =>
  isOfClient(place)
    ? basic(lernapp)
    : bearer(place.isOfUser || place.document === "sign-on" ? tokens.user : tokens.app);
const isOneOf =
  (...statuses: number[]) =>
  ({ status }: Answer) =>
    statuses.includes(status);

test("each document has operations, and most ask for a token", () => {
  expect(new Set(places.map(({ document }) => document))).toEqual(new Set(documentNames));
  expect(places.filter(takesToken).length).toBeGreaterThan(100);
});

const groups: [string, Place[]][] = [
  ["of apps and people", places.filter(({ document }) => document !== "admin")],
  ["that staff read with", places.filter(({ document, method }) => document === "admin" && method === "GET")],
  ["that staff change with", places.filter(({ document, method }) => document === "admin" && method !== "GET")],
];

test.each(groups)("API2 and API5: no operation %s does anything with no token or another's", async (_name, group) => {
  const malformed: Sent[] = [
    ...[bearer(""), basic(lernapp), { authorization: tokens.app }].map((headers) => ({ headers })),
    { query: `?access_token=${tokens.app}` },
  ];
  const wrong = await findWrong(group, (place) => {
    const unknown = { headers: bearer("unknown") };
    // Who needs no token gets no failure for bringing one.
    if (!takesToken(place)) return { unneeded: { ...unknown, isRight: ({ status }) => status !== 500 } };
    const isRight = isOneOf(401);
    return {
      none: { isRight },
      unknown: { ...unknown, isRight },
      malformed: { ...malformed[group.indexOf(place) % malformed.length], isRight },
      // A token of the other kind, or without the scope.
      other: { headers: bearer(place.isOfUser ? tokens.app : tokens.noScopes), isRight: isOneOf(401, 403) },
    };
  });
  expect(wrong).toEqual([]);
});

test.each(groups)(
  "API3, API4 and API8: no operation %s fails on what is too much or of another type",
  async (_name, group) => {
    const inside = /\bat .{1,200}\.(ts|js):\d+|node_modules|SELECT .* FROM/;
    const huge = Buffer.alloc(400_000, "a");
    const wrong = await findWrong(group, (place) => {
      const headers = fitting(place);
      const isSafe = ({ status, text }: Answer) =>
        (status < 500 || (status === 501 && !isOffered(place))) && !inside.test(text);
      const isRefused = (answer: Answer) => isSafe(answer) && answer.status >= 400;
      return {
        method: { method: "PROPFIND", headers, body: null, isRight: takesToken(place) ? isRefused : isSafe },
        query: { headers, query: `?${"x=1&".repeat(300)}x=${"a".repeat(5000)}`, isRight: isSafe },
        ...(place.body !== null && {
          extra: { headers, body: `{"isOperator":true,"__proto__":{"a":1},"schoolId":"x"}`, isRight: isSafe },
          type: { headers: { ...headers, "content-type": "text/xml" }, body: "<x/>", isRight: isSafe },
          broken: { headers, body: '{"a":', isRight: isSafe },
          huge: { headers, body: huge, isRight: place.document === "admin" ? isRefused : isSafe },
        }),
      };
    });
    expect(wrong).toEqual([]);
  },
);

test("API1: an app is told nothing of what belongs to a school that does not share it", async () => {
  const foreign: Record<string, string> = { a: "2", b: "6", c: "9" };
  const named = /([abc])(0{7}-0000-4000-8000-0{11})\d/;
  const theirs = places.filter((place) => takesToken(place) && place.document !== "admin" && named.test(place.path));
  expect(theirs.length).toBeGreaterThan(5);
  const hidden = theirs.map((place) => ({
    ...place,
    path: place.path.replace(named, (_all, kind: string, middle: string) => `${kind}${middle}${foreign[kind]!}`),
  }));
  const attempt = (place: Place) => ({ foreign: { headers: fitting(place), isRight: isOneOf(403, 404) } });
  expect(await findWrong(hidden, attempt)).toEqual([]);
});

test("API1: no operation of the staff answers an app without a role, whatever it names", async () => {
  const ofStaff = places.filter(({ document }) => document === "admin");
  const attempt = { headers: bearer(tokens.app), isRight: isOneOf(403) };
  expect(await findWrong(ofStaff, () => ({ attempt }))).toEqual([]);
});

test("API6: guessing passwords is slowed down", async () => {
  const browser = makeBrowser(service.url);
  const statuses = [];
  for (let tries = 0; tries < 12; tries++) {
    const guess = { username: "student.goethe", password: `x${tries}` };
    statuses.push((await browser.submit(await browser.open("/sign-in"), "/sign-in", guess)).status);
  }
  expect(statuses).toContain(429);
});

test("API7: the service fetches no address that a request names", async () => {
  for (const address of ["http://127.0.0.1:1/", "http://169.254.169.254/latest", "http://[::1]:1/"]) {
    const named = { request_uri: address, sector_identifier_uri: address };
    const query = new URLSearchParams({ client_id: lernapp.clientId, ...named });
    const { status } = await fetch(`${service.url}/oauth2/auth?${query.toString()}`, { redirect: "manual" });
    expect(status).toBeLessThan(500);
  }
});

test("API9: no other version and no hidden path of an API answers", async () => {
  const paths = ["/idm/ep/v0/schools", "/idm/ep/v2/schools", "/admin/v2/schools", "/admin/v0/me", "/idm/ep/schools"];
  for (const path of paths)
    expect((await fetch(service.url + path, { headers: bearer(tokens.app) })).status).toBeGreaterThanOrEqual(400);
});
