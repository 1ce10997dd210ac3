import { beforeAll, describe, expect, test } from "vitest";
import { listOperations, loadDocument, type OpenApiDocument, type Operation } from "../../src/platform/http/index.ts";
import type { ScopeName } from "../../src/access/index.ts";
import { demoApp, demoLogin, idmScopes, makeReader, startDemo, type Read } from "../support/api.ts";
import type { TestService } from "../support/service.ts";
import { getAppToken, getUserTokens } from "../support/token.ts";
import { makeSchemaCheck } from "../support/schema-check.ts";

// Walks every operation of the two documents that apps read with a token, and counts that none is left out.
const documents: Record<string, OpenApiDocument> = {
  idm: await loadDocument("idm", "schultor"),
  schulconnex: await loadDocument("schulconnex", "schultor"),
};
type Place = { name: string; path: string; method: string; operation: Operation };
const places: Place[] = Object.entries(documents).flatMap(([name, document]) =>
  listOperations(document).map(({ path, method, operation }) => ({ name, path, method, operation })),
);
const offered = places.filter(({ operation }) => "200" in operation.responses);
const reads = offered.filter(({ method }) => method === "get");
const notOffered = places.filter(({ operation }) => !("200" in operation.responses));
const each = (some: Place[]) => some.map((place) => ({ ...place, id: place.operation.operationId }));

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
let tokens: { app: string; user: string; poor: Record<ScopeName, string> };
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
    body: JSON.stringify({ outcome: "erased" }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
}
const fitting = ({ operation }: Place) =>
  operation.security!.some((way) => "userContext" in way) ? tokens.user : tokens.app;
const unfitting = ({ operation }: Place) =>
  operation.security!.some((way) => "userContext" in way) ? tokens.app : tokens.user;

beforeAll(async () => {
  service = await startDemo();
  const app = demoApp("demo-lernapp");
  const poor = {} as Record<ScopeName, string>;
  for (const scope of idmScopes)
    poor[scope] = await getAppToken(
      service,
      app,
      idmScopes.filter((other) => other !== scope),
    );
  const user = await getUserTokens(service, app, demoLogin(2), { scopes: ["openid", ...idmScopes] });
  tokens = { app: await getAppToken(service, app, idmScopes), user: user.access_token, poor };
});

/** Every failure has a body that its own document describes for that status. */
function expectDescribed({ name, operation }: Place, { status, body, headers }: Read): void {
  const type = headers.get("content-type")?.split(";")[0] ?? "";
  expect(makeSchemaCheck(documents[name]!)(operation.responses[String(status)], type, body)).toEqual([]);
}

test("the documents have sixteen operations that answer, and the rest of the standard", () => {
  expect([
    offered.length,
    notOffered.every(({ operation }) => Object.keys(operation.responses).join() === "501"),
  ]).toEqual([16, true]);
});

describe.each(each(offered))("$id", (place) => {
  const takesScope = () => place.operation.security!.flatMap((way) => Object.values(way).flat());

  test("names one kind of token, and one scope or a choice of single ones", () => {
    const ways = place.operation.security!.map((way) => Object.entries(way));
    expect(new Set(ways.map((way) => way[0]![0])).size).toBe(1);
    expect(ways.every((way) => way.length === 1 && way[0]![1].length === 1)).toBe(true);
    const ofSeveral = ["listChanges", "listIdentifierChanges", "getSchoolRoster", "listErasures", "acknowledgeErasure"];
    expect(ofSeveral.includes(place.operation.operationId) || ways.length === 1).toBe(true);
  });

  test("refuses a call without a token, and says no more than that one is needed", async () => {
    const address = `${service.url}${fill(place.path, own)}?access_token=${fitting(place)}`;
    const response = await fetch(address, { method: place.method });
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expectDescribed(place, { status: 401, headers: response.headers, body: await response.json() });
  });

  test("refuses an unknown token before it looks at anything else", async () => {
    const read = await call(place, "unknown", {}, `${fill(place.path, everywhere("x"))}?nonsense=1`);
    expect([read.status, read.headers.get("www-authenticate")]).toEqual([401, 'Bearer error="invalid_token"']);
    expectDescribed(place, read);
  });

  test("refuses a token without its scope", async () => {
    const scopes = takesScope();
    const name = scopes[0]!.split(":").slice(-2).join(":") as ScopeName;
    const lernapp = demoApp("demo-lernapp");
    const login = demoLogin(2);
    const poor =
      fitting(place) !== tokens.app
        ? (await getUserTokens(service, lernapp, login, { scopes: ["openid", "schools:read"] })).access_token
        : scopes.length > 1
          ? await getAppToken(service, lernapp, [])
          : tokens.poor[name];
    const read = await call(place, poor);
    expect([read.status, read.headers.get("www-authenticate")]).toEqual([
      403,
      `Bearer error="insufficient_scope", scope="${scopes.join(" ")}"`,
    ]);
    expectDescribed(place, read);
  });

  test("refuses the other kind of token", async () => {
    const read = await call(place, unfitting(place));
    const expected =
      place.name === "idm"
        ? { status: 403, body: { code: "wrong_context" } }
        : { status: 401, body: { code: "401", subcode: "03" } };
    expect(read).toMatchObject(expected);
    expect(read.headers.get("www-authenticate")).toMatch(/^Bearer error="(insufficient_scope|invalid_token)"/);
    expectDescribed(place, read);
  });

  test("refuses a parameter that it does not have", async () => {
    const read = await call(place, fitting(place), {}, `${fill(place.path, own)}?page=2`);
    expect(read.status).toBe(400);
    expectDescribed(place, read);
  });

  test("answers other methods with 405 and what is allowed", async () => {
    const allowed = place.method === "get" ? "GET, HEAD" : "POST";
    for (const method of ["POST", "PUT", "DELETE"].filter((one) => one !== allowed)) {
      const response = await fetch(service.url + fill(place.path, own), { method, body: "{}" });
      expect([response.status, response.headers.get("allow")]).toEqual([405, allowed]);
      expectDescribed(place, { status: 405, headers: response.headers, body: await response.json() });
    }
  });

  test("has examples, and they are what it describes", () => {
    type Media = { schema: object; examples?: Record<string, { value: unknown } | { $ref: string }> };
    for (const response of Object.values(place.operation.responses)) {
      const found =
        "$ref" in response
          ? documents[place.name]!.components.responses![String(response.$ref).split("/").at(-1)!]!
          : response;
      const content = (found as { content?: Record<string, Media> }).content ?? {};
      for (const [type, media] of Object.entries(content)) {
        expect(Object.keys(media.examples ?? {}).length).toBeGreaterThan(0);
        for (const example of Object.values(media.examples ?? {})) {
          const value =
            "$ref" in example ? resolveExample(documents[place.name]!, String(example.$ref)) : example.value;
          expect(makeSchemaCheck(documents[place.name]!)(response, type, value)).toEqual([]);
        }
      }
    }
  });
});

