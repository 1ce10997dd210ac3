// @module-tag slow
import { expect, test } from "vitest";
import { findDifference } from "../../src/imports/difference/difference.ts";
import { listGroupChanges } from "../../src/imports/difference/listed-groups.ts";
import { countLists, listPeopleOfImport } from "../../src/imports/difference/listed-people.ts";
import { listGroupMoves, listLookAlikes } from "../../src/imports/difference/look-alikes.ts";
import { makePart } from "../../src/imports/state/record.ts";
import { withPrismaTransaction, type Transaction } from "../../src/platform/database/db.ts";
import { testDatabase } from "../support/database.ts";
import { countRead, type Plan } from "../support/explain.ts";
import { makeMakers } from "../support/make.ts";
import { makeImporter, now } from "./rosters.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { run, preview } = makeImporter(db);

const people = 600;
const classes = 60;
/** A roster of people who are in one class and two courses; `year` gives the classes other ids. */
const rosterOf = (first: number, year: number): string => {
  const rows = Array.from({ length: people }, (_, at) => {
    const n = first + at;
    return `${n};student;Vor;Nach${n};${year}-${n % classes};k${n % 30},k${(n + 7) % 30}`;
  });
  return ["id;role;first_name;last_name;classes;courses", ...rows, ""].join("\n");
};

type Asked = string | { text: string; values?: unknown[] };
const explained = "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)";

/** A transaction that adds up what its statements on temporary tables look at, each before it runs. */
function measure(tx: Transaction, looked: [rows: number, text: string][]): Transaction {
  const query = async (asked: Asked, values?: unknown[]) => {
    const { text, ...rest } = typeof asked === "string" ? { text: asked } : asked;
    if (/^\s*(WITH|INSERT|UPDATE|SELECT)\b/.test(text) && text.includes("import_")) {
      await tx.query("SAVEPOINT before");
      const given = "values" in rest ? rest.values : values;
      const { rows } = await tx.query<{ "QUERY PLAN": { Plan: Plan }[] }>(`${explained} ${text}`, given);
      looked.push([countRead(rows[0]!["QUERY PLAN"][0]!.Plan), text]);
      await tx.query("ROLLBACK TO before");
    }
    return tx.query(asked as string, values);
  };
  return Object.assign(Object.create(tx) as Transaction, { query });
}

test("what the difference and its lists look at grows with the people, and not with people times groups", async () => {
  const school = await make.school();
  await run(rosterOf(0, 1), { school });
  const record = await preview(rosterOf(30, 2), { school });
  const looked: [rows: number, text: string][] = [];
  await withPrismaTransaction(db, async (tx) => {
    const measured = measure(tx, looked);
    await findDifference(measured, makePart(record, school, now));
    const leaving = { schoolId: school, kind: "LEAVING" as const, limit: 1000 };
    expect(await listPeopleOfImport(measured, leaving)).toHaveLength(30);
    expect(await countLists(measured, { schoolId: school })).toMatchObject({ losingClasses: classes });
    expect(await listGroupChanges(measured, { schoolId: school, limit: 1000 })).toHaveLength(2 * classes + 30);
    expect(await listGroupMoves(measured, { schoolId: school })).toHaveLength(classes);
    expect(await listLookAlikes(measured, school)).toEqual([]);
  });
  expect(looked.length).toBeGreaterThan(9);
  const memberships = 3 * people;
  for (const [rows, text] of looked) expect(rows, text).toBeLessThan(25 * memberships);
});
