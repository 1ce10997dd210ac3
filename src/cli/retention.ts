import { bodyOf, type Schemas } from "./admin-api.ts";
import type { OptionsOf } from "./command.ts";
import type { Extension, Extensions } from "./contract-commands.ts";
import { option, UsageError } from "./option.ts";

type Policy = Schemas["RetentionPolicy"];
type Value = { value: number; reason: string };

const periods = ["left", "inactive", "restore", "audit"] as const;

const policyOptions = {
  leftMonths: option.count("Months after leaving the last school until the soft deletion; 0: at once."),
  leftFrom: option.oneOf(["LEAVING", "SCHOOL_YEAR_END"] as const, "From when they count; LEAVING if left out."),
  leftReason: option.text("Why, such as the legal basis."),
  inactiveMonths: option.count("Months without a sign-in until the soft deletion; 0: never."),
  inactiveRoster: option.oneOf(
    ["yes", "no"] as const,
    "Whether it concerns people whom a roster names; no if left out.",
  ),
  inactiveReason: option.text("Why."),
  restoreDays: option.count("Days in which a soft-deleted person can be restored."),
  restoreReason: option.text("Why."),
  auditDays: option.count("Days for which the audit log is kept."),
  auditReason: option.text("Why."),
  unset: option.someOf(periods, "Leave these to the state or the service again."),
};
const days = option.count("How many days ahead; 90 if left out.");

type Params = OptionsOf<typeof policyOptions>;

/** The value with what is given of it; errors: UsageError for a new one without its reason. */
function valueOf(name: string, before: Value | null, value?: number, reason?: string): Value | null {
  const after = { value: value ?? before?.value, reason: reason ?? before?.reason };
  if (after.value === undefined && after.reason === undefined) return null;
  if (after.value === undefined || after.reason === undefined)
    throw new UsageError(`A new value needs its reason: --${name}-reason.`);
  return { value: after.value, reason: after.reason };
}

/** `retention` is the policy of a state, or what a school has with its policy. */
function readPolicy(retention: Policy | Schemas["SchoolRetention"], given: Params): Policy {
  const before = "policy" in retention ? retention.policy : retention;
  const isUnset = new Set(given.unset ?? []);
  const left = valueOf("left", before.leftMonths, given.leftMonths, given.leftReason);
  const inactive = valueOf("inactive", before.inactiveMonths, given.inactiveMonths, given.inactiveReason);
  const roster = given.inactiveRoster && given.inactiveRoster === "yes";
  const unless = <T>(period: (typeof periods)[number], value: T): T | null => (isUnset.has(period) ? null : value);
  return {
    leftMonths: unless("left", left && { ...left, from: given.leftFrom ?? before.leftMonths?.from ?? "LEAVING" }),
    inactiveMonths: unless(
      "inactive",
      inactive && { ...inactive, includesRoster: roster ?? before.inactiveMonths?.includesRoster ?? false },
    ),
    restoreDays: unless("restore", valueOf("restore", before.restoreDays, given.restoreDays, given.restoreReason)),
    auditDays: unless("audit", valueOf("audit", before.auditDays, given.auditDays, given.auditReason)),
  };
}

const set: Extension = {
  options: policyOptions,
  body: (_, options, { before }) => readPolicy(before as Policy, options as Params),
};

const preview = (read: (request: Parameters<NonNullable<Extension["body"]>>[2]) => Promise<unknown>): Extension => ({
  options: { ...policyOptions, days },
  body: async (_, { days: ahead = 90, ...given }, of) => {
    const present = (await read(of)) as Policy;
    const isGiven = Object.values(given).some((value) => value !== undefined);
    return { days: ahead, ...(isGiven && { policy: readPolicy(present, given as Params) }) };
  },
});

export const extensions: Extensions = {
  set,
  "set-state": set,
  preview: preview(({ service, request: { path } }) =>
    bodyOf(service.api.GET("/admin/v1/schools/{schoolId}/retention", { params: { path: path as never } })),
  ),
  "preview-state": preview(({ service, request: { query } }) =>
    bodyOf(service.api.GET("/admin/v1/retention/state", { params: { query: query as never } })),
  ),
};
