import type { SchoolId } from "../../directory/index.ts";
import { findRows, join, run, sql, statement, table, temporaryTable } from "../../platform/database/sql.ts";
import { analyzeFilled } from "../../platform/database/statistics.ts";
import { currentTraceparent } from "../../platform/telemetry/tracing/index.ts";
import type { Queryable, Sql, Statement, Value } from "../../platform/database/sql.ts";
import { takeAnnounced } from "./announced.ts";
import { appendChange } from "./diff.ts";
import { keepSeen } from "./seen.ts";
import {
  selectOtherUsers,
  selectPairs,
  selectSnapshot,
  selectSnapshotOf,
  selectSynced,
  snapshotRecord,
  snapshotTypes,
  fromSubjects,
  valuesOf,
} from "./snapshot.ts";
import type { SnapshotRow, SnapshotStore, Subject, SubjectValues } from "./snapshot.ts";

const subjectTypes = { type: "text", id: "uuid", client_id: "text" };
const pairTypes = { client_id: "text", person_id: "uuid" };

const subject = temporaryTable("change_subject", { ...subjectTypes, round: "int" }, ["type", "id", "client_id"]);
const lookedAt = temporaryTable("change_looked_at", subjectTypes);
const pair = temporaryTable("change_pair", pairTypes);
const synced = temporaryTable("change_synced", { ...pairTypes, is_synced: "boolean" });
const known = temporaryTable("change_known", { ...pairTypes, is_synced: "boolean" });
const before = temporaryTable("change_before", snapshotTypes);
const after = temporaryTable("change_after", snapshotTypes);

const settings = [sql`SET LOCAL statement_timeout = '15min'`, sql`SET LOCAL work_mem = '64MB'`];
const tables = [subject, lookedAt, pair, synced, known, before, after].map(({ create }) => create);
const prepare = statement(() => join([...settings, ...tables], ";\n"));

const t = subject.as("t");
const o = subject.as("o");
const b = before.as("o");

const insertSubjects = (from: Sql, round: number): Sql => sql`
  INSERT INTO ${subject.as()} (type, id, client_id, round)
  SELECT DISTINCT n.type, n.id, n.client_id, ${round} FROM ${from} AS n (type, id, client_id)
  WHERE NOT EXISTS (
    SELECT FROM ${o} WHERE ${o.type} = n.type AND ${o.id} = n.id AND ${o.client_id} IN ('', n.client_id))`;

type School = { school: SchoolId; client: string };
const g = table("group", "g");
const a = table("affiliation", "a");
const wholeSchool = (school: Value, client: Value): Sql => sql`(
  SELECT 'school', ${school}::uuid, ${client}::text
  UNION ALL SELECT 'group', ${g.id}, ${client} FROM ${g} WHERE ${g.schoolId} = ${school}
  UNION ALL SELECT 'person', ${a.personId}, ${client} FROM ${a} WHERE ${a.schoolId} = ${school})`;
const insertSchool = (round: number): Statement<School> =>
  statement((values) => insertSubjects(wholeSchool(values.school, values.client), round));

const unlessAdded = (snapshot: Sql, round: number): Sql => sql`
  SELECT seen.* FROM (${snapshot}) AS seen
  WHERE NOT EXISTS (
    SELECT FROM ${o}
    WHERE ${o.type} = seen.type AND ${o.id} = seen.subject_id AND ${o.client_id} = seen.client_id
      AND ${o.round} < ${round})`;
const ofRound = (round: number): Sql =>
  sql`SELECT ${t.type}, ${t.id}, ${t.client_id} FROM ${t} WHERE ${t.round} = ${round}`;
const widest = sql`
  SELECT ${t.type}, ${t.id}, ${t.client_id} FROM ${t}
  WHERE ${t.client_id} = ''
    OR NOT EXISTS (SELECT FROM ${o} WHERE ${o.type} = ${t.type} AND ${o.id} = ${t.id} AND ${o.client_id} = '')`;

