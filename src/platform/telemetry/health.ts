import { setTimeout as sleep } from "node:timers/promises";
import { Router } from "express";
import type { Clock } from "../clock.ts";
import { createHash, timingSafeEqual } from "node:crypto";
import { Registry } from "prom-client";

export type HealthCheck = { name: string; missing: string; check(): Promise<unknown> };

const patienceMs = 2000;

export async function isWell({ check }: Pick<HealthCheck, "check">, waitMs = patienceMs): Promise<boolean> {
  const isGood = check().then(
    () => true,
    () => false,
  );
  return Promise.race([isGood, sleep(waitMs, false, { ref: false })]);
}

export const runChecks = (checks: readonly HealthCheck[]): Promise<{ check: HealthCheck; well: boolean }[]> =>
  Promise.all(checks.map(async (check) => ({ check, well: await isWell(check) })));

type Process = { checks: readonly HealthCheck[]; isStopping(): boolean };

export function makeHealthRouter({ checks, isStopping }: Process): Router {
  const router = Router();
  router.get("/health/live", (_req, res) => {
    res.set("Cache-Control", "no-store").json({ status: "live" });
  });
  router.get("/health/ready", async (_req, res) => {
    const results = await runChecks(checks);
    const missing = results.filter(({ well }) => !well).map(({ check }) => check.missing);
    if (isStopping()) missing.push("the process is stopping");
    res
      .status(missing.length === 0 ? 200 : 503)
      .set("Cache-Control", "no-store")
      .json({
        status: missing.length === 0 ? "ready" : "not_ready",
        checks: Object.fromEntries(results.map(({ check, well }) => [check.name, well ? "ok" : "failed"])),
        ...(missing.length === 0 ? {} : { missing }),
      });
  });
  return router;
}

const readinessMs = 5000;

/** Checks at most once in five seconds, because anybody may ask. */
export function makeReadiness({ checks, isStopping, clock }: Process & { clock: Clock }): () => Promise<boolean> {
  let last: { atMs: number; isWell: Promise<boolean> } | undefined;
  return async () => {
    const nowMs = clock().getTime();
    if (last === undefined || nowMs - last.atMs >= readinessMs)
      last = { atMs: nowMs, isWell: runChecks(checks).then((results) => results.every(({ well }) => well)) };
    return (await last.isWell) && !isStopping();
  };
}

const digest = (text: string) => createHash("sha256").update(text).digest();

type Served = { read: () => Promise<string>; token?: string | undefined };

export function makeMetricsRouter({ read, token }: Served): Router {
  const router = Router();
  router.get("/metrics", async (req, res) => {
    if (token !== undefined && !timingSafeEqual(digest(req.headers.authorization ?? ""), digest(`Bearer ${token}`))) {
      res
        .status(401)
        .set("WWW-Authenticate", "Bearer")
        .type("text/plain")
        .send("This address needs the metrics token.\n");
      return;
    }
    res.set({ "Content-Type": Registry.PROMETHEUS_CONTENT_TYPE, "Cache-Control": "no-store" }).send(await read());
  });
  return router;
}
