import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { PrismaDb } from "../../platform/database/db.ts";
import type { Log } from "../../platform/telemetry/log.ts";
import type { EncryptionKeys } from "../../platform/crypto/seal.ts";
import type { WakeUp } from "../../platform/jobs/wake-up.ts";
import { attempt, type AttemptDeps } from "./attempt.ts";
import { findDue } from "./due.ts";
import { asksNewest, capOf, classify, dropReady, openWorker, refresh, capacityOf } from "./endpoint-worker.ts";
import type { EndpointWorker } from "./endpoint-worker.ts";
import { updateHealth } from "./health.ts";
import { lease, release, renew } from "./lease.ts";
import { record, type Result } from "./record.ts";

type DispatcherDeps = AttemptDeps & {
  db: PrismaDb;
  log: Log;
  keys: EncryptionKeys;
  wakeUp: WakeUp;
  concurrency: number;
  disableAfterDays: number;
  leaseSeconds: number;
  count(outcome: "delivered" | "failed", clientId: string): void;
};

// A short pause lets results and requests share round trips to the database.
const roundMs = 4;
const lookMs = 10;
const idleSeconds = 1;
const mostRecorded = 1000;

/**
 * Makes the delivery loop: it leases endpoints, delivers several events of each at a time, and records results in
 * batches. `run` ends when nothing is due or under way.
 *
 * Errors: those of the database. The next run continues; a delivery whose result could not be recorded during the lease
 *         is sent again with the same webhook-id.
 */
export function makeDispatcher(deps: DispatcherDeps): { run(signal: AbortSignal): Promise<void> } {
  const { db, clock, wakeUp } = deps;
  const holder = randomUUID();
  const workers = new Map<string, EndpointWorker>();
  const finished: { worker: EndpointWorker; result: Result }[] = [];
  let queue: EndpointWorker[] = [];
  let running = 0;
  let leasedUntil = 0;
  let renewAt = 0;
  let lookAt = 0;
  let hasLooked = false;
  /** More endpoints may be due than `concurrency` allows. */
  let mayBeMore = false;
  let isStopping = false;

  const deadline = () => ({ holder, now: clock(), until: new Date(clock().getTime() + deps.leaseSeconds * 1000) });

  async function run(signal: AbortSignal): Promise<void> {
    isStopping = signal.aborted;
    lookAt = 0;
    for (;;) {
      const began = performance.now();
      isStopping ||= signal.aborted;
      await recordFinished();
      await renewLeases();
      if (!isStopping) {
        await lookForEndpoints();
        await fetchDue();
        start();
      }
      await releaseIdle();
      const isIdle = workers.size === 0 && finished.length === 0;
      if (isIdle && (isStopping || !mayBeMore)) return;
      if (finished.length === 0)
        await wakeUp.wait(
          isStopping || isIdle || !hasLooked ? lookMs / 1000 : idleSeconds,
          isStopping ? undefined : signal,
        );
      await sleep(Math.max(0, roundMs - (performance.now() - began)));
    }
  }

  async function recordFinished(): Promise<void> {
    const now = clock();
    while (finished.length > 0) {
      const batch = finished.slice(0, mostRecorded);
      await record(
        db,
        batch.map(({ result }) => result),
        now,
      );
      finished.splice(0, batch.length);
      for (const { worker, result } of batch) {
        worker.known.delete(result.id);
        worker.isDry = false;
      }
    }
    await updateHealth([...workers.values()], { ...deps, holder, now });
  }

  async function renewLeases(): Promise<void> {
    if (workers.size === 0 || clock().getTime() < renewAt) return;
    const held = deadline();
    const leases = new Map(
      (await renew(db.pool, { ...held, ids: [...workers.keys()] })).map((endpoint) => [endpoint.id, endpoint]),
    );
    for (const worker of workers.values()) {
      const endpoint = leases.get(worker.id);
      if (endpoint) refresh(worker, endpoint, deps.keys);
      else Object.assign(worker, { isOpen: false, isHealthChanged: false });
      if (!worker.isOpen) dropReady(worker);
    }
    setDeadline(held.until);
  }

  async function lookForEndpoints(): Promise<void> {
    hasLooked = performance.now() >= lookAt;
    if (!hasLooked) return;
    mayBeMore = workers.size >= deps.concurrency;
    if (mayBeMore) return;
    lookAt = performance.now() + lookMs;
    const held = deadline();
    const leased = await lease(db.pool, { ...held, limit: deps.concurrency - workers.size });
    if (workers.size === 0) setDeadline(held.until);
    for (const endpoint of leased) {
      const worker = workers.get(endpoint.id);
      if (worker) refresh(worker, endpoint, deps.keys);
      else workers.set(endpoint.id, openWorker(endpoint, deps.keys));
    }
    for (const worker of workers.values()) worker.isDry = false;
  }

  function setDeadline(until: Date): void {
    leasedUntil = until.getTime();
    renewAt = leasedUntil - (deps.leaseSeconds * 1000 * 2) / 3;
  }

  async function fetchDue(): Promise<void> {
    const free = [...workers.values()].filter(
      (worker) => worker.isOpen && !worker.isDry && worker.ready.length < capOf(worker) && capacityOf(worker) > 0,
    );
    if (free.length === 0) return;
    const capacities = new Map(free.map((worker) => [worker.id, capacityOf(worker)]));
    const due = await findDue(db.pool, {
      endpointIds: [...capacities.keys()],
      capacities: [...capacities.values()],
      newestFirst: free.map(asksNewest),
      known: free.flatMap((worker) => [...worker.known]),
      now: clock(),
    });
    for (const delivery of due) {
      const worker = workers.get(delivery.endpointId)!;
      capacities.set(worker.id, capacities.get(worker.id)! - 1);
      worker.known.add(delivery.id);
      worker.ready.push(delivery);
    }
    for (const worker of free) worker.isDry = capacities.get(worker.id)! > 0;
    queue = [...workers.values()].filter((worker) => worker.ready.length > 0);
  }

  function start(): void {
    while (!isStopping && running < deps.concurrency && clock().getTime() < leasedUntil) {
      const worker = queue.shift();
      if (!worker) return;
      if (!worker.isOpen || worker.running >= capOf(worker)) continue;
      const delivery = worker.ready.shift();
      if (!delivery) continue;
      if (worker.ready.length > 0) queue.push(worker);
      running++;
      worker.running++;
      void attempt(delivery, worker, deps).then((result) => {
        running--;
        worker.running--;
        classify(worker, result, delivery.subjectFails);
        const isDelivered = result.state === "DELIVERED";
        deps.count(isDelivered ? "delivered" : "failed", worker.clientId);
        if (!isDelivered) dropReady(worker);
        finished.push({ worker, result });
        queue.push(worker);
        start();
        wakeUp.wake();
      });
    }
  }

  async function releaseIdle(): Promise<void> {
    if (isStopping) for (const worker of workers.values()) dropReady(worker);
    const idle = [...workers.values()].filter(
      (worker) => worker.known.size === 0 && (worker.isDry || !worker.isOpen || isStopping),
    );
    if (idle.length === 0) return;
    for (const worker of idle) workers.delete(worker.id);
    await release(db.pool, { holder, ids: idle.map(({ id }) => id) });
  }

  return { run };
}
