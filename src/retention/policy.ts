import { previewChange } from "../access/index.ts";
import { checkLines, type RetentionDefaults, type RetentionStart, type SchoolId } from "../directory/index.ts";
import { type Origin, recordAudit } from "../events/index.ts";
import { addDays } from "../platform/clock.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { type PrismaDb, type RecordStore, type Transaction, withPrismaTransaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { longestReason } from "./exemption.ts";
import type { RetentionRules } from "./due.ts";

/** A school, or all schools of a state such as DE-NI. */
type RetentionSubject = { schoolId: SchoolId } | { state: string };

type Value = { value: number; reason: string };

/** The values that a school or state sets; null for those of the state or the service. */
export type RetentionPolicy = {
  leftMonths: (Value & { from: RetentionStart }) | null;
  inactiveMonths: (Value & { includesRoster: boolean }) | null;
  restoreDays: Value | null;
  auditDays: Value | null;
};

const none: RetentionPolicy = { leftMonths: null, inactiveMonths: null, restoreDays: null, auditDays: null };

const find = ({ prisma }: RecordStore, subject: RetentionSubject) =>
  prisma.retentionPolicy.findUnique({ where: subject as { schoolId: string } });

export async function findPolicy(db: RecordStore, subject: RetentionSubject): Promise<RetentionPolicy> {
  const row = await find(db, subject);
  if (row === null) return none;
  const valueOf = (value: number | null, reason: string | null): Value | null =>
    value === null || reason === null ? null : { value, reason };
  const [left, inactive] = [valueOf(row.leftMonths, row.leftReason), valueOf(row.inactiveMonths, row.inactiveReason)];
  return {
    leftMonths: left && { ...left, from: row.leftFrom! },
    inactiveMonths: inactive && { ...inactive, includesRoster: row.inactiveRoster! },
    restoreDays: valueOf(row.restoreDays, row.restoreReason),
    auditDays: valueOf(row.auditDays, row.auditReason),
  };
}

export const listStatesWithPolicy = async ({ prisma }: RecordStore): Promise<string[]> =>
  (await prisma.retentionPolicy.findMany({ where: { state: { not: null } }, orderBy: { state: "asc" } })).map(
    ({ state }) => state!,
  );

/** Errors: invalid retention_out_of_range. */
function checkLimits(policy: RetentionPolicy, limits: RetentionRules["limits"]): void {
  for (const [name, { min, max }] of Object.entries(limits)) {
    const setting = policy[name as keyof RetentionDefaults];
    if (setting === null || (setting.value >= min && setting.value <= max)) continue;
    // 0 months of inactivity: never.
    if (name === "inactiveMonths" && setting.value === 0) continue;
    const message = `${name} must be between ${min} and ${max}; the operator of the service sets these limits.`;
    throw new AppError("invalid", "retention_out_of_range", message, undefined, { property: `${name}/value` });
  }
}

const columnsOf = ({ leftMonths, inactiveMonths, restoreDays, auditDays }: RetentionPolicy) => {
  const reasonOf = (name: keyof RetentionDefaults, value: Value | null) =>
    value && checkLines(`${name}/reason`, value.reason, longestReason);
  return {
    leftMonths: leftMonths?.value ?? null,
    leftFrom: leftMonths?.from ?? null,
    leftReason: reasonOf("leftMonths", leftMonths),
    inactiveMonths: inactiveMonths?.value ?? null,
    inactiveRoster: inactiveMonths?.includesRoster ?? null,
    inactiveReason: reasonOf("inactiveMonths", inactiveMonths),
    restoreDays: restoreDays?.value ?? null,
    restoreReason: reasonOf("restoreDays", restoreDays),
    auditDays: auditDays?.value ?? null,
    auditReason: reasonOf("auditDays", auditDays),
  };
};

/** Has the next run look at the school, and at the held schools of a state. */
async function checkSoon({ prisma }: Transaction, subject: RetentionSubject, checkAt: Date): Promise<void> {
  if ("state" in subject) {
    const [country, state] = subject.state.split("-") as [string, string];
    const where = { heldAt: { not: null }, school: { country, state } };
    await prisma.retentionCheck.updateMany({ where, data: { checkAt } });
    return;
  }
  const { schoolId } = subject;
  await prisma.retentionCheck.upsert({ where: { schoolId }, create: { schoolId, checkAt }, update: { checkAt } });
}

const monthColumns = ["leftMonths", "leftFrom", "inactiveMonths", "inactiveRoster"] as const;

/**
 * Replaces the policy. Changed months soft-delete nobody until the notice is over, so that staff see in time whom they
 * concern. Errors: invalid retention_out_of_range, text_*.
 */
export async function putPolicy(
  tx: Transaction,
  { subject, policy, rules }: { subject: RetentionSubject; policy: RetentionPolicy; rules: RetentionRules },
  origin: Origin,
): Promise<void> {
  checkLimits(policy, rules.limits);
  const before = await find(tx, subject);
  const values = columnsOf(policy);
  const isChanged = monthColumns.some((name) => values[name] !== (before?.[name] ?? null));
  const effectiveAt = isChanged ? addDays(origin.at, rules.noticeDays) : (before?.effectiveAt ?? origin.at);
  const data = { ...values, effectiveAt, updatedAt: origin.at };
  const where = subject as { schoolId: string };
  const create = { id: makeUuid(origin.at), ...subject, ...data };
  await tx.prisma.retentionPolicy.upsert({ where, create, update: data });
  const schoolId = "schoolId" in subject ? subject.schoolId : null;
  await checkSoon(tx, subject, origin.at);
  const detail = "state" in subject ? { state: subject.state } : {};
  await recordAudit(tx, { ...origin, action: "retention_set", schoolId, detail });
}

/** Sets a proposed policy without its notice, reads what it would do, and rolls it back. Errors: as `putPolicy`. */
export async function withProposal<T>(
  db: PrismaDb,
  { policy, ...proposal }: { subject: RetentionSubject; policy: RetentionPolicy | undefined; rules: RetentionRules },
  origin: Origin,
  read: (tx: Transaction) => Promise<T>,
): Promise<T> {
  if (policy === undefined) return withPrismaTransaction(db, read);
  const rules = { ...proposal.rules, noticeDays: 0 };
  return previewChange(db, origin, ({ tx }) => putPolicy(tx, { ...proposal, policy, rules }, origin), read);
}

/** The schools of a state by name, from the one after `after`. */
export async function listSchoolsOfState(
  { prisma }: RecordStore,
  state: string,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<SchoolId[]> {
  const [country, code] = state.split("-") as [string, string];
  const schools = await prisma.school.findMany({
    where: { country, state: code, sandboxId: null },
    orderBy: [{ sortKey: "asc" }, { id: "asc" }],
    select: { id: true },
    take: limit,
    ...(after !== undefined && { cursor: { id: after }, skip: 1 }),
  });
  return schools.map(({ id }) => id as SchoolId);
}

const rules: Readonly<Record<string, (reason: string) => RetentionPolicy>> = {
  "DE-RP": (reason) => ({ ...none, leftMonths: { value: 12, reason, from: "SCHOOL_YEAR_END" } }),
  "DE-SH": (reason) => ({
    ...none,
    leftMonths: { value: 0, reason, from: "LEAVING" },
    inactiveMonths: { value: 12, reason, includesRoster: false },
  }),
};

/** A policy that follows the rules of a state, with the reason in the language of a reader; null for unknown rules. */
export const suggestPolicy = (state: string, reason: (state: string) => string): RetentionPolicy | null =>
  rules[state]?.(reason(state)) ?? null;
