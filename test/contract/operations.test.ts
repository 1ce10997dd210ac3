import { beforeAll, expect, test } from "vitest";
import { listOperations, loadDocument, type OpenApiDocument, type Operation } from "../../src/platform/http/index.ts";
import type { ScopeName } from "../../src/access/index.ts";
import { demoApp, demoLogin, idmScopes, makeReader, startDemo, type Read } from "../support/api.ts";
import type { TestService } from "../support/service.ts";
import { getAppToken, getUserTokens } from "../support/token.ts";

// Walks every operation of the two documents that apps read with a token. The proxy of the tests holds each answer
// against its document.
const documents: Record<string, OpenApiDocument> = {
  idm: await loadDocument("idm", "schultor"),
  schulconnex: await loadDocument("schulconnex", "schultor"),
};
type Place = { name: string; path: string; method: string; operation: Operation };
const places: Place[] = Object.entries(documents).flatMap(([name, document]) =>
  listOperations(document).map(({ path, method, operation }) => ({ name, path, method, operation })),
);
const isOffered = ({ operation: { responses } }: Place): boolean => "200" in responses || "204" in responses;
const offered = places.filter(isOffered);
const notOffered = places.filter((place) => !isOffered(place));

// What demo-lernapp may see, and what belongs to schools that do not sync to it.
const id = (kind: string, n: number) => `${kind}0000000-0000-4000-8000-00000000000${String(n)}`;
const own: Record<string, string> = {
  schools: id("a", 1),
  groups: id("b", 1),
  users: id("c", 2),
  people: id("c", 2),
  erasures: id("e", 1),
};
const foreign: Record<string, string> = {
  schools: id("a", 2),
  groups: id("b", 6),
  users: id("c", 9),
  people: id("c", 8),
  erasures: id("e", 2),
};
const everywhere = (value: string) => Object.fromEntries(Object.keys(own).map((kind) => [kind, value]));
const fill = (path: string, ids: Record<string, string>) =>
  path.replace(/(\w+)\/\{\w+\}/, (_all, kind: string) => `${kind}/${ids[kind] ?? "any"}`);

let service: TestService;
let tokens: Record<"app" | "user" | "withoutScopes" | "poorUser", string> & { poor: Record<ScopeName, string> };
async function call(
  { path: template, method }: Place,
  token: string,
  headers: Record<string, string> = {},
  path = fill(template, own),
): Promise<Read> {
  if (method === "get") return makeReader(service, token)(path, headers);
  const response = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(template.includes("erasures") ? { outcome: "erased" } : { type: "NONE" }),
  });
  const text = await response.text();
  const body = text === "" ? null : (JSON.parse(text) as unknown);
  return { status: response.status, headers: response.headers, body };
}
const fitting = ({ operation }: Place) =>
  operation.security!.some((way) => "userContext" in way) ? tokens.user : tokens.app;
const unfitting = ({ operation }: Place) =>
  operation.security!.some((way) => "userContext" in way) ? tokens.app : tokens.user;

beforeAll(async () => {
  service = await startDemo();
  const [app, login] = [demoApp("demo-lernapp"), demoLogin(2)];
  const poor = {} as Record<ScopeName, string>;
  for (const scope of idmScopes) {
    const others = idmScopes.filter((other) => other !== scope);
    poor[scope] = await getAppToken(service, app, others);
  }
  const user = await getUserTokens(service, app, login, { scopes: ["openid", ...idmScopes] });
  const poorUser = await getUserTokens(service, app, login, { scopes: ["openid", "schools:read"] });
  tokens = {
    app: await getAppToken(service, app, idmScopes),
    user: user.access_token,
    withoutScopes: await getAppToken(service, app, []),
    poorUser: poorUser.access_token,
    poor,
  };
});

const challenge = ({ status, headers }: Read | Response) => `${status} ${headers.get("www-authenticate") ?? ""}`;
const scopesOf = ({ operation }: Place) => operation.security!.flatMap((way) => Object.values(way).flat());
const allowed = ({ method }: Place) => (method === "get" ? "GET, HEAD" : "POST");
const ofAll = async <T>(all: T[], outcomeOf: (one: T) => Promise<unknown>): Promise<unknown[]> =>
  Promise.all(all.map((one) => outcomeOf(one)));
const wrongIds = ["x", "123", "urn:uuid:a0000000-0000-4000-8000-000000000001", "%00"];

test("the documents have seventeen operations that answer, and the rest of the standard", () => {
  expect([
    offered.length,
    notOffered.every(({ operation }) => Object.keys(operation.responses).join() === "501"),
  ]).toEqual([17, true]);
});

/** Takes the token of any sign-on. */
const ofAnyScope = "createAccessReport";

test("each operation names one kind of token, and one scope or a choice of single ones", () => {
  const ofSeveral = ["listChanges", "listIdentifierChanges", "getSchoolRoster", "listErasures", "acknowledgeErasure"];
  for (const { operation } of offered) {
    const ways = operation.security!.map((way) => Object.entries(way));
    expect(new Set(ways.map((way) => way[0]![0])).size).toBe(1);
    const scopes = operation.operationId === ofAnyScope ? 0 : 1;
    expect(ways.every((way) => way.length === 1 && way[0]![1].length === scopes)).toBe(true);
    expect(ofSeveral.includes(operation.operationId) || ways.length === 1, operation.operationId).toBe(true);
  }
});

