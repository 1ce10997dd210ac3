import type { SchoolId } from "../directory/index.ts";
import { appendAppEvents } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
import { takeAnnounced } from "./announced.ts";
import { selectDifference } from "./view-difference.ts";
import { selectOtherUsers, selectPairs, selectSights, selectSightsOf, selectSynced, sightColumns } from "./view.ts";
import type { Sight } from "./view.ts";

export type BulkNotes = Awaited<ReturnType<typeof makeBulkNotes>>;

const createTables = `
  SET LOCAL statement_timeout = '15min';
  SET LOCAL work_mem = '64MB';
  CREATE TEMPORARY TABLE change_subject (type text, id uuid, client_id text, round int, PRIMARY KEY (type, id, client_id)) ON COMMIT DROP;
  CREATE TEMPORARY TABLE change_looked_at (type text, id uuid, client_id text) ON COMMIT DROP;
  CREATE TEMPORARY TABLE change_pair (client_id text, person_id uuid) ON COMMIT DROP;
  CREATE TEMPORARY TABLE change_synced (client_id text, person_id uuid, is_synced boolean) ON COMMIT DROP;
  CREATE TEMPORARY TABLE change_known (client_id text, person_id uuid, is_synced boolean) ON COMMIT DROP;
  CREATE TEMPORARY TABLE change_before (${sightColumns}) ON COMMIT DROP;
  CREATE TEMPORARY TABLE change_after (${sightColumns}) ON COMMIT DROP`;

// A subject that is noted for every app needs no note for one.
const insertSubjects = (from: string, round: number) => `
  INSERT INTO change_subject (type, id, client_id, round)
  SELECT DISTINCT n.type, n.id, n.client_id, ${round} FROM ${from} AS n (type, id, client_id)
  WHERE NOT EXISTS (SELECT FROM change_subject o WHERE o.type = n.type AND o.id = n.id AND o.client_id IN ('', n.client_id))`;

const wholeSchool = `(
  SELECT 'school', $1::uuid, $2::text
  UNION ALL SELECT 'group', g.id, $2 FROM "group" g WHERE g.school_id = $1
  UNION ALL SELECT 'person', a.person_id, $2 FROM affiliation a WHERE a.school_id = $1)`;

// What one app saw may have been noted in an earlier round.
const unlessNoted = (sights: string, round: number) => `
  SELECT seen.* FROM (${sights}) AS seen
  WHERE NOT EXISTS (
    SELECT FROM change_subject o
    WHERE o.type = seen.type AND o.id = seen.subject_id AND o.client_id = seen.client_id AND o.round < ${round})`;
const ofRound = (round: number) => `SELECT type, id, client_id FROM change_subject WHERE round = ${round}`;
const widest = `
  SELECT type, id, client_id FROM change_subject t
  WHERE client_id = '' OR NOT EXISTS (SELECT FROM change_subject o WHERE o.type = t.type AND o.id = t.id AND o.client_id = '')`;

// Each step is planned for what the one before it left: a guess would join hundreds of thousands of rows one by one.
const lookAt = (subjects: string) => [
  "TRUNCATE change_looked_at, change_pair, change_synced, change_known",
  `INSERT INTO change_looked_at ${subjects}`,
  "ANALYZE change_looked_at",
  `INSERT INTO change_pair ${selectPairs("change_looked_at")}`,
  "ANALYZE change_pair",
  `INSERT INTO change_synced ${selectSynced("change_pair")}`,
  "ANALYZE change_synced",
  // From a table of its own: one that is looked through while it is filled is looked through again and again.
  `INSERT INTO change_known SELECT * FROM change_synced UNION ALL ${selectOtherUsers("change_pair", "change_synced")}`,
  "ANALYZE change_known",
];
const sightsOfAll = selectSightsOf("change_known", "change_looked_at");
const bulkDifference = selectDifference("change_before", "change_after");

const noteSights = `
  INSERT INTO change_before SELECT * FROM jsonb_to_recordset($1::jsonb) AS b (${sightColumns})
  WHERE NOT EXISTS (
    SELECT FROM change_before o WHERE o.type = b.type AND o.subject_id = b.subject_id AND o.client_id = b.client_id)`;

/** Makes the tables of a large change, with what was noted so far. Their statements are planned for what the tables hold. */
export async function makeBulkNotes(
  tx: Queryable,
  before: readonly Sight[],
  noted: { from: string; values: unknown[] },
) {
  await tx.query(createTables);
  await tx.query(insertSubjects(noted.from, 0), noted.values);
  await tx.query(noteSights, [JSON.stringify(before)]);
  const schools = new Map<string, [SchoolId, string]>();
  let round = 0;

  return {
    async note(from: string, values: unknown[]): Promise<void> {
      round += 1;
      await tx.query(insertSubjects(from, round), values);
      const sights = selectSights(`(${ofRound(round)})`);
      await tx.query(`INSERT INTO change_before ${unlessNoted(sights, round)}`);
    },
    /** Once, and before anything is altered: who comes later was not seen. */
    async noteSchool(school: SchoolId, client: string): Promise<void> {
      if (schools.has(school) || schools.has(`${school} ${client}`)) return;
      schools.set(client === "" ? school : `${school} ${client}`, [school, client]);
      round += 1;
      await tx.query(insertSubjects(wholeSchool, round), [school, client]);
      await tx.query("ANALYZE change_subject");
      await runAll(tx, lookAt(ofRound(round)));
      await tx.query(`INSERT INTO change_before ${unlessNoted(sightsOfAll, round)}`);
    },
    /** What apps saw of those who signed in for the first time. */
    async takeAnnounced(): Promise<Sight[]> {
      return (await tx.query<Sight>(takeAnnounced(`(${widest})`))).rows;
    },
    /** Tells of everything noted, of what was `announced` meanwhile, and of whoever came to a whole school; answers the number of events. */
    async tell(now: Date, announced: readonly Sight[]): Promise<number> {
      await tx.query(noteSights, [JSON.stringify(announced)]);
      for (const values of schools.values()) await tx.query(insertSubjects(wholeSchool, round + 1), values);
      await runAll(tx, [
        "ANALYZE change_subject",
        ...lookAt(widest),
        `INSERT INTO change_after ${sightsOfAll}`,
        "ANALYZE change_before",
        "ANALYZE change_after",
      ]);
      const { rows } = await tx.query<{ events: number }>(appendAppEvents(bulkDifference), [now]);
      return rows[0]!.events;
    },
  };
}

async function runAll(tx: Queryable, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await tx.query(statement);
}
