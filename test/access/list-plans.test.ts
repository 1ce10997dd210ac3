// @module-tag slow
// @module-tag every-postgresql
import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import type { ClientId, NamesRead } from "../../src/access/index.ts";
import { openShares, readSettings, type DatabaseShares } from "../../src/platform/database/shares.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { countRead, explainPrepared, type Plan } from "../support/explain.ts";
import { fillDatabase, filledApps, findFilled, groupsPerPerson } from "../support/fill.ts";
import { bind, listsOf, recordsOf, rosterOf, type List, type Versioned } from "../support/lists.ts";
import { makeMakers } from "../support/make.ts";
import { setKnownRows } from "../support/statistics.ts";

// How much a list reads depends on what it returns, not on how many other rows there are, nor on what PostgreSQL
// believes of the tables.
// LIST_PEOPLE=1000000 fills that many people instead; give vitest --testTimeout=0 --hookTimeout=0 then.

const asked = process.env["LIST_PEOPLE"] ?? null;
const sizes = [asked === null ? 3000 : Number(asked)];
const perSchool = 250;
const pageSize = 10;

type Mode = "force_custom_plan" | "force_generic_plan";
type Reader = { clientId: ClientId; namesRead: NamesRead; mode: Mode };
const everyReader = [filledApps.few, filledApps.byGroups, filledApps.everywhere].flatMap((clientId) =>
  (["all", "some", "none"] as const).flatMap((namesRead): Reader[] =>
    (["force_custom_plan", "force_generic_plan"] as const).map((mode) => ({ clientId, namesRead, mode })),
  ),
);
/** Of each app, of each way to read names and of each mode some. */
const readers = everyReader.filter((_, at) => at % 5 === 0);

const fill = (db: TestDatabase, people: number) =>
  fillDatabase(db, { schools: Math.max(2, people / perSchool), people }, { analyze: false });

async function makeTinySchool(db: TestDatabase): Promise<void> {
  const make = makeMakers(db);
  const school = await make.school();
  const groups = [await make.group({ school }), await make.group({ school })];
  for (let n = 0; n < 10; n++) await make.person({ school, groups, sourceSystemIdentifier: `tiny-${n}` });
  await make.grant({ app: (await make.app()).clientId, school, groups });
}

type Statement = { text: string; values: unknown[] };

const pagesOf = (plan: Plan): number => (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);

type Cost = { items: number; rows: number; pages: number; isSortedAtEnd: boolean };

/** Answers the items, and what was read for them. */
async function measurePrepared(client: pg.ClientBase, name: string, values: readonly unknown[]): Promise<Cost> {
  const plan = await explainPrepared(client, name, { values, options: "ANALYZE, BUFFERS, TIMING off" });
  return {
    items: plan["Actual Rows"]!,
    rows: countRead(plan),
    pages: pagesOf(plan),
    isSortedAtEnd: plan["Node Type"].includes("Sort"),
  };
}

async function measure(client: pg.ClientBase, { text, values }: Statement): Promise<Cost> {
  await client.query(`PREPARE measured AS ${text}`);
  const cost = await measurePrepared(client, "measured", values);
  await client.query("DEALLOCATE measured");
  return cost;
}

/** A session with the settings of those that read, as the service has them. */
async function withReader<T>(db: TestDatabase, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await db.pool.connect();
  try {
    await client.query(`${readSettings}; SET statement_timeout = 0`);
    return await work(client);
  } finally {
    client.release(true);
  }
}

// Of one item, with its groups and schools, and of a statement by itself. A list of everybody looks at a sample of
// this many first.
const perItem = { rows: 150, pages: 400 };
const once = { rows: 1000, pages: 2000 };
const sampled = 10_000;

