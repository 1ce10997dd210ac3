// @module-tag slow
// @module-tag every-postgresql
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import { makeListMemory, readPage } from "../../src/oneroster/read-page.ts";
import { enrollments } from "../../src/oneroster/records/enrollments.ts";
import { classes } from "../../src/oneroster/records/groups.ts";
import type { Resource } from "../../src/oneroster/records/record.ts";
import { schools } from "../../src/oneroster/records/schools.ts";
import { users } from "../../src/oneroster/records/users.ts";
import { schoolYearAt } from "../../src/oneroster/school-year.ts";
import { statementsFor, type Selection, type Statements } from "../../src/oneroster/statements.ts";
import { readSettings } from "../../src/platform/database/shares.ts";
import type { Statement } from "../../src/platform/database/sql.ts";
import { testDatabase } from "../support/database.ts";
import { countRead, explainPrepared, listScanned } from "../support/explain.ts";
import { fillDatabase, filledApps } from "../support/fill.ts";
import { bind } from "../support/lists.ts";
import { setKnownRows } from "../support/statistics.ts";

// A page reads by what it returns. What reads a list as a whole - a count, a filter, a far offset - reads it once, and
// nothing of other apps. Neither depends on what PostgreSQL believes of the tables.

const size = { schools: 12, people: 3000 };
const perSchool = size.people / size.schools;
/** More than are looked up one by one. */
const manyChanges = 10_000;
const db = await testDatabase();

beforeAll(async () => {
  await fillDatabase(db, size, { analyze: false });
  await db.pool.query(`
    UPDATE app SET scopes = scopes || '{oneroster:read}';
    INSERT INTO app_event (id, at, client_id, type, action, subject_id, updated_properties)
    SELECT gen_random_uuid(), '2029-01-01'::timestamptz, client_id, 'group', 'update', group_id, '{name}'::text[]
    FROM (SELECT client_id, group_id, row_number() OVER (PARTITION BY client_id ORDER BY group_id) AS place
      FROM synced_group) AS synced WHERE place = 1
    UNION ALL SELECT gen_random_uuid(), '2028-01-01', '${filledApps.few}', 'person', 'update', id, '{name}'
    FROM (SELECT id FROM person UNION ALL SELECT gen_random_uuid() FROM generate_series(1, ${manyChanges})) AS changed;`);
});

const resources = { users, classes, enrollments, orgs: schools };
type Name = keyof typeof resources;

/** How many records an app with two schools has. One person in 51 has a second school. */
const lengths: Record<Name, number> = { users: 505, classes: 40, enrollments: 1530, orgs: 2 };
const unknownId = "55555555-5555-5555-5555-555555555555";
/** These read what they find. */
const found: Record<string, Selection> = {
  sourcedId: { filter: `sourcedId='${unknownId}' AND status='active'` },
  enrollment: { filter: `sourcedId='${unknownId}_${unknownId}'` },
  "another id": { filter: "sourcedId='5'" },
  "no changes": { filter: "dateLastModified>'2030-01-01'" },
  "a change": { filter: "dateLastModified>='2029-01-01'" },
};
const selections: Record<string, Selection> = {
  status: { filter: "status='tobedeleted'" },
  dateLastModified: { filter: "dateLastModified>'2027-01-01'" },
  sorted: { sort: "dateLastModified" },
};
const rolesOf: Partial<Record<Name, Selection>> = {
  users: { filter: "roles.role='teacher'" },
  enrollments: { filter: "role='teacher'" },
};

const beginning = "00000000-0000-0000-0000-000000000000";
const given = {
  client: filledApps.few,
  base: "http://localhost",
  ...schoolYearAt(new Date("2026-10-01")),
  limit: 10,
  after: beginning,
  afterGroup: beginning,
};

type Cost = { rows: number; scanned: string[] };

async function measure(client: pg.PoolClient, statement: Statement<never>, values: object): Promise<Cost> {
  const { text, values: inOrder } = bind(statement, values as never);
  await client.query(`PREPARE measured AS ${text}`);
  const plan = await explainPrepared(client, "measured", { values: inOrder, options: "ANALYZE, TIMING off" });
  await client.query("DEALLOCATE measured");
  return { rows: countRead(plan), scanned: listScanned(plan) };
}

