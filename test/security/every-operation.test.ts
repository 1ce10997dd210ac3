import { expect, test } from "vitest";
import { demoApp, demoLogin, idmScopes, makeReader, startDemo } from "../support/api.ts";
import { makeBrowser } from "../support/browser.ts";
import { inBatches } from "../support/in-batches.ts";
import { basic, getAppToken, getUserTokens } from "../support/token.ts";
import { resolve, type Parameter } from "../../src/platform/http/document.ts";
import { listOperations, loadDocument } from "../../src/platform/http/index.ts";
import { documentNames } from "../exchanges/check.ts";
import { listPlaces, type Place } from "./requests/operations.ts";

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

const changes = places.filter(({ document, method }) => document === "admin" && method !== "GET");
const half = Math.ceil(changes.length / 2);
const groups: [string, Place[]][] = [
  ["of apps and people", places.filter(({ document }) => document !== "admin")],
  ["that staff read with", places.filter(({ document, method }) => document === "admin" && method === "GET")],
  ["that staff change with, first half,", changes.slice(0, half)],
  ["that staff change with, second half,", changes.slice(half)],
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

// Every query and path parameter of every operation, in spellings that look right and are not those of the contract.
const uuid = "c0000000-0000-4000-8000-000000000002";
const spellings: Record<string, readonly string[]> = {
  boolean: [
    ...["TRUE", "tRue", "FALSE", "01", "2", "-1", "yes", "on", "null", "", " true", "true ", "+true"],
    ...["true\n", "true,true", "[true]", '"true"', "ｔｒｕｅ"],
  ],
  integer: [
    ...["1e2", "1E2", "0x10", "0b11", "0o7", " 5", "5 ", "+5", "-5", "-0", "0", "05", "5.0", "5.", ".5", "5,0", "5,5"],
    ...[
      "1_0",
      "5\n",
      "5n",
      "null",
      "true",
      "NaN",
      "Infinity",
      "٥",
      "５",
      "1".repeat(400),
      "9007199254740993",
      "[5]",
      "",
    ],
  ],
  uuid: [
    ...["", "x", ` ${uuid}`, `${uuid} `, `${uuid}\n`, `{${uuid}}`, `urn:uuid:${uuid}`, uuid.replaceAll("-", "")],
    ...[`${uuid},${uuid}`, `${uuid}0`, uuid.slice(1), uuid.replace("c", "ｃ"), uuid.replace("c", "g"), `${uuid}'`],
  ],
  array: [
    ...["", ",", "personen,", ",personen", "personen;gruppen", "personen|gruppen", "personen,alles", "[personen]"],
    "ｐersonen",
  ],
  string: [""],
};
const spelledAs: Record<string, string> = { boolean: "true", integer: "5", uuid, array: "personen" };
const kindOf = ({ schema }: Parameter): string => (schema?.format === "uuid" ? "uuid" : (schema?.type ?? "string"));

const ownIds: Record<string, string> = {
  schools: uuid.replace("c", "a").replace(/2$/, "1"),
  groups: uuid.replace("c", "b").replace(/2$/, "1"),
  users: uuid,
  people: uuid,
};
const fill = (path: string) => path.replace(/(\w+)\/\{\w+\}/, (_all, kind: string) => `${kind}/${ownIds[kind]!}`);

type Read = { path: string; parameters: Parameter[]; isOfUser: boolean };
const documents = await Promise.all(
  ["idm", "schulconnex", "schulconnex-1.7", "schulconnex-1.8"].map((name) => loadDocument(name, "schultor")),
);
const reads: Read[] = documents.flatMap((document) =>
  listOperations(document).flatMap(({ method, path, operation }) => {
    if (method !== "get" || !("200" in operation.responses)) return [];
    const parameters = (operation.parameters ?? []).map((parameter) => resolve(document, parameter));
    return [{ path, parameters, isOfUser: operation.security!.some((way) => "userContext" in way) }];
  }),
);

const readers = {
  app: makeReader(service, tokens.app),
  user: makeReader(service, tokens.user),
};
const readerOf = (place: Read) => (place.isOfUser ? readers.user : readers.app);
const asked = reads.flatMap((place) =>
  place.parameters
    .filter((parameter) => parameter.in === "query")
    .map((parameter) => ({ place, parameter, name: parameter.name })),
);

test("there are parameters of every kind to try", () => {
  expect(new Set(asked.map(({ parameter }) => kindOf(parameter)))).toEqual(new Set(Object.keys(spellings)));
  expect(asked.length).toBeGreaterThan(15);
});

/** Of all of them, the spellings that are not answered with 400. */
async function findTaken(
  all: { place: Read; parameter?: Parameter }[],
  write: (kind: string, name: string) => readonly string[],
  ask: (place: Read, written: string, name: string) => string,
): Promise<unknown[]> {
  const attempts = all.flatMap(({ place, parameter }) =>
    write(parameter ? kindOf(parameter) : "uuid", parameter?.name ?? "").map((written) => ({
      place,
      written,
      path: ask(place, written, parameter?.name ?? ""),
    })),
  );
  const statuses = await inBatches(attempts, async ({ place, path }) => (await readerOf(place)(path)).status);
  return attempts.flatMap(({ path, written }, n) => (statuses[n] === 400 ? [] : [[path, written, statuses[n]]]));
}

test("the value of a parameter is read in the contract's spelling only", async () => {
  const wrong = await findTaken(
    asked,
    (kind) => spellings[kind]!,
    (place, written, name) => `${fill(place.path)}?${name}=${encodeURIComponent(written)}`,
  );
  expect(wrong).toEqual([]);
  const valueless = await findTaken(
    asked,
    (_kind, name) => [name],
    (place, name) => `${fill(place.path)}?${name}`,
  );
  expect(valueless).toEqual([]);
});

const rightOf = (kind: string) => spelledAs[kind] ?? "x";

test("the name of a parameter is read in the contract's spelling only", async () => {
  const others = (kind: string, name: string) =>
    [`${name}[]`, `${name}[0]`, `${name}[a]`, ` ${name}`, `${name} `, name.toUpperCase(), `${name}\u200b`, `${name}.`]
      .concat("__proto__", "constructor", "toString")
      .map((other) => `${encodeURIComponent(other)}=${rightOf(kind)}`);
  expect(await findTaken(asked, others, (place, written) => `${fill(place.path)}?${written}`)).toEqual([]);
});

test("a parameter is taken as it is right, and once; the values of a list may come one by one", async () => {
  const twice = (name: string, right: string) => [
    `${name}=${right}&${name}=${right}`,
    `${name}=${right}&%${name.charCodeAt(0).toString(16)}${name.slice(1)}=${right}`,
  ];
  const answers = await inBatches(asked, async ({ place, parameter, name }) => {
    const kind = kindOf(parameter);
    const queries = [...(kind in spelledAs ? [`${name}=${rightOf(kind)}`] : []), ...twice(name, rightOf(kind))];
    const statuses = [];
    for (const query of queries) statuses.push((await readerOf(place)(`${fill(place.path)}?${query}`)).status);
    return [name, kind, ...statuses];
  });
  const wanted = (kind: string) => [
    ...(kind in spelledAs ? [200] : []),
    ...Array<number>(2).fill(kind === "array" ? 200 : 400),
  ];
  expect(answers).toEqual(asked.map(({ parameter, name }) => [name, kindOf(parameter), ...wanted(kindOf(parameter))]));
});

test("an id in a path is read in the contract's spelling only", async () => {
  const withId = reads.filter(({ path }) => path.includes("{")).map((place) => ({ place }));
  const ids = () => spellings["uuid"]!.filter((spelling) => spelling !== "");
  expect(
    await findTaken(withId, ids, ({ path }, written) => path.replace(/\{\w+\}/, encodeURIComponent(written))),
  ).toEqual([]);
});
