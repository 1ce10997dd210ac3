import { fields, makeFind, sql, table, type Part, type Queryable, type Sql } from "../platform/database/sql.ts";
import type { RetentionStart } from "../../generated/prisma/enums.ts";
import type { SchoolId } from "./ids.ts";

/** `SCHOOL_YEAR_END` is the end of the school year in which a person leaves, 31 July. */
export type { RetentionStart };

/** Periods of schools for which neither they nor their state have set one. 0 months of inactivity: never. */
export type RetentionDefaults = { leftMonths: number; inactiveMonths: number; restoreDays: number; auditDays: number };

/** Who set a value. */
export type RetentionOrigin = "SCHOOL" | "STATE" | "SERVICE";

/** What applies at a school. Reasons are null for values of the service. */
export type Retention = RetentionDefaults & {
  leftFrom: RetentionStart;
  inactiveRoster: boolean;
  /** Nobody is soft-deleted by the months before, so that staff see in time whom a changed policy concerns. */
  leftEffectiveAt: Date | null;
  inactiveEffectiveAt: Date | null;
} & { [Name in keyof RetentionDefaults as `${Name}Reason`]: string | null } & {
  [Name in keyof RetentionDefaults as `${Name}Origin`]: RetentionOrigin;
};

const own = table("retentionPolicy", "own");
const ofState = table("retentionPolicy", "of_state");
const s = table("school", "s");

type Period = keyof RetentionDefaults;

const originOf = (period: Period) => sql`CASE WHEN ${own[period]} IS NOT NULL THEN 'SCHOOL'
  WHEN ${ofState[period]} IS NOT NULL THEN 'STATE' ELSE 'SERVICE' END`;
// A school that no longer sets the value has changed it too.
const effectiveAt = (period: Period) => sql`greatest(${own.effectiveAt},
  CASE WHEN ${own[period]} IS NULL THEN ${ofState.effectiveAt} END)`;
// A reason belongs to its value: both are set together.
const first = (name: Exclude<keyof typeof own, symbol>, otherwise: Part = sql`NULL`) =>
  sql`coalesce(${own[name]}, ${ofState[name]}, ${otherwise})`;

const columns = (defaults: Readonly<Record<Period, Part>>) => ({
  leftMonths: first("leftMonths", sql`${defaults.leftMonths}::int`),
  leftFrom: first("leftFrom", sql`'LEAVING'`),
  leftMonthsReason: first("leftReason"),
  leftMonthsOrigin: originOf("leftMonths"),
  inactiveMonths: first("inactiveMonths", sql`${defaults.inactiveMonths}::int`),
  inactiveRoster: first("inactiveRoster", sql`false`),
  inactiveMonthsReason: first("inactiveReason"),
  inactiveMonthsOrigin: originOf("inactiveMonths"),
  restoreDays: first("restoreDays", sql`${defaults.restoreDays}::int`),
  restoreDaysReason: first("restoreReason"),
  restoreDaysOrigin: originOf("restoreDays"),
  // The service keeps no line for longer than its own period.
  auditDays: sql`least(${first("auditDays", sql`${defaults.auditDays}::int`)}, ${defaults.auditDays}::int)`,
  auditDaysReason: first("auditReason"),
  auditDaysOrigin: originOf("auditDays"),
  leftEffectiveAt: effectiveAt("leftMonths"),
  inactiveEffectiveAt: effectiveAt("inactiveMonths"),
});

/** SQL: joins what applies at school `s` as `retention`: its own values, else its state's, else the defaults. */
export const joinRetention = (defaults: Readonly<Record<Period, Part>>): Sql => sql`
  LEFT JOIN ${own} ON ${own.schoolId} = ${s.id}
  LEFT JOIN ${ofState} ON ${ofState.state} = ${s.country} || '-' || ${s.state} AND ${s.sandboxId} IS NULL
  CROSS JOIN LATERAL (SELECT ${fields<Retention>(columns(defaults))}) AS retention`;

const listRetention = makeFind<Retention, RetentionDefaults & { schoolId: SchoolId }>("directory.findRetention")`
  SELECT retention.* FROM ${s} ${joinRetention} WHERE ${s.id} = ${"schoolId"}`;

export async function findRetention(db: Queryable, schoolId: SchoolId, defaults: RetentionDefaults) {
  return (await listRetention(db, { ...defaults, schoolId }))[0] ?? null;
}

/** The periods of a soft deletion at a school. */
export async function findPeriods(
  db: Queryable,
  schoolId: SchoolId | null,
  { restoreWindowDays: restoreDays, leftMonths = 0 }: { restoreWindowDays: number; leftMonths?: number },
): Promise<Pick<Retention, "restoreDays" | "leftMonths">> {
  const defaults = { restoreDays, leftMonths, inactiveMonths: 0, auditDays: 0 };
  return (schoolId && (await findRetention(db, schoolId, defaults))) ?? defaults;
}
