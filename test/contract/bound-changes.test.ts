import { request } from "node:http";
import express from "express";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AccessToken } from "../../src/access/index.ts";
import { readConfig } from "../../src/config/index.ts";
import { makeRenderProblem } from "../../src/idm/failure.ts";
import { AppError } from "../../src/platform/errors.ts";
import {
  answerDone,
  bindOperations,
  makeReading,
  type Handler,
  type OpenApiDocument,
} from "../../src/platform/http/index.ts";
import { silentLog } from "../../src/platform/telemetry/log.ts";

type Thing = { name: string; size?: number };
type Operations = {
  createThing: {
    parameters: { query?: { "dry-run"?: boolean }; header?: { "Idempotency-Key"?: string } };
    requestBody: { content: { "application/json": Thing } };
    responses: { 201: { content: { "application/json": Thing } }; 400: unknown };
  };
  deleteThing: { parameters: { path: { id: string } }; requestBody?: never; responses: { 204: object } };
};

const thing = {
  type: "object",
  required: ["name"],
  additionalProperties: false,
  properties: {
    name: { type: "string", minLength: 1, maxLength: 5 },
    size: { type: "integer", minimum: 1 },
    kinds: { type: "array", items: { $ref: "#/components/schemas/Kind" } },
  },
};
const content = { "application/json": { schema: thing } };
const security = [{ app: ["write"] }, { staff: ["write"] }];
const document = {
  openapi: "3.0.3",
  info: { title: "Things", version: "1" },
  paths: {
    "/things": {
      post: {
        operationId: "createThing",
        security,
        parameters: [
          { name: "kind", in: "query", schema: { $ref: "#/components/schemas/Kind" } },
          { name: "dry-run", in: "query", schema: { type: "boolean" } },
          { name: "Idempotency-Key", in: "header", schema: { type: "string", maxLength: 10 } },
        ],
        requestBody: { required: true, content },
        responses: { "201": { content }, "400": {} },
      },
    },
    "/things/{id}": {
      delete: {
        operationId: "deleteThing",
        security,
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "string", format: "uuid" } }],
        responses: { "204": {} },
      },
    },
  },
  components: {
    schemas: { Kind: { type: "string", nullable: true, enum: ["BIG", "SMALL", null] } },
    securitySchemes: {
      app: { type: "oauth2", flows: { clientCredentials: { scopes: { write: "" } } } },
      staff: { type: "oauth2", flows: { authorizationCode: { scopes: { write: "" } } } },
    },
  },
} as unknown as OpenApiDocument;

const createThing: Handler<Operations["createThing"], AccessToken> = ({ body, headers, query, requestId }) =>
  answerDone(async () => {
    if (body.name === "busy") throw new AppError("conflict", "name_taken", "The name is taken.");
    if (body.name === "wrong") return { status: 201, body: { size: "7" } as unknown as Thing };
    const seen = `${headers["Idempotency-Key"] ?? ""} ${String(query["dry-run"])} ${String(requestId !== "")}`;
    return { status: 201, body, headers: { Location: "/things/1", "X-Seen": seen } };
  });
const deleteThing: Handler<Operations["deleteThing"], AccessToken> = () => answerDone(async () => ({ status: 204 }));
// @ts-expect-error A status that the contract does not have.
export const other: Handler<Operations["deleteThing"], AccessToken> = () => answerDone(async () => ({ status: 200 }));
// @ts-expect-error The contract has a body.
export const empty: Handler<Operations["createThing"], AccessToken> = () => answerDone(async () => ({ status: 201 }));

let base = "";
let personId: string | null = null;
const pool = { options: {} } as pg.Pool;
const router = bindOperations<Operations, AccessToken>({
  document,
  handlers: { createThing, deleteThing },
  checkToken: async () => ({
    kind: "valid",
    token: { clientId: "app", personId, scopes: new Set(["write"]) } as unknown as AccessToken,
  }),
  scopeName: (scope) => scope,
  reading: makeReading({ pool, canceller: pool, isReplica: false }, readConfig({}).lists),
  cursorKeys: [],
  log: silentLog,
  render: makeRenderProblem((code) => code),
  checkAnswersBy: [document],
});
let logged: unknown;
const server = express()
  .use((_req, res, next) => {
    res.on("finish", () => (logged = res.locals["message"]));
    next();
  })
  .use(router);
let listening: ReturnType<typeof server.listen>;

beforeAll(async () => {
  listening = server.listen(0, "127.0.0.1");
  await new Promise((resolve) => listening.once("listening", resolve));
  base = `http://127.0.0.1:${String((listening.address() as { port: number }).port)}`;
});
afterAll(() => void listening.close());

const json = { authorization: "Bearer any", "content-type": "application/json" };
const post = (body: string | undefined, headers: Record<string, string> = json, query = "") =>
  fetch(`${base}/things${query}`, { method: "POST", headers, ...(body !== undefined && { body }) });
const outcome = async (response: Response) => {
  const { code, message } = (await response.json()) as { code?: string; message?: string };
  return [response.status, code, message];
};

