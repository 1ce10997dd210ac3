import { bodyOf, omitUndefined, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result } from "./command.ts";
import { recordLines, tableOf, type Columns } from "./lines.ts";
import { option, required, UsageError } from "./option.ts";

type Figures = Schemas["Figures"];

const columns: Columns<Figures["points"][number]> = {
  at: ({ at }) => at,
  outcome: ({ outcome }) => outcome,
  count: ({ count }) => String(count),
};

const showFigures = (figures: Figures): Result => ({
  table: tableOf(figures.points, columns),
  lines: figures.points.length === 0 ? ["Nothing was counted."] : [],
  data: figures,
});

const showHealth = (health: Schemas["Health"]): Result => {
  const stateOf = (isWell: boolean) => (isWell ? "healthy" : "unhealthy");
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
    quiet: health.checks.flatMap(({ name, isWell }) => (isWell ? [] : [name])),
    data: health,
    hasFailed: !health.isWell,
  };
};

const metrics: readonly Figures["metric"][] = [
  "signIns",
  "passwordSignIns",
  "tokens",
  "apiCalls",
  "refusals",
  "deliveries",
];

export const watchCommands = {
  health: makeApiCommand({
    summary:
      "Show whether the service is healthy, which jobs failed or are late, and what is pending. Exits with 1 if it is unhealthy.",
    remoteOnly: "Only a running process knows its own state.",
    run: async ({ api }) => showHealth(await bodyOf(api.GET("/admin/v1/health"))),
  }),
  figures: makeApiCommand({
    summary: "Show what was counted in each hour or day: of one school, of one app, or of all of the service.",
    options: {
      metric: required(option.oneOf(metrics, "What was counted. Schools have signIns and passwordSignIns only.")),
      step: option.oneOf(["hour", "day"] as const, "By hour, which is kept for 14 days, or by day; hour if left out."),
      school: option.school("Of this school."),
      app: option.text("Of this app.", "client-id"),
      from: option.time("From this time on; one day, or 30 days, before the end if left out."),
      until: option.time("Until this time; now if left out."),
    },
    run: async ({ api }, { options: { metric, step = "hour", school, app, from, until } }) => {
      if (school !== undefined && app !== undefined) throw new UsageError("Figures are of a school or of an app.");
      const times = { from: from?.toISOString(), until: until?.toISOString() };
      const query = { metric, step, ...omitUndefined({ school, app, ...times }) };
      return showFigures(await bodyOf(api.GET("/admin/v1/figures", { params: { query } })));
    },
  }),
};