/** A class has so many members. */
const perGroup = 40;
const [perItem, once] = [150, 1000];

async function findFaults(mode: string): Promise<string[]> {
  const client = await db.pool.connect();
  const faults: string[] = [];
  try {
    await client.query(`${readSettings}; SET statement_timeout = 0; SET plan_cache_mode = ${mode}`);
    for (const [name, resource] of Object.entries(resources) as [Name, Resource][]) {
      const check = async (
        what: string,
        made: Statements,
        part: "page" | "anyPage" | "nextPage" | "count",
        most: number,
        offset = 0,
      ) => {
        const values = { ...given, ...made.values, offset };
        const { rows, scanned } = await measure(client, made[part]! as Statement<never>, values);
        if (rows > most || scanned.length > 0)
          faults.push(`${mode}, ${name}, ${what}: ${rows} rows, at most ${most}; ${scanned.join()}`);
      };
      const make = (selection: Selection) =>
        statementsFor({ resource, way: {}, ids: "shared", version: "v1p2" }, selection);
      const whole = once + lengths[name] * (name === "enrollments" ? 22 : 30);
      // The ids of few people are sorted for each page.
      const beside = name === "users" ? 8 * perSchool : 0;
      await check("first page", make({}), "page", once + given.limit * perItem + beside);
      await check("next page", make({}), "nextPage", once + given.limit * perItem + beside);
      await check("far page", make({}), "anyPage", whole, Math.max(0, lengths[name] - given.limit));
      await check("count", make({}), "count", whole);
      for (const [what, selection] of Object.entries(found)) {
        const most = name === "users" || name === "enrollments" ? once + 30 * perGroup : whole;
        await check(what, make(selection), "anyPage", most);
        await check(`count of ${what}`, make(selection), "count", most);
      }
      const changes = make(selections["dateLastModified"]!);
      await check("next page of changes", changes, "nextPage", once + given.limit * perItem + beside);
      const ofRole = rolesOf[name];
      const all = { ...selections, ...(ofRole !== undefined && { role: ofRole }) };
      for (const [what, selection] of Object.entries(all)) {
        // The changes are read beside the list.
        const most = whole + (what === "dateLastModified" ? 24 * (manyChanges + size.people) : 0);
        await check(what, make(selection), "anyPage", most);
        await check(`count of ${what}`, make(selection), "count", most);
      }
    }
  } finally {
    client.release(true);
  }
  return faults;
}

const beliefs = {
  "nobody ever counted": () =>
    setKnownRows(db, ["person", "membership", "affiliation", "group", "synced_group", "grant"], "never"),
  "everything was counted": () => db.pool.query("ANALYZE"),
};

test.each(Object.keys(beliefs) as (keyof typeof beliefs)[])(
  "where %s, lists of OneRoster read by what they are",
  async (belief) => {
    await beliefs[belief]();
    const faults = [...(await findFaults("force_custom_plan")), ...(await findFaults("force_generic_plan"))];
    expect(faults).toEqual([]);
  },
);

test("a walk over many changes has the records of the whole list of changes, in its order", async () => {
  const client = await db.pool.connect();
  try {
    await client.query(readSettings);
    for (const resource of [users, enrollments]) {
      const make = (selection: Selection) =>
        statementsFor({ resource, way: {}, ids: "shared", version: "v1p2" }, selection);
      const statements = make({ filter: "dateLastModified>'2027-01-01'" });
      const memory = makeListMemory();
      const read = (limit: number, offset: number, kept = memory) =>
        readPage(client, kept, {
          statements,
          values: { ...given, ...statements.values, limit, offset },
          list: "",
          version: "",
        });
      const whole = await read(given.limit, 0, makeListMemory());
      const pages = [await read(1, 0)];
      for (let offset = 1; offset < given.limit; offset++) pages.push(await read(1, offset));
      expect(pages.map(({ items }) => items).join()).toBe(whole.items);
      const everything = { statements: make({}), values: { ...given, offset: 0 }, list: "", version: "" };
      const { total } = await readPage(client, makeListMemory(), everything);
      expect([whole.total, ...pages.map((page) => page.total)]).toEqual([...Array(given.limit + 1)].map(() => total));
    }
  } finally {
    client.release(true);
  }
});
