import { bodyOf, listAll, readTagged, retryStale, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type OptionsOf, type Result, type Verbs } from "./command.ts";
import type { Extensions } from "./contract-commands.ts";
import { counted, done, nameOf, recordLines, tableOf, wholeList, type Columns } from "./lines.ts";
import { argsNamed, argument, option, UsageError } from "./option.ts";

type Policy = Schemas["RetentionPolicy"];
type Value = { value: number; reason: string };

const ofSchool = "/admin/v1/schools/{schoolId}/retention";
const ofState = "/admin/v1/retention/state";
const state = { state: argument.text("state") };
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

type Given = OptionsOf<typeof policyOptions>;

/** The value with what is given of it; errors: UsageError for a new one without its reason. */
function valueOf(name: string, before: Value | null, value?: number, reason?: string): Value | null {
  const after = { value: value ?? before?.value, reason: reason ?? before?.reason };
  if (after.value === undefined && after.reason === undefined) return null;
  if (after.value === undefined || after.reason === undefined)
    throw new UsageError(`A new value needs its reason: --${name}-reason.`);
  return { value: after.value, reason: after.reason };
}

function readPolicy(before: Policy, given: Given): Policy {
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

const isGiven = (given: Given): boolean => Object.values(given).some((value) => value !== undefined);

const appliedLines = (applied: Schemas["AppliedRetention"]): Record<string, string | null> =>
  Object.fromEntries(
    Object.entries(applied).map(([name, { value, reason, origin, ...more }]) => {
      const extra = Object.entries(more).map(([key, said]) => `, ${key} ${String(said)}`);
      return [name, `${value} (${origin}${extra.join("")})${reason === null ? "" : `: ${reason}`}`];
    }),
  );

const countColumns: Columns<Schemas["RetentionCount"]> = {
  school: ({ schoolId }) => schoolId,
  name: ({ schoolName }) => schoolName,
  people: ({ people }) => String(people),
  now: ({ due }) => String(due),
  later: ({ later }) => String(later),
  held: ({ isHeld }) => (isHeld ? "yes" : "no"),
};

const dueColumns: Columns<Schemas["RetentionDuePerson"]> = {
  id: ({ id }) => id,
  name: ({ name }) => nameOf(name),
  cause: ({ cause }) => cause,
  due: ({ dueAt }) => dueAt,
};

const showPreview = (preview: Schemas["RetentionPreview"]): Result => ({
  table: tableOf(preview.first, dueColumns),
  lines: [
    `${counted(preview.count.due, "person", "people")} now, ${preview.count.later} later, of ${preview.count.people}.` +
      (preview.count.isHeld ? " The run would be held." : ""),
  ],
  quiet: preview.first.map(({ id }) => id),
  data: preview,
});

export const verbs: Verbs = {
  set: makeApiCommand({
    summary: "Set the retention policy of a school; values that are not given stay as they are.",
    args: argsNamed("schoolId"),
    options: policyOptions,
    run: ({ api }, { args: path, options }) =>
      retryStale(async () => {
        const { record, ifMatch } = await readTagged(api.GET(ofSchool, { params: { path } }));
        const body = readPolicy(record.policy, options);
        await api.PUT(ofSchool, { params: { path, header: ifMatch }, body });
        return done("Retention of the school changed.", { id: path.schoolId, ...body });
      }),
  }),
  "set-state": makeApiCommand({
    summary: "Set the retention policy of a state; values that are not given stay as they are.",
    args: state,
    options: policyOptions,
    run: ({ api }, { args: query, options }) =>
      retryStale(async () => {
        const { record, ifMatch } = await readTagged(api.GET(ofState, { params: { query } }));
        const body = readPolicy(record, options);
        await api.PUT(ofState, { params: { query, header: ifMatch }, body });
        return done("Retention of the state changed.", { ...query, ...body });
      }),
  }),
  preview: makeApiCommand({
    summary: "Show whom the present policy of a school, or the given one, would soft-delete. Nothing changes.",
    args: argsNamed("schoolId"),
    options: { ...policyOptions, days },
    run: async ({ api }, { args: path, options: { days: ahead = 90, ...given } }) => {
      const present = await bodyOf(api.GET(ofSchool, { params: { path } }));
      const proposed = isGiven(given) ? { policy: readPolicy(present.policy, given) } : {};
      const body = { days: ahead, ...proposed };
      return showPreview(await bodyOf(api.POST(`${ofSchool}/preview`, { params: { path }, body })));
    },
  }),
  "preview-state": makeApiCommand({
    summary: "Count whom the present policies, or the given one of the state, would soft-delete at its schools.",
    args: state,
    options: { ...policyOptions, days },
    run: async ({ api }, { args: query, options: { days: ahead = 90, ...given } }) => {
      const present = await bodyOf(api.GET(ofState, { params: { query } }));
      const proposed = isGiven(given) ? { policy: readPolicy(present, given) } : {};
      const body = { days: ahead, ...proposed };
      const counts = await listAll((page) =>
        api.POST(`${ofState}/preview`, { params: { query: { ...query, ...page } }, body }),
      );
      return wholeList("schools", counts, { columns: countColumns, id: ({ schoolId }) => schoolId });
    },
  }),
};

const showService = (service: Schemas["ServiceRetention"]): Result => ({
  lines: recordLines({
    ...Object.fromEntries(
      Object.entries(service.defaults).map(([name, value]) => {
        const { min, max } = service.limits[name as keyof typeof service.limits];
        return [name, `${value} (${min} to ${max})`];
      }),
    ),
    notice: `${service.noticeDays} days`,
    held: `more than ${service.holdPeople} people and ${service.holdPercent} %`,
    states: service.states.join(", ") || "none",
  }),
  data: service,
});

const show = (retention: Schemas["SchoolRetention"]): Result => ({
  lines: recordLines({
    ...appliedLines(retention.applied),
    "effective from": retention.effectiveAt,
    held: retention.heldAt && `since ${retention.heldAt}, ${counted(retention.heldPeople ?? 0, "person", "people")}`,
  }),
  data: retention,
});

export const extensions: Extensions = { service: { print: showService }, show: { print: show } };