/** The last step of a list of many must not be to sort it: nothing would come before everything is read. */
function findFault(what: string, { items, rows, pages, isSortedAtEnd }: Cost, beside = 0): string[] {
  if (isSortedAtEnd && items > 1) return [`${what}: sorted at the end`];
  const isTooMuch =
    rows > once.rows + items * perItem.rows + beside * 10 || pages > once.pages + items * perItem.pages + beside * 10;
  return isTooMuch ? [`${what}: ${items} items from ${rows} rows on ${pages} pages`] : [];
}

const firstPage = ({ query, given }: List): Statement => bind(query.page, { ...given, limit: pageSize });
const nextPage = ({ query, given }: List): Statement =>
  bind(query.nextPage, {
    ...given,
    limit: pageSize,
    afterSortKey: "5",
    afterId: "55555555-5555-5555-5555-555555555555",
  });
const hasPages = ({ label }: List): boolean =>
  ["schools", "groups", "groups with deleted", "people", "people with deleted", "users"].includes(label);

/** The groups of a roster have all their members. */
const partsOf = ({ query, given }: Versioned) =>
  query.parts.map(({ rows }) => ({
    what: rows.name,
    ...bind(rows, given),
    beside: rows.name.endsWith("_groups_rows") ? groupsPerPerson * perSchool : 0,
  }));

async function findFaults(db: TestDatabase, { clientId, namesRead, mode }: Reader): Promise<string[]> {
  const { school, group, person } = await findFilled(db, 0);
  const { rows } = await db.pool.query<{ id: string }>("SELECT id FROM affiliation WHERE person_id = $1", [person]);
  const lists = listsOf({ clientId, namesRead, school, group, person, affiliation: rows[0]!.id });
  const faults: string[] = [];
  await withReader(db, async (client) => {
    await client.query(`SET plan_cache_mode = ${mode}`);
    const check = async (what: string, statement: Statement, beside = 0) => {
      faults.push(...findFault(what, await measure(client, statement), beside));
    };
    for (const list of lists) {
      const everybody = list.label === "personen-info" || list.label === "vollstaendig";
      const items = bind(list.query.parts[0]!.rows, list.given);
      await check(list.label, items, everybody ? sampled : 0);
      if (everybody)
        await check(
          `${list.label}, begun`,
          { ...items, text: `SELECT * FROM (${items.text}) AS begun LIMIT 100` },
          sampled,
        );
      const grants = everybody
        ? (await client.query(`SELECT FROM "grant" WHERE client_id = $1`, [clientId])).rowCount!
        : 0;
      await check(`version of ${list.label}`, bind(list.query.version, list.given), grants);
      if (!hasPages(list)) continue;
      // In the order of ids, those of the whole school are sorted for each page.
      const beside = namesRead === "all" || list.label === "schools" ? 0 : perSchool;
      await check(`page of ${list.label}`, firstPage(list), beside);
      await check(`next page of ${list.label}`, nextPage(list), beside);
    }
    const roster = rosterOf({ clientId, namesRead, school });
    await check("version of the roster", bind(roster.query.version, roster.given));
    for (const { what, beside, ...statement } of partsOf(roster)) await check(what, statement, beside);
    for (const [name, statement] of Object.entries(recordsOf({ clientId, school, group, person })))
      await check(`one ${name}`, statement, name === "group" ? 300 : 0);
  });
  return faults;
}

/** Everybody that the app may see, by person. */
async function listPids(db: TestDatabase, clientId: ClientId): Promise<string[]> {
  const list = listsOf({ clientId }).find(({ label }) => label === "personen-info")!;
  return withReader(db, async (client) => {
    const { rows } = await client.query<{ item: string }>(bind(list.query.parts[0]!.rows, list.given));
    return rows.map(({ item }) => (JSON.parse(item) as { pid: string }).pid);
  });
}

const inOrder = `
  SELECT p.id FROM person p WHERE EXISTS (
    SELECT FROM membership m JOIN "group" g ON g.id = m.group_id AND g.status = 'ACTIVE' JOIN synced_group s ON s.group_id = g.id
    WHERE m.person_id = p.id AND s.client_id = $1)
  ORDER BY p.sort_key, p.id`;

