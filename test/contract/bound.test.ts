import type { PrismaDb } from "../../src/platform/database/db.ts";
import express from "express";
import type pg from "pg";
import { expect, test } from "vitest";
import type { operations } from "../../generated/openapi/idm.ts";
import { groupIsShown, type AccessToken } from "../../src/access/index.ts";
import { readConfig } from "../../src/config/index.ts";
import { makeRenderProblem } from "../../src/idm/failure.ts";
import { makeIdmRouter } from "../../src/idm/index.ts";
import { AppError } from "../../src/platform/errors.ts";
import {
  answerList,
  answerRead,
  asked,
  bindOperations,
  listOperations,
  loadDocument,
  makeListQuery,
  makeReading,
  makeReadQuery,
  type Handler,
  type Handlers,
} from "../../src/platform/http/index.ts";
import { jsonCode, jsonObject, jsonNullable, jsonText } from "../../src/platform/database/json-sql.ts";
import { silentLog } from "../../src/platform/telemetry/log.ts";
import { sql, table } from "../../src/platform/database/sql.ts";

type Described = {
  getThing: {
    parameters: { path: { id: string } };
    responses: { 200: { content: { "application/json": { id: string; name: string } } }; 304: unknown };
  };
};
type Things = {
  listThings: {
    parameters: { query?: { limit?: number } };
    responses: { 200: { content: { "application/json": { id: string }[] } }; 304: unknown };
  };
};

const missing = () => new AppError("not_found", "thing_not_found", "Thing not found");
const [id, name, from] = [sql`g.id`, sql`g.name`, sql`"group" g`];
const version = sql`1`;
const visible = groupIsShown(asked.client, table("group", "g"));
const thing = makeReadQuery<{ id: string; name: string }>("thing", {
  item: jsonObject<{ id: string; name: string }>()({ id: jsonCode(id), name: jsonText(name) }),
  version,
  from,
  visible,
});
const things = makeListQuery<{ id: string }, { client: string }>("things", ({ client }) => ({
  item: jsonObject<{ id: string }>()({ id: jsonCode(id) }),
  from,
  visible: groupIsShown(client, table("group", "g")),
  version,
  sortKey: name,
  id,
}));
const getThing: Handler<Described["getThing"], AccessToken> = ({ caller, path }) =>
  answerRead(thing, { client: caller.clientId, id: path.id }, missing);

// What must not compile: each line fails the type check once it does.
export const handlers: Handlers<Described, AccessToken> = { getThing };
// @ts-expect-error A handler is missing.
export const none: Handlers<Described, AccessToken> = {};
// @ts-expect-error There is no such operation.
export const more: Handlers<Described, AccessToken> = { getThing, listThings: getThing };
// @ts-expect-error A list where the contract has one record.
export const list: Handler<Described["getThing"], AccessToken> = () => answerList(things, { client: "" }, null);
export const record: Handler<Things["listThings"], AccessToken> = ({ caller }) =>
  // @ts-expect-error A record where the contract has a list.
  answerRead(thing, { client: caller.clientId, id: "" }, missing);
export const field = makeReadQuery<{ id: string; name: string }>("thing", {
  // @ts-expect-error A field of the contract is missing.
  item: jsonObject<{ id: string; name: string }>()({ id: jsonCode(id) }),
  version,
  from,
  visible,
});
const shared = { id: jsonCode(id), name: jsonText(name) };
// @ts-expect-error A field that the contract lacks, out of an object that several records share.
export const surplus = jsonObject<{ id: string }>()(shared);
// @ts-expect-error The same by a spread.
export const spread = jsonObject<{ id: string; more?: string }>()({ ...shared, more: undefined });
// @ts-expect-error A field may be null here and not in the contract.
export const nullable = jsonObject<{ id: string }>()({ id: jsonNullable(id) });
export const parameter: Handler<Described["getThing"], AccessToken> = ({ path }) =>
  // @ts-expect-error The path has no such parameter.
  answerRead(thing, { client: asked.client, id: path.name }, missing);