describe.each(each(reads))("$id", (place) => {
  test("answers its fitting token, as its document says, the same for HEAD", async () => {
    const read = await call(place, fitting(place));
    expect(read.status).toBe(200);
    expectDescribed(place, read);
    const head = await fetch(service.url + fill(place.path, own), {
      method: "HEAD",
      headers: { authorization: `Bearer ${fitting(place)}` },
    });
    expect([head.status, await head.text(), head.headers.get("etag")]).toEqual([200, "", read.headers.get("etag")]);
  });

  test("answers 304 while nothing changed", async () => {
    const first = await call(place, fitting(place));
    const again = await call(place, fitting(place), { "if-none-match": `"other", ${first.headers.get("etag")!}` });
    expect([again.status, again.body, again.headers.get("etag")]).toEqual([304, null, first.headers.get("etag")]);
    expect(first.headers.get("etag")).toMatch(/^"[^"]+"$/);
  });
});

function resolveExample(document: OpenApiDocument, ref: string): unknown {
  const { examples } = document.components as { examples?: Record<string, { value: unknown }> };
  return examples?.[ref.split("/").at(-1)!]?.value;
}

describe.each(each(offered.filter(({ path }) => path.includes("{"))))("$id", (place) => {
  test("hides a foreign school and what is in it, exactly as what does not exist", async () => {
    const hidden = await call(place, tokens.app, {}, fill(place.path, foreign));
    const nothing = id("f", 1);
    const missing = await call(place, tokens.app, {}, fill(place.path, everywhere(nothing)));
    expect(hidden.status).toBe(404);
    expectDescribed(place, hidden);
    const comparable = ({ body }: Read) => ({ ...(body as object), requestId: "" });
    expect(comparable(hidden)).toEqual(comparable(missing));
  });

  test.each(["x", "123", "urn:uuid:a0000000-0000-4000-8000-000000000001", "%00"])(
    "refuses the id %s",
    async (wrong) => {
      const read = await call(place, tokens.app, {}, fill(place.path, everywhere(wrong)));
      expect(read).toMatchObject({ status: 400, body: { message: "The path parameter id must be a UUID." } });
      expectDescribed(place, read);
    },
  );
});

test.each(each(reads.filter(({ path }) => !path.includes("{") && path !== "/idm/schulconnex/v1/person-info")))(
  "$id leaves foreign schools out",
  async (place) => {
    const body = JSON.stringify((await call(place, fitting(place))).body);
    expect(body).not.toContain(id("a", 2));
    expect(body).not.toContain(id("a", 3));
  },
);

test.each(each(notOffered))("$id answers 501 to any method, with and without a token", async (place) => {
  for (const [method, headers] of [
    ["GET", {}],
    ["GET", { authorization: `Bearer ${tokens.app}` }],
    ["POST", {}],
  ] as const) {
    const response = await fetch(`${service.url}${fill(place.path, own)}?any=1`, { method, headers });
    expect(response.status).toBe(501);
    expectDescribed(place, { status: 501, headers: response.headers, body: await response.json() });
  }
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
