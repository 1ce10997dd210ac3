import { joinRetention, type SchoolId } from "../directory/index.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import type { Db } from "../platform/database/db.ts";
import { makeFind, run, statement, table } from "../platform/database/sql.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import { givenAt, type Params, type RetentionRules } from "./due.ts";

const s = table("school", "s");
const own = table("retentionPolicy", "own");
const ofState = table("retentionPolicy", "of_state");

const findShorter = makeFind<{ schoolId: SchoolId; auditDays: number }, Params>()`
  SELECT ${s.id} AS "schoolId", retention."auditDays" FROM ${s} ${joinRetention}
  WHERE (${own.auditDays} IS NOT NULL OR ${ofState.auditDays} IS NOT NULL)
    AND retention."auditDays" < ${"auditDays"}::int`;

// A day of a school at a time, found by index.
const deleteDay = (name: "audit" | "personImport") => {
  const [old, first] = [table(name, "old"), table(name, "first")];
  return statement<{ schoolId: SchoolId; before: Date }>(`retention.sweep_${name}`)`
    DELETE FROM ${old} USING (
      SELECT min(${first.at}) AS at FROM ${first} WHERE ${first.schoolId} = ${"schoolId"}
        AND ${first.at} < ${"before"}) AS oldest
    WHERE ${old.schoolId} = ${"schoolId"} AND ${old.at} >= oldest.at AND ${old.at} < ${"before"}
      AND ${old.at} < oldest.at + interval '1 day'`;
};
const deletions = [deleteDay("audit"), deleteDay("personImport")];

type Deps = { db: Db; clock: Clock; rules: Pick<RetentionRules, "defaults"> };

/** Deletes the audit log, and what imports did to people, of schools that keep both for less than the service does. */
export const makeSchoolAuditSweep = ({ db, clock, rules }: Deps): WorkerJob => ({
  name: "retention.sweepAudit",
  everySeconds: 3600,
  async run(signal) {
    const shorter = await findShorter(db.pool, givenAt(rules, clock()));
    for (const { schoolId, auditDays } of shorter) {
      const slice = { schoolId, before: addDays(clock(), -auditDays) };
      for (const deletion of deletions)
        for (let deleted = 1; deleted > 0 && !signal.aborted;) deleted = await run(db.pool, deletion, slice);
    }
  },
});