const item = jsonObject<{ id: string }>()({ id: jsonCode(id) });
// @ts-expect-error A read without a rule of what the app may see.
export const unbounded = (): unknown => makeReadQuery<{ id: string }>("thing", { item, version, from });
export const alwaysTrue = (): unknown =>
  // @ts-expect-error A condition that is none of the rules.
  makeReadQuery<{ id: string }>("thing", { item, version, from, visible: sql`true` });
export const unboundedList = (): unknown =>
  // @ts-expect-error A list without a rule of what the app may see.
  makeListQuery<{ id: string }, object>("things", () => ({ item, from, version, sortKey: name, id }));
export const openList = (): unknown =>
  makeListQuery<{ id: string }, object>("things", () => ({
    item,
    from,
    version,
    sortKey: name,
    id,
    visible,
    // @ts-expect-error Whether there is such a list for the app is a rule, too.
    shown: sql`true`,
  }));
// @ts-expect-error Values of a list are named as its statement names them.
export const unnamed = (): unknown => answerList(things, { app: "" }, null);
// @ts-expect-error Text is no SQL.
export const text = (): unknown => jsonText("t.name");

const document = await loadDocument("idm", "schultor");
const readFrom = (pool: pg.Pool) => makeReading({ pool, canceller: pool, isReplica: false }, readConfig({}).lists);
const bind = (given: Partial<Record<keyof operations | "getTeapot", unknown>>) =>
  bindOperations<operations, AccessToken>({
    document,
    handlers: given as Handlers<operations, AccessToken>,
    checkToken: async () => ({ kind: "unknown" }),
    scopeName: (scope) => scope,
    reading: readFrom({ options: {} } as pg.Pool),
    cursorKeys: [],
    log: silentLog,
    render: makeRenderProblem((code) => code),
    checkAnswersBy: [],
  });
const all = listOperations(document).flatMap(({ operation }) =>
  "501" in operation.responses ? [] : [operation.operationId],
);
const everyHandler = Object.fromEntries(all.map((name) => [name, () => missing()]));

test("what the app may see stands in every statement that reads", () => {
  const { whole, parts, page, nextPage } = things;
  for (const statement of [thing, whole, parts[0]!.rows, page, nextPage])
    expect(statement.text).toMatch(/g\.status = 'ACTIVE' AND EXISTS \(SELECT FROM synced_group/);
});

test("a service without a handler of an operation, or with one that no document knows, does not start", () => {
  expect(() => bind(everyHandler)).not.toThrow();
  expect(all).toHaveLength(14);
  for (const name of all) {
    const { [name]: _left, ...others } = everyHandler;
    expect(() => bind(others)).toThrow(`Missing: ${name}. Unknown: none.`);
  }
  expect(() => bind({ ...everyHandler, getTeapot: missing })).toThrow("Missing: none. Unknown: getTeapot.");
});

test.each([
  ["a field is missing", '{"id":"a0000000-0000-4000-8000-000000000001"}'],
  ["a field is of another type", '{"id":"a0000000-0000-4000-8000-000000000001","name":7,"members":[]}'],
])("an answer in which %s is stopped before it leaves, outside production", async (_case, body) => {
  const client = { query: async () => ({ rows: [[null, body]] }), release: () => undefined };
  const pool = { options: {}, connect: async () => client } as unknown as pg.Pool;
  const token = {
    clientId: "app",
    personId: null,
    scopes: new Set(["groups:read"]),
    ids: "shared",
  } as unknown as AccessToken;
  const answerWith = async (checkAnswers: boolean) => {
    const router = makeIdmRouter({
      reading: readFrom(pool),
      changes: { pool } as unknown as PrismaDb,
      clock: () => new Date(),
      restoreWindowDays: 30,
      makePseudonym: () => "Kiesel Otter",
      checkToken: async () => ({ kind: "valid", token }),
      document,
      cursorKeys: [],
      log: silentLog,
      issuerUrl: "http://localhost",
      checkAnswers,
    });
    const server = express().use(router).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    const response = await fetch(
      `http://127.0.0.1:${String(port)}/idm/ep/v1/groups/b0000000-0000-4000-8000-000000000001`,
      { headers: { authorization: "Bearer any" } },
    );
    server.close();
    return response.status;
  };
  expect([await answerWith(true), await answerWith(false)]).toEqual([500, 200]);
});
