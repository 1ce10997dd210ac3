import { recordDifference } from "../../events/index.ts";
import { present } from "../../platform/contract-types.ts";
import { withPrismaTransaction } from "../../platform/database/db.ts";
import type { Queryable } from "../../platform/database/sql.ts";
import { runChecks } from "../../platform/telemetry/health.ts";
import { lateAfterSeconds } from "../../platform/telemetry/metrics.ts";
import { describeSigningKeys, makeNextKeys, rotateSigningKeysIn } from "../../sign-on/index.ts";
import { listJobRuns, type JobRun } from "../../traffic/index.ts";
import { listEndpoints } from "../../webhooks/index.ts";
import { answerRecord } from "../change.ts";
import type { AdminDeps, AdminHandler, Schemas } from "../handler.ts";

export type JobState = "WELL" | "FAILING" | "LATE";

/** A job of another release is never late. */
function stateOf(run: JobRun, { jobs, clock }: Pick<AdminDeps, "jobs" | "clock">): JobState {
  if (run.outcome === "failed") return "FAILING";
  const job = jobs.find(({ name }) => name === run.name);
  const age = (clock().getTime() - run.at.getTime()) / 1000;
  return job !== undefined && age > lateAfterSeconds(job) ? "LATE" : "WELL";
}

export const getHealth: AdminHandler<"getHealth"> = async (deps) => {
  const { db, healthChecks } = deps;
  const checks = await runChecks(healthChecks);
  const runs = (await listJobRuns(db)).map((run) => ({ ...run, state: stateOf(run, deps) }));
  const endpoints = await listEndpoints(db);
  const body = present<Schemas["Health"]>({
    isWell: checks.every(({ well }) => well) && runs.every(({ state }) => state === "WELL"),
    checks: checks.map(({ check, well }) => present<Schemas["HealthCheck"]>({ name: check.name, isWell: well })),
    jobs: runs.map((run) => present<Schemas["JobRun"]>(run)),
    pendingDeliveries: endpoints.reduce((sum, { pending }) => sum + pending, 0),
    heldImports: await db.prisma.import.count({ where: { state: "HELD" } }),
  });
  return answerRecord(body);
};

const readKeys = async (db: Queryable, { clock, idTokenSeconds }: Pick<AdminDeps, "clock" | "idTokenSeconds">) =>
  (await describeSigningKeys(db, { now: clock(), idTokenSeconds })).map((key) => present<Schemas["SigningKey"]>(key));

export const listSigningKeys: AdminHandler<"listSigningKeys"> = async (deps, { page }) =>
  page.answerFrom(
    await readKeys(deps.db.pool, deps),
    (key) => key,
    ({ kid }) => kid,
  );

const statesOf = (keys: readonly Schemas["SigningKey"][]) =>
  Object.fromEntries(keys.map(({ kid, state }) => [kid, state]));

export const rotateSigningKeys: AdminHandler<"rotateSigningKeys"> = async (deps, { query, origin, keep }) => {
  const { db, webhookKeys, idTokenSeconds } = deps;
  const next = await makeNextKeys(webhookKeys);
  return withPrismaTransaction(db, async (tx) => {
    const before = await readKeys(tx, deps);
    await rotateSigningKeysIn(tx, next, { isForced: query.force === true, idTokenSeconds }, origin);
    const body = await readKeys(tx, deps);
    await recordDifference(tx, origin, { before: statesOf(before), after: statesOf(body) });
    return keep(tx, { status: 200 as const, body });
  });
};
