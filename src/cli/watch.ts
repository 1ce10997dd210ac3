import { appNotFound, findApp, type ClientId } from "../access/index.ts";
import { findSchool } from "../directory/index.ts";
import { addDays } from "../platform/clock.ts";
import { findFigures, metrics, type Subject } from "../traffic/index.ts";
import { found, inDatabase } from "./change.ts";
import { makeCommand, type Result } from "./command.ts";
import { recordLines, tableOf, type Columns } from "./lines.ts";
import { option, required, UsageError } from "./option.ts";
import type { Schemas } from "./admin-api.ts";
import * as far from "./remote/watch.ts";

type Point = { at: string; outcome: string; count: number };
type Figures = Pick<Schemas["Figures"], "metric" | "step" | "from" | "until" | "points">;

const columns: Columns<Point> = {
  at: ({ at }) => at,
  outcome: ({ outcome }) => outcome,
  count: ({ count }) => String(count),
};

/** Shape: fields in the order in which they are printed. */
const showFigures = ({ metric, step, from, until, points }: Figures): Result => {
  const shown = points.map(({ at, outcome, count }) => ({ at, outcome, count }));
  const lines = points.length === 0 ? ["Nothing was counted."] : [];
  return { table: tableOf(shown, columns), lines, data: { metric, step, from, until, points: shown } };
};

const showHealth = (health: Schemas["Health"]): Result => {
  const stateOf = (isWell: boolean) => (isWell ? "well" : "not well");
  const namesOf = (wanted: string) =>
    health.jobs.flatMap(({ name, state }) => (state === wanted ? [name] : [])).join(", ") || "none";
  return {
    lines: recordLines({
      service: stateOf(health.isWell),
      ...Object.fromEntries(health.checks.map(({ name, isWell }) => [name, stateOf(isWell)])),
      "failed jobs": namesOf("FAILING"),
      "late jobs": namesOf("LATE"),
      "pending deliveries": String(health.pendingDeliveries),
      "held imports": String(health.heldImports),
    }),
    data: health,
    isRefused: !health.isWell,
  };
};

const steps = { hour: { name: "HOUR", days: 1 }, day: { name: "DAY", days: 30 } } as const;

/** Commands that show how the service does. */
export const watchCommands = {
  health: makeCommand({
    summary:
      "Show whether the service is well, which jobs failed or are late, and what waits. Ends with 3 where it is not well.",
    run: { reason: "A process says itself how it is." },
    remote: async (remote) => showHealth(await far.getHealth(remote)),
  }),
  figures: makeCommand({
    summary: "Show what was counted in each hour or day: of one school, of one app, or of all of the service.",
    options: {
      metric: required(option.oneOf(metrics, "What was counted. Schools have signIns only.")),
      step: option.oneOf(["hour", "day"] as const, "By hour, which is kept for 14 days, or by day; hour if left out."),
      school: option.school("Of this school."),
      app: option.text("Of this app.", "client-id"),
      from: option.time("From this time on; one day, or 30 days, before the end if left out."),
      until: option.time("Until this time; now if left out."),
    },
    run: async (tools, { options: { metric, step = "hour", school, app, from, until = tools.clock() } }) => {
      refuseBoth(school, app);
      const span = { from: from ?? addDays(until, -steps[step].days), until };
      const subject: Subject = school !== undefined ? `school:${school}` : app !== undefined ? `app:${app}` : "";
      const points = await inDatabase(tools, async (db, { pool }) => {
        if (school !== undefined) found(await findSchool(db, school), "school_not_found", "The school does not exist.");
        if (app !== undefined && (await findApp(db, app as ClientId)) === null) throw appNotFound();
        return findFigures(pool, { metric, step: steps[step].name, subjects: [subject], ...span });
      });
      return showFigures({
        metric,
        step,
        from: span.from.toISOString(),
        until: until.toISOString(),
        points: points.map(({ at, ...point }) => ({ ...point, at: at.toISOString() })),
      });
    },
    remote: async (remote, { options: { metric, step = "hour", school, app, from, until } }) => {
      refuseBoth(school, app);
      return showFigures(
        await far.getFigures(remote, { metric, step, school, app: app as ClientId | undefined, from, until }),
      );
    },
  }),
};

/** Errors: UsageError. */
function refuseBoth(school: string | undefined, app: string | undefined): void {
  if (school !== undefined && app !== undefined) throw new UsageError("Figures are of a school or of an app.");
}