test("a change gets its body, headers and query as described, and answers its own status", async () => {
  const response = await post('{"name":"Lea","size":2}', { ...json, "Idempotency-Key": "abc" }, "?dry-run=true");
  expect([response.status, await response.json()]).toEqual([201, { name: "Lea", size: 2 }]);
  expect(response.headers.get("x-seen")).toBe("abc true false");
  expect(response.headers.get("location")).toBe("/things/1");
  expect(response.headers.get("cache-control")).toBe("no-store");
});

test("a change without a body answers 204 with nothing", async () => {
  const url = `${base}/things/b0000000-0000-4000-8000-000000000001`;
  const response = await fetch(url, { method: "DELETE", headers: { authorization: "Bearer any" } });
  expect([response.status, await response.text()]).toEqual([204, ""]);
});

test.each([
  ["no body", undefined, "A JSON body is required."],
  ["no JSON", "{name", "The body is not valid JSON."],
  ["a list", "[]", "The body must be object."],
  ["a missing property", '{"size":1}', "The body must have required property 'name'."],
  ["an unknown property", '{"name":"Lea","age":7}', "The body has an unknown property: age."],
  ["a wrong type", '{"name":7}', "The property name must be string."],
  ["a value that is too long", '{"name":"Friedrich"}', "The property name must NOT have more than 5 characters."],
  [
    "a value that is not in the list",
    `{"name":"Lea","kinds":["BIG","small\\n\\"${"x".repeat(50)}"]}`,
    `The property kinds/1 must be one of BIG, SMALL, null, not "small??${"x".repeat(33)}".`,
  ],
  ["no text where a list is", '{"name":"Lea","kinds":[7]}', "The property kinds/0 must be string."],
  ["a number as text", '{"name":"Lea","size":"2"}', "The property size must be integer."],
  ["a NUL character", '{"name":"a\\u0000"}', "The property name contains a NUL character."],
  ["half of a character", '{"name":"a\\ud800"}', "The property name contains half of a character (a lone surrogate)."],
  ["a number beyond all", '{"name":"Lea","size":1e400}', "The property size is too large a number."],
  ["deep nesting", `{"name":${"[".repeat(40)}`, "The body is nested deeper than 32 levels."],
  ["very many values", `[${"1,".repeat(10_000)}1]`, "The body has more than 10000 values."],
])("%s is refused with what is wrong", async (_case, body, message) => {
  expect(await outcome(await post(body))).toEqual([400, "invalid_request", message]);
});

test("a parameter that is not in the list is refused with the list, and logged without what was given", async () => {
  const message = 'The query parameter kind must be one of BIG, SMALL, null, not "Mia".';
  expect(await outcome(await post('{"name":"Lea"}', json, "?kind=Mia"))).toEqual([400, "invalid_request", message]);
  expect(logged).toBe('The query parameter kind must be one of BIG, SMALL, null, not "…".');
});

test("a header against its description is refused", async () => {
  const response = await post('{"name":"Lea"}', { ...json, "Idempotency-Key": "01234567890" });
  expect(await outcome(response)).toEqual([
    400,
    "invalid_request",
    "The header parameter Idempotency-Key must be as described.",
  ]);
});

test("a body of another type, in another encoding or too large is refused, and the next request works", async () => {
  const form = await post("name=Lea", {
    authorization: "Bearer any",
    "content-type": "application/x-www-form-urlencoded",
  });
  expect((await outcome(form)).slice(0, 2)).toEqual([415, "unsupported_type"]);
  expect((await outcome(await post('{"name":"Lea"}', { ...json, "content-encoding": "zip" }))).slice(0, 2)).toEqual([
    415,
    "unsupported_type",
  ]);
  const large = await post(JSON.stringify({ name: "x".repeat(300_000) }));
  expect((await outcome(large)).slice(0, 2)).toEqual([413, "body_too_large"]);
  expect((await post('{"name":"Lea"}')).status).toBe(201);
});

test("the token comes before the body", async () => {
  const response = await post("{name", { "content-type": "application/json" });
  expect((await outcome(response)).slice(0, 2)).toEqual([401, "missing_token"]);
});

test("a failure of the change is answered as it says", async () => {
  expect(await outcome(await post('{"name":"busy"}'))).toEqual([409, "name_taken", "The name is taken."]);
});

test("an answer against the contract is stopped before it leaves, outside production", async () => {
  expect((await outcome(await post('{"name":"wrong"}'))).slice(0, 2)).toEqual([500, "contract_broken"]);
});

test("tokens of an app and of a person are both taken where the contract names both", async () => {
  personId = "a0000000-0000-4000-8000-000000000001";
  expect((await post('{"name":"Lea"}')).status).toBe(201);
  personId = null;
});

test("a body that is announced and never comes does not hold the others up", async () => {
  const { port } = listening.address() as { port: number };
  const headers = { ...json, "content-length": "50" };
  const stuck = request({ port, host: "127.0.0.1", path: "/things", method: "POST", headers });
  stuck.on("error", () => undefined);
  stuck.write('{"name":');
  expect((await post('{"name":"Lea"}')).status).toBe(201);
  stuck.destroy();
});
