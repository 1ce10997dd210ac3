import { changeDirectory } from "../access/index.ts";
import { joinRetention, softDeletePerson, type Change, type PersonId, type SchoolId } from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import { withPrismaTransaction, type PrismaDb, type RecordStore, type Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { workInBatches } from "../platform/jobs/batches.ts";
import { fields, insert, makeFind, makeRun, sql, table, update } from "../platform/database/sql.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import { countDue, findDue, givenAt, isUnusual, listDue } from "./due.ts";
import type { DuePerson, Params, RetentionRules } from "./due.ts";
import { lockExemption } from "./exemption.ts";

/** How long a process works on a school before another one may; a crash costs this time. */
const leaseMinutes = 15;

const s = table("school", "s");
const k = table("retentionCheck", "k");
const next = table("retentionCheck", "next");

// Schools that were made since, or got a policy of their state; leavers and a policy of its own note a school at once.
const insertChecks = makeRun<Params>(
  (params) => sql`
  ${insert(
    "retentionCheck",
    { schoolId: s.id, checkAt: params.now },
    sql`FROM ${s} ${joinRetention(params)}
      WHERE ${s.sandboxId} IS NULL AND retention."inactiveMonths" > 0
        AND NOT EXISTS (SELECT FROM ${k} WHERE ${k.schoolId} = ${s.id})`,
  )} ON CONFLICT DO NOTHING`,
  "retention.insertChecks",
);

const claim = makeFind<Claimed, { now: Date }>(
  ({ now }) => sql`
  ${update("retentionCheck", "k", { checkAt: sql`${now}::timestamptz + make_interval(mins => ${leaseMinutes})` })}
  WHERE ${k.schoolId} = (
    SELECT ${next.schoolId} FROM ${next} WHERE ${next.checkAt} <= ${now} ORDER BY ${next.checkAt} LIMIT 1
    FOR UPDATE SKIP LOCKED)
  RETURNING ${fields<Claimed>({ schoolId: k.schoolId, heldAt: k.heldAt, releasedPeople: k.releasedPeople })}`,
  "retention.claim",
);

type Claimed = { schoolId: SchoolId; heldAt: Date | null; releasedPeople: number | null };
type Deps = { db: PrismaDb; clock: Clock; rules: RetentionRules; batchSize?: number };
type Failed = Map<PersonId, unknown>;

/**
 * Once a day, soft-deletes the people whose time at a school is over, in one change each, so that others wait briefly
 * and a crash loses nothing. A school for which a run would be unusual is held. Failures are collected in an
 * AggregateError and tried again the next day.
 */
export function makeRetentionJob({ batchSize = 100, ...deps }: Deps): WorkerJob {
  const { db, clock, rules } = deps;
  let noted: Date | null = null;
  return {
    name: "retention.softDelete",
    everySeconds: 300,
    async run(signal) {
      const failed: Failed = new Map();
      if (noted === null || clock() >= addDays(noted, 1)) {
        await insertChecks(db.pool, givenAt(rules, clock()));
        noted = clock();
      }
      while (!signal.aborted) {
        const [school] = await claim(db.pool, { now: clock() });
        if (school === undefined) break;
        const outcome = await checkSchool(deps, school);
        if (outcome === "due") await applyAt({ ...deps, batchSize }, school, { signal, failed });
        if (outcome !== "held" && !signal.aborted) await finish(deps, school);
      }
      const people = failed.size === 1 ? "1 person" : `${failed.size} people`;
      if (failed.size > 0) throw new AggregateError(failed.values(), `${people} could not be soft-deleted`);
    },
  };
}

/** Holds the school if the run would be unusual. */
async function checkSchool({ db, clock, rules }: Deps, school: Claimed): Promise<"nobody" | "due" | "held"> {
  const { schoolId, heldAt } = school;
  const now = clock();
  const [counts] = await countDue(db.pool, givenAt(rules, now), { schoolIds: [schoolId], until: now });
  const { due, people } = counts!;
  if (due === 0) return "nobody";
  if (!isUnusual(rules.hold, due, people) || due <= (school.releasedPeople ?? 0)) return "due";
  const data = { checkAt: addDays(now, 1), heldAt: heldAt ?? now, heldPeople: due, releasedPeople: null };
  await withPrismaTransaction(db, async (tx) => {
    await tx.prisma.retentionCheck.update({ where: { schoolId }, data });
    const line = { at: now, actorId: "retention", schoolId, detail: { people: due } };
    if (heldAt === null) await recordAudit(tx, { ...line, action: "retention_held" });
  });
  return "held";
}

async function finish({ db, clock }: Deps, { schoolId }: Claimed): Promise<void> {
  const data = { checkAt: addDays(clock(), 1), heldAt: null, heldPeople: null, releasedPeople: null };
  // A school may have been deleted meanwhile.
  await db.prisma.retentionCheck.updateMany({ where: { schoolId }, data });
}

async function applyAt(
  { db, clock, rules, batchSize }: Deps & { batchSize: number },
  { schoolId }: Claimed,
  { signal, failed }: { signal: AbortSignal; failed: Failed },
): Promise<void> {
  let last: DuePerson | undefined;
  const applySome = async () => {
    const page = { schoolIds: [schoolId], until: clock(), limit: batchSize, after: last };
    const people = await listDue(db.pool, givenAt(rules, clock()), page);
    last = people.at(-1);
    for (const { id } of people) {
      if (signal.aborted) return 0;
      const origin = { at: clock(), actorId: "retention" };
      const change = changeDirectory(db, origin, (made) => softDeleteIfDue(made, id, rules));
      await change.catch((error: unknown) => failed.set(id, error));
    }
    return people.length;
  };
  await workInBatches(signal, applySome, batchSize);
}

/** Asks again under the lock: meanwhile the policy was changed, or the person was kept, came back or signed in. */
async function softDeleteIfDue(change: Change, personId: PersonId, rules: RetentionRules): Promise<boolean> {
  await change.touch({ people: [personId] });
  await lockExemption(change.tx, personId);
  const due = await findDue(change.tx, givenAt(rules, change.now), personId);
  if (due === null || due.dueAt > change.now) return false;
  await softDeletePerson(change, { personId, restoreWindowDays: rules.defaults.restoreDays, retention: due.cause });
  return true;
}

/** A school whose retention waits for its staff, because a run would soft-delete unusually many. */
export type RetentionHold = { schoolId: SchoolId; schoolName: string; heldAt: Date; people: number };

export async function listRetentionHolds(
  { prisma }: RecordStore,
  schoolIds: readonly SchoolId[],
): Promise<RetentionHold[]> {
  const checks = await prisma.retentionCheck.findMany({
    where: { schoolId: { in: [...schoolIds] }, heldAt: { not: null } },
    include: { school: { select: { name: true } } },
    orderBy: [{ heldAt: "asc" }, { schoolId: "asc" }],
  });
  return checks.map(({ schoolId, school, heldAt, heldPeople }) => ({
    schoolId: schoolId as SchoolId,
    schoolName: school.name,
    heldAt: heldAt!,
    people: heldPeople!,
  }));
}

/** Lets the next run soft-delete so many people. Errors: conflict retention_not_held, retention_not_confirmed. */
export async function releaseRetention(
  tx: Transaction,
  { schoolId, people }: { schoolId: SchoolId; people: number },
  origin: Origin,
): Promise<void> {
  const [hold] = await listRetentionHolds(tx, [schoolId]);
  if (hold === undefined)
    throw new AppError("conflict", "retention_not_held", "The retention of the school is not held.");
  if (hold.people !== people)
    throw new AppError(
      "conflict",
      "retention_not_confirmed",
      "The number of people is another one now. Look at the list of them and confirm it.",
    );
  const data = { checkAt: origin.at, heldAt: null, heldPeople: null, releasedPeople: people };
  await tx.prisma.retentionCheck.update({ where: { schoolId }, data });
  await recordAudit(tx, { ...origin, action: "retention_released", schoolId, detail: { people } });
}