const lookAt = (subjects: Sql): Sql[] => [
  sql`TRUNCATE ${lookedAt.as()}, ${pair.as()}, ${synced.as()}, ${known.as()}`,
  sql`INSERT INTO ${lookedAt.as()} ${subjects}`,
  sql`ANALYZE ${lookedAt.as()}`,
  sql`INSERT INTO ${pair.as()} ${selectPairs(lookedAt.as())}`,
  sql`ANALYZE ${pair.as()}`,
  sql`INSERT INTO ${synced.as()} ${selectSynced(pair.as())}`,
  sql`ANALYZE ${synced.as()}`,
  // Not from the table that is being filled: that would be scanned again for each row.
  sql`INSERT INTO ${known.as()} SELECT * FROM ${synced.as()} UNION ALL ${selectOtherUsers(pair.as(), synced.as())}`,
  sql`ANALYZE ${known.as()}`,
];
const snapshotOfAll = selectSnapshotOf(known.as(), lookedAt.as());

const addRows = statement<{ rows: string }>()`
  INSERT INTO ${before.as()} SELECT * FROM jsonb_to_recordset(${"rows"}::jsonb) AS b (${snapshotRecord})
  WHERE NOT EXISTS (
    SELECT FROM ${b} WHERE ${b.type} = b.type AND ${b.subject_id} = b.subject_id AND ${b.client_id} = b.client_id)`;
const takeAll = statement(() => takeAnnounced(sql`(${widest})`));
const keepAll = statement(() => keepSeen({ subject: sql`${subject.as()}`, before: sql`${before.as()}` }));
const emitAll = statement<{ now: Date; traceparent: string | null }>(({ now, traceparent }) =>
  appendChange(
    { before: sql`${before.as()}`, after: sql`${after.as()}`, ctes: [] },
    { now, traceparent, by: "change" },
  ),
);

export type TableStore = SnapshotStore & {
  addSchool(school: SchoolId, client: string): Promise<void>;
};

/** Temporary tables for a large change, starting with the content of `small`; statements are planned for their size. */
export async function makeTableStore(
  tx: Queryable,
  small: { subjects: readonly Subject[]; before: readonly SnapshotRow[] },
): Promise<TableStore> {
  const schools = new Map<string, School>();
  let round = 0;
  const insertListed = (subjects: readonly Subject[]) => {
    const insertRound = statement<SubjectValues>((values) => insertSubjects(fromSubjects(values), round));
    return run(tx, insertRound, valuesOf(subjects));
  };

  await run(tx, prepare, {});
  await insertListed(small.subjects);
  await run(tx, addRows, { rows: JSON.stringify(small.before) });

  return {
    async add(subjects) {
      round += 1;
      await insertListed(subjects);
      const snapshot = selectSnapshot(sql`(${ofRound(round)})`);
      await runAll(tx, [sql`INSERT INTO ${before.as()} ${unlessAdded(snapshot, round)}`]);
    },
    async addSchool(school, client) {
      if (schools.has(school) || schools.has(`${school} ${client}`)) return;
      schools.set(client === "" ? school : `${school} ${client}`, { school, client });
      round += 1;
      await run(tx, insertSchool(round), { school, client });
      await runAll(tx, [
        sql`ANALYZE ${subject.as()}`,
        ...lookAt(ofRound(round)),
        sql`INSERT INTO ${before.as()} ${unlessAdded(snapshotOfAll, round)}`,
      ]);
    },
    async keepSeen() {
      await analyzeFilled(tx);
      await runAll(tx, [sql`ANALYZE ${before.as()}`]);
      await run(tx, keepAll, {});
    },
    takeAnnounced: () => findRows<SnapshotRow>(tx, takeAll, {}),
    async emit(now, announced) {
      await run(tx, addRows, { rows: JSON.stringify(announced) });
      for (const school of schools.values()) await run(tx, insertSchool(round + 1), school);
      await runAll(tx, [
        sql`ANALYZE ${subject.as()}`,
        ...lookAt(widest),
        sql`INSERT INTO ${after.as()} ${snapshotOfAll}`,
        sql`ANALYZE ${after.as()}`,
      ]);
      const values = { now, traceparent: currentTraceparent() };
      const [row] = await findRows<{ events: number }, typeof values>(tx, emitAll, values);
      return row!.events;
    },
  };
}

async function runAll(tx: Queryable, statements: readonly Sql[]): Promise<void> {
  for (const query of statements) {
    const unnamed = statement(() => query);
    await run(tx, unnamed, {});
  }
}
