import { recordDifference } from "../../events/index.ts";
import { addDays } from "../../platform/clock.ts";
import type { Queryable } from "../../platform/database/sql.ts";
import { runChecks } from "../../platform/telemetry/health.ts";
import { lateAfterSeconds } from "../../platform/telemetry/metrics.ts";
import { describeSigningKeys, makeNextKeys, rotateSigningKeysIn } from "../../sign-on/index.ts";
import type { Reach } from "../../staff/index.ts";
import { findFigures, listJobRuns, type FigureStep, type JobRun, type Subject } from "../../traffic/index.ts";
import { listEndpoints } from "../../webhooks/index.ts";
import { answerRecord, commit } from "../change.ts";
import { present, type AdminDeps, type AdminHandler, type AdminRequest, type Schemas } from "../handler.ts";
import { invalidRequest, readTime } from "../page.ts";
import { refuseOthersApp } from "../reached.ts";

/** A job of another release is never late. */
function stateOf(run: JobRun, { jobs, clock }: Pick<AdminDeps, "jobs" | "clock">): Schemas["JobState"] {
  if (run.outcome === "failed") return "FAILING";
  const job = jobs.find(({ name }) => name === run.name);
  const age = (clock().getTime() - run.at.getTime()) / 1000;
  return job !== undefined && age > lateAfterSeconds(job) ? "LATE" : "WELL";
}

export const getHealth: AdminHandler<"getHealth"> = async (deps) => {
  const { db, healthChecks } = deps;
  const checks = await runChecks(healthChecks);
  const runs = (await listJobRuns(db)).map((run) => ({ ...run, state: stateOf(run, deps) }));
  const body = present("Health", {
    isWell: checks.every(({ well }) => well) && runs.every(({ state }) => state === "WELL"),
    checks: checks.map(({ check, well }) => ({ name: check.name, isWell: well })),
    jobs: runs,
    pendingDeliveries: (await listEndpoints(db)).reduce((sum, { pending }) => sum + pending, 0),
    heldImports: await db.prisma.import.count({ where: { state: "HELD" } }),
  });
  return answerRecord(body);
};

const readKeys = async (db: Queryable, { clock, idTokenSeconds }: Pick<AdminDeps, "clock" | "idTokenSeconds">) =>
  (await describeSigningKeys(db, { now: clock(), idTokenSeconds })).map((key) => present("SigningKey", key));

export const listSigningKeys: AdminHandler<"listSigningKeys"> = async (deps, { page }) =>
  page.answerFrom(
    await readKeys(deps.db.pool, deps),
    (key) => key,
    ({ kid }) => kid,
  );

const statesOf = (keys: readonly Schemas["SigningKey"][]) =>
  Object.fromEntries(keys.map(({ kid, state }) => [kid, state]));

export const rotateSigningKeys: AdminHandler<"rotateSigningKeys"> = async (deps, request) => {
  const { query, origin } = request;
  const { webhookKeys, idTokenSeconds } = deps;
  const next = await makeNextKeys(webhookKeys);
  return commit(deps, request, async (tx) => {
    const before = await readKeys(tx, deps);
    await rotateSigningKeysIn(tx, next, { isForced: query.force === true, idTokenSeconds }, origin);
    const body = await readKeys(tx, deps);
    await recordDifference(tx, origin, { before: statesOf(before), after: statesOf(body) });
    return { status: 200 as const, body };
  });
};

const figureSteps: Record<Schemas["FigureStep"], FigureStep> = { hour: "HOUR", day: "DAY" };
const spanDays = { hour: { most: 15, usual: 1 }, day: { most: 732, usual: 30 } };

type Query = AdminRequest<"getFigures">["query"];

function readSpan({ from, until, step = "hour" }: Query, now: Date): { from: Date; until: Date } {
  const end = readTime(until) ?? now;
  const start = readTime(from) ?? addDays(end, -spanDays[step].usual);
  if (start >= end) throw invalidRequest("The query parameter until must be later than from.");
  if (start < addDays(end, -spanDays[step].most))
    throw invalidRequest(`A request covers at most ${spanDays[step].most} days.`);
  return { from: start, until: end };
}

const ofSchool = (id: string): Subject => `school:${id}`;
const ofApp = (id: string): Subject => `app:${id}`;

/** The subjects of a caller who names neither an app nor a school. */
function subjectsOf({ all, schoolIds, clientIds }: Reach): Subject[] {
  if (all) return [""];
  return schoolIds.size > 0 ? [...schoolIds].map(ofSchool) : [...clientIds].map(ofApp);
}

export const getFigures: AdminHandler<"getFigures"> = async ({ db }, { query, reach, origin }) => {
  const { metric, step = "hour", school, app } = query;
  if (app !== undefined) await refuseOthersApp(db.pool, reach, app);
  if (school !== undefined && app !== undefined) throw invalidRequest("Figures are of a school or of an app.");
  const span = readSpan(query, origin.at);
  const named = [...(school === undefined ? [] : [ofSchool(school)]), ...(app === undefined ? [] : [ofApp(app)])];
  const subjects = named.length > 0 ? named : subjectsOf(reach);
  const body = present("Figures", {
    metric,
    step,
    ...span,
    points: await findFigures(db.pool, { metric, step: figureSteps[step], subjects, ...span }),
  });
  return answerRecord(body);
};
