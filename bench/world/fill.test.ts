// @module-tag slow
import { beforeAll, expect, test } from "vitest";
import type { ClientId } from "../../src/access/index.ts";
import { testDatabase } from "../../test/support/database.ts";
import { makeTestClock, startService } from "../../test/support/service.ts";
import { getAppToken, getUserTokens } from "../../test/support/token.ts";
import { fillWorld, type Filled } from "./fill.ts";
import { appSecret, password } from "./shape.ts";

const until = new Date("2026-02-03T08:00:00Z");
const size = { people: 200, seed: 7, signIns: 20, until };
const app = { clientId: "app-00" as ClientId, clientSecret: appSecret, redirectUri: "http://127.0.0.1:4000/callback" };
const db = await testDatabase();
let filled: Filled[] = [];
let indexes: string[] = [];

const read = async <Row extends Record<string, unknown>>(sql: string): Promise<Row[]> =>
  (await db.pool.query<Row>(sql)).rows;
const listIndexes = async () =>
  (await read<{ made: string }>("SELECT indexdef AS made FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1")).map(
    ({ made }) => made,
  );
const count = (table: string) => filled.find((one) => one.table === table)?.rows;

beforeAll(async () => {
  indexes = await listIndexes();
  filled = await fillWorld(db, size);
});

test("a world has the rows of its size", () => {
  expect({ school: count("school"), group: count("group"), app: count("app"), person: count("person") }).toEqual({
    school: 2,
    group: 80,
    // One is the command line.
    app: 51,
    person: 200,
  });
  expect(count("membership")).toBe(600);
  expect(count("grant")).toBe(20);
  expect(count("user_name")).toBe(200);
  expect(count("sign_in")).toBe(280);
  // Sign-ins of a year, a consent for each first sign-in, 40 imports of each school, grants, endpoints.
  expect(count("audit")).toBe(4000 + 280 + 80 + 20 + 25);
  for (const table of ["app_event", "webhook_delivery", "webhook_attempt", "person_import", "figure", "sign_on_step"])
    expect(count(table), table).toBeGreaterThanOrEqual(50);
});

test("constraints, triggers and indexes are as the migrations made them", async () => {
  expect(await listIndexes()).toEqual(indexes);
  expect(await read("SELECT conname FROM pg_constraint WHERE NOT convalidated")).toEqual([]);
  expect(await read("SELECT tgname FROM pg_trigger WHERE tgenabled <> 'O'")).toEqual([]);
  expect(
    await read("SELECT FROM affiliation a JOIN person p ON p.id = a.person_id WHERE a.sort_key <> p.sort_key"),
  ).toEqual([]);
  expect(
    await read('SELECT FROM "grant" g JOIN school s ON s.id = g.school_id WHERE g.school_sort_key <> s.sort_key'),
  ).toEqual([]);
  expect(
    await read("SELECT FROM credential WHERE NOT EXISTS (SELECT FROM user_name WHERE hash = user_name_hash(username))"),
  ).toEqual([]);
  expect(await read("SELECT subject FROM view_version WHERE subject LIKE 'school:%'")).toHaveLength(2);
  await expect(fillWorld(db, size)).rejects.toThrow("has people already");
});

test("the same seed makes the same people, another seed others", async () => {
  const rows = "SELECT md5(string_agg(p::text, '' ORDER BY id)) AS rows FROM person p";
  const [same, other] = [await testDatabase(), await testDatabase()];
  await fillWorld(same, size);
  await fillWorld(other, { ...size, seed: 8 });
  const [mine] = await read(rows);
  expect((await same.pool.query(rows)).rows[0]).toEqual(mine);
  expect((await other.pool.query(rows)).rows[0]).not.toEqual(mine);
});

test("on it a person signs in, an app reads its lists, and every job runs and finds nothing to sweep", async () => {
  const service = await startService({ db, clock: makeTestClock(until) });
  const [someone] = await read<{ username: string }>(
    `SELECT c.username FROM credential c JOIN sign_in s USING (person_id) JOIN person p ON p.id = c.person_id
     WHERE s.client_id = 'app-00' AND p.status = 'ACTIVE' AND p.blocked_at IS NULL ORDER BY 1 LIMIT 1`,
  );
  const tokens = await getUserTokens(
    service,
    app,
    { username: someone!.username, password },
    { scopes: ["openid", "profile"] },
  );
  expect(tokens.id_token).toBeTypeOf("string");

  const headers = {
    authorization: `Bearer ${await getAppToken(service, app, ["schools:read", "people:read", "groups:read"])}`,
  };
  const list = async (path: string) => {
    const answer = await fetch(`${service.url}/idm/ep/v1/${path}`, { headers });
    expect(answer.status, path).toBe(200);
    return (await answer.json()) as unknown;
  };
  const schools = await read<{ id: string }>("SELECT id FROM school ORDER BY official_id");
  expect(await list("schools")).toHaveLength(2);
  // Of 100 people one is soft-deleted; those of the other school are in no group here.
  expect(await list(`schools/${schools[0]!.id}/people`)).toHaveLength(99);
  expect(await list(`schools/${schools[0]!.id}/groups`)).toHaveLength(40);
  await list("changes");

  const tables = filled.map(({ table }) => table).filter((table) => table !== "webhook_fan_out");
  const countAll = async () =>
    Object.fromEntries(
      await Promise.all(
        tables.map(async (table) => [
          table,
          (await read<{ rows: number }>(`SELECT count(*)::int AS rows FROM "${table}"`))[0]!.rows,
        ]),
      ),
    ) as Record<string, number>;
  const before = await countAll();
  const signal = new AbortController().signal;
  for (const job of service.jobs) await job.run(signal);
  const after = await countAll();
  for (const table of tables) expect(after[table], table).toBeGreaterThanOrEqual(before[table]!);

  // A year later the sweeps have taken what is kept for a time only.
  service.clock.forwardSeconds(402 * 86_400);
  for (const job of service.jobs) await job.run(signal);
  const later = await countAll();
  for (const table of [
    "oidc_artifact",
    "app_event",
    "webhook_delivery",
    "webhook_attempt",
    "api_request",
    "sign_on_step",
    "sign_in_place",
  ])
    expect(later[table], table).toBeLessThan(before[table]! / 5);
  expect(later["person"]).toBe(198);
  expect(later["audit"]).toBeLessThan(before["audit"]! / 5);
});
