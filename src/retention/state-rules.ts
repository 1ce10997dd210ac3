/** A policy as a form has it; null leaves a period to others. */
type Periods = {
  leftMonths: { value: number; reason: string; from: "LEAVING" | "SCHOOL_YEAR_END" } | null;
  inactiveMonths: { value: number; reason: string; includesRoster: boolean } | null;
  restoreDays: { value: number; reason: string } | null;
  auditDays: { value: number; reason: string } | null;
};

const none: Periods = { leftMonths: null, inactiveMonths: null, restoreDays: null, auditDays: null };

const rules: Readonly<Record<string, (reason: string) => Periods>> = {
  "DE-RP": (reason) => ({ ...none, leftMonths: { value: 12, reason, from: "SCHOOL_YEAR_END" } }),
  "DE-SH": (reason) => ({
    ...none,
    leftMonths: { value: 0, reason, from: "LEAVING" },
    inactiveMonths: { value: 12, reason, includesRoster: false },
  }),
};

/** A policy that follows the rules of a state, with the reason in the language of a reader; null for unknown rules. */
export const suggestPolicy = (state: string, reason: (state: string) => string): Periods | null =>
  rules[state]?.(reason(state)) ?? null;
