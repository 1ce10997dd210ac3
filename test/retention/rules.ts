import type { RetentionRules } from "../../src/retention/index.ts";

export const retentionRules: RetentionRules = {
  defaults: { leftMonths: 0, inactiveMonths: 0, restoreDays: 30, auditDays: 400 },
  limits: {
    leftMonths: { min: 0, max: 24 },
    inactiveMonths: { min: 1, max: 240 },
    restoreDays: { min: 7, max: 90 },
    auditDays: { min: 30, max: 400 },
  },
  hold: { people: 5, share: 0.25 },
  noticeDays: 14,
};