test("the connections that read have these settings, and no others", async () => {
  const { url } = await testDatabase();
  const shares = openShares({ url, poolSize: 20, role: "all" });
  for (const [name, { pool }] of Object.entries(poolsByName(shares))) {
    const { rows } = await pool.query<{ enable_seqscan: string }>("SHOW enable_seqscan");
    expect(rows[0]!.enable_seqscan, name).toBe(name === "reads" ? "off" : "on");
  }
  await shares.close();
});
const poolsByName = ({ reads, changes, signOn, jobs }: DatabaseShares) => ({ reads, changes, signOn, jobs });

type Prepared = Statement & { name: string; what: string; beside: number };

/** Every statement of the app that sees few, prepared in a session that keeps its plans. */
async function prepareAll(db: TestDatabase, client: pg.ClientBase): Promise<Prepared[]> {
  const { school, group, person } = await findFilled(db, 0);
  const found = { clientId: filledApps.few, school, group, person };
  const lists = listsOf(found).flatMap((list) => [
    {
      what: list.label,
      ...bind(list.query.parts[0]!.rows, list.given),
      beside: ["personen-info", "vollstaendig"].includes(list.label) ? sampled : 0,
    },
    ...(hasPages(list) ? [{ what: `page of ${list.label}`, ...firstPage(list), beside: 0 }] : []),
  ]);
  const records = Object.entries(recordsOf(found)).map(([what, statement]) => ({
    what,
    ...statement,
    beside: what === "group" ? 300 : 0,
  }));
  const kept = [...lists, ...partsOf(rosterOf(found)), ...records].map((statement, n) => ({
    ...statement,
    name: `kept_${n}`,
  }));
  await client.query("SET plan_cache_mode = force_generic_plan");
  for (const { name, text, values } of kept) {
    await client.query(`PREPARE ${name} AS ${text}`);
    await measurePrepared(client, name, values);
  }
  return kept;
}

/** What PostgreSQL may believe of a world that was filled after a tiny school had been counted. */
const beliefs: Record<string, (db: TestDatabase) => Promise<unknown>> = {
  "a tiny school was counted, and then no more": () => Promise.resolve(),
  "nobody ever counted": async (db) => {
    const { rows } = await db.pool.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace",
    );
    await setKnownRows(
      db,
      rows.map(({ name }) => name),
      "never",
    );
  },
  "everything was counted": (db) => db.pool.query("SET statement_timeout = 0; ANALYZE; RESET statement_timeout"),
};

describe.each(sizes)("with %i people", (people) => {
  let db: TestDatabase;
  const faultsOfKept: string[] = [];

  beforeAll(async () => {
    db = await testDatabase();
    await makeTinySchool(db);
    await db.pool.query("ANALYZE");
    await withReader(db, async (client) => {
      const kept = await prepareAll(db, client);
      await fill(db, people);
      for (const { what, name, values, beside } of kept)
        faultsOfKept.push(...findFault(what, await measurePrepared(client, name, values), beside));
    });
  });

  test("a plan that a session keeps since there were ten people still reads by what is returned", () => {
    expect(faultsOfKept).toEqual([]);
  });

  test.each(Object.keys(beliefs))("where %s, each app reads by what is returned", async (belief) => {
    await beliefs[belief]!(db);
    const faults: Record<string, string[]> = {};
    for (const reader of readers) {
      const found = await findFaults(db, reader);
      if (found.length > 0) faults[Object.values(reader).join()] = found;
    }
    expect(faults).toEqual({});
  });

  test("the list of everybody has each person once, in order", async () => {
    for (const clientId of [filledApps.few, filledApps.everywhere]) {
      const { rows } = await db.pool.query<{ id: string }>(inOrder, [clientId]);
      expect(await listPids(db, clientId)).toEqual(rows.map(({ id }) => id));
    }
  });
});