/** What an operation answers to each kind of call. */
async function outcomesOf(place: Place): Promise<Record<string, unknown>> {
  const url = service.url + fill(place.path, own);
  const [scope, another] = scopesOf(place);
  const name = scope?.split(":").slice(-2).join(":") as ScopeName;
  const poor = fitting(place) === tokens.user ? tokens.poorUser : another ? tokens.withoutScopes : tokens.poor[name];
  const other = await call(place, unfitting(place));
  const { code, subcode } = other.body as { code: string; subcode?: string };
  const methods = ["POST", "PUT", "DELETE"].filter((method) => method !== allowed(place));
  return {
    withoutToken: challenge(await fetch(`${url}?access_token=${fitting(place)}`, { method: place.method })),
    unknownToken: challenge(await call(place, "unknown", {}, `${fill(place.path, everywhere("x"))}?nonsense=1`)),
    withoutScope: challenge(await call(place, poor)),
    otherToken: [
      other.status,
      code,
      subcode,
      /^Bearer error="(\w+)"/.exec(other.headers.get("www-authenticate")!)?.[1],
    ],
    unknownParameter: (await call(place, fitting(place), {}, `${fill(place.path, own)}?page=2`)).status,
    otherMethods: await ofAll(methods, async (method) => {
      const response = await fetch(url, { method, body: "{}" });
      return `${response.status} ${response.headers.get("allow")!}`;
    }),
    ...(place.method === "get" && { reading: await readingOf(place, url) }),
    ...(place.path.includes("{") && (await outcomesOfIds(place))),
  };
}

async function readingOf(place: Place, url: string): Promise<unknown> {
  const read = await call(place, fitting(place));
  const etag = read.headers.get("etag")!;
  const head = await fetch(url, { method: "HEAD", headers: { authorization: `Bearer ${fitting(place)}` } });
  const again = await call(place, fitting(place), { "if-none-match": `"other", ${etag}` });
  const isSame = head.headers.get("etag") === etag && again.headers.get("etag") === etag && /^"[^"]+"$/.test(etag);
  const isList = !place.path.includes("{") && place.path !== "/idm/schulconnex/v1/person-info";
  const foreignSchools = [id("a", 2), id("a", 3)].filter(
    (school) => isList && JSON.stringify(read.body).includes(school),
  );
  return [read.status, head.status, await head.text(), again.status, again.body, isSame, foreignSchools];
}

async function outcomesOfIds(place: Place): Promise<object> {
  const hidden = await call(place, tokens.app, {}, fill(place.path, foreign));
  const missing = await call(place, tokens.app, {}, fill(place.path, everywhere(id("f", 1))));
  const comparable = ({ body }: Read) => JSON.stringify({ ...(body as object), requestId: "" });
  return {
    foreign: [hidden.status, comparable(hidden) === comparable(missing) ? "as if it were not there" : "differently"],
    wrongIds: await ofAll(wrongIds, async (wrong) => {
      const { status, body } = await call(place, tokens.app, {}, fill(place.path, everywhere(wrong)));
      return `${status} ${(body as { message: string }).message}`;
    }),
  };
}

test("each operation refuses what is not for it in the same way, and reads the same for HEAD and with an ETag", async () => {
  const outcomes = await ofAll(offered, async (place) => [place.operation.operationId, await outcomesOf(place)]);
  expect(outcomes).toEqual(
    offered.map((place) => [
      place.operation.operationId,
      {
        withoutToken: "401 Bearer",
        unknownToken: '401 Bearer error="invalid_token"',
        withoutScope:
          place.operation.operationId === ofAnyScope
            ? "204 "
            : `403 Bearer error="insufficient_scope", scope="${scopesOf(place).join(" ")}"`,
        otherToken:
          place.name === "idm"
            ? [403, "wrong_context", undefined, "insufficient_scope"]
            : [401, "401", "03", "invalid_token"],
        unknownParameter: 400,
        otherMethods: Array(place.method === "get" ? 3 : 2).fill(`405 ${allowed(place)}`),
        ...(place.method === "get" && { reading: [200, 200, "", 304, null, true, []] }),
        ...(place.path.includes("{") && {
          foreign: [404, "as if it were not there"],
          wrongIds: wrongIds.map(() => "400 The path parameter id must be a UUID."),
        }),
      },
    ]),
  );
});

test("what is not offered answers 501 to any method, with and without a token", async () => {
  const headers = { authorization: `Bearer ${tokens.app}` };
  const outcomes = await ofAll(notOffered, ({ path }) =>
    ofAll([{ method: "GET" }, { method: "GET", headers }, { method: "POST" }], async (init) => {
      return (await fetch(`${service.url}${fill(path, own)}?any=1`, init)).status;
    }),
  );
  expect(outcomes).toEqual(notOffered.map(() => [501, 501, 501]));
});

test.each(["/idm/ep/v1/nothing", "/idm/schulconnex/v1/nothing", "/idm/ep/v1/schools/", "/idm/ep/v1/Schools"])(
  "there is nothing at %s",
  async (path) => {
    const read = await makeReader(service, tokens.app)(path);
    expect(read.status).toBe(404);
    expect(read.body).toMatchObject(
      path.includes("schulconnex") ? { code: "404", subcode: "00" } : { code: "path_not_found" },
    );
  },
);
