import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../../platform/db.ts";
import type { Log } from "../../platform/log.ts";
import type { Nudge } from "../../platform/nudge.ts";
import type { EncryptionKeys } from "../../platform/seal.ts";
import { attempt, type AttemptDeps } from "./attempt.ts";
import { findDue } from "./due.ts";
import { settleHealth } from "./health.ts";
import { capOf, judge, openLane, refresh, roomOf, type Lane } from "./lane.ts";
import { lease, release, renew } from "./lease.ts";
import { record, type Result } from "./record.ts";

export type PumpDeps = AttemptDeps & {
  db: Db;
  log: Log;
  keys: EncryptionKeys;
  nudge: Nudge;
  concurrency: number;
  disableAfterDays: number;
  leaseSeconds: number;
  count(outcome: "delivered" | "failed"): void;
};

type Finished = { lane: Lane; result: Result };

// Results and wishes of a few milliseconds share their round trips to the database.
const roundMs = 4;
const lookMs = 10;
const idleSeconds = 1;
const mostRecorded = 1000;

/**
 * Makes what delivers: it leases endpoints, keeps several deliveries of each under way, and writes results down in batches.
 *
 * Shape:  `run` ends when nothing is due and nothing under way. After an error the next run goes on where this one stopped; what
 *         was delivered and could not be written down in time is delivered again, with the same webhook-id.
 */
export function makePump(deps: PumpDeps): { run(signal: AbortSignal): Promise<void> } {
  const { db, clock, nudge } = deps;
  const holder = randomUUID();
  const lanes = new Map<string, Lane>();
  const finished: Finished[] = [];
  let queue: Lane[] = [];
  let running = 0;
  let leasedUntil = 0;
  let renewAt = 0;
  let lookAt = 0;
  let hasLooked = false;
  let isStopping = false;

  const deadline = () => ({ holder, now: clock(), until: new Date(clock().getTime() + deps.leaseSeconds * 1000) });

  async function run(signal: AbortSignal): Promise<void> {
    isStopping = signal.aborted;
    lookAt = 0;
    for (;;) {
      const began = performance.now();
      isStopping ||= signal.aborted;
      await recordFinished();
      await renewLanes();
      if (!isStopping) {
        await lookForEndpoints();
        await fetchDue();
        start();
      }
      await releaseIdle();
      if (lanes.size === 0 && finished.length === 0) return;
      if (finished.length === 0)
        await nudge.wait(isStopping || !hasLooked ? lookMs / 1000 : idleSeconds, isStopping ? never : signal);
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
      for (const { lane, result } of batch) {
        lane.known.delete(result.id);
        lane.isDry = false;
      }
    }
    await settleHealth([...lanes.values()], { ...deps, holder, now });
  }

  async function renewLanes(): Promise<void> {
    if (lanes.size === 0 || clock().getTime() < renewAt) return;
    const held = deadline();
    const kept = new Map((await renew(db.pool, held, [...lanes.keys()])).map((endpoint) => [endpoint.id, endpoint]));
    for (const lane of lanes.values()) {
      const endpoint = kept.get(lane.id);
      if (endpoint) refresh(lane, endpoint, deps.keys);
      else close(lane);
      if (!lane.isOpen) drop(lane);
    }
    setDeadline(held.until);
  }

  async function lookForEndpoints(): Promise<void> {
    hasLooked = performance.now() >= lookAt;
    if (!hasLooked || lanes.size >= deps.concurrency) return;
    lookAt = performance.now() + lookMs;
    const held = deadline();
    const taken = await lease(db.pool, held, deps.concurrency - lanes.size);
    if (lanes.size === 0) setDeadline(held.until);
    for (const endpoint of taken) {
      const lane = lanes.get(endpoint.id);
      if (lane) refresh(lane, endpoint, deps.keys);
      else lanes.set(endpoint.id, openLane(endpoint, deps.keys));
    }
    for (const lane of lanes.values()) lane.isDry = false;
  }

  function setDeadline(until: Date): void {
    leasedUntil = until.getTime();
    renewAt = leasedUntil - (deps.leaseSeconds * 1000 * 2) / 3;
  }

  async function fetchDue(): Promise<void> {
    const hungry = [...lanes.values()].filter(
      (lane) => lane.isOpen && !lane.isDry && lane.ready.length < capOf(lane) && roomOf(lane) > 0,
    );
    if (hungry.length === 0) return;
    const wanted = hungry.map((lane) => ({ endpointId: lane.id, room: roomOf(lane) }));
    const due = await findDue(db.pool, { wanted, known: hungry.flatMap((lane) => [...lane.known]), now: clock() });
    const rooms = new Map(wanted.map(({ endpointId, room }) => [endpointId, room]));
    for (const delivery of due) {
      const lane = lanes.get(delivery.endpointId)!;
      rooms.set(lane.id, rooms.get(lane.id)! - 1);
      lane.known.add(delivery.id);
      lane.ready.push(delivery);
    }
    for (const lane of hungry) lane.isDry = rooms.get(lane.id)! > 0;
    queue = [...lanes.values()].filter((lane) => lane.ready.length > 0);
  }

  /** Starts one delivery of each endpoint in turn, until there is no room or nothing left. */
  function start(): void {
    while (!isStopping && running < deps.concurrency && clock().getTime() < leasedUntil) {
      const lane = queue.shift();
      if (!lane) return;
      if (!lane.isOpen || lane.running >= capOf(lane)) continue;
      const delivery = lane.ready.shift();
      if (!delivery) continue;
      if (lane.ready.length > 0) queue.push(lane);
      running++;
      lane.running++;
      void attempt(delivery, lane, deps).then((result) => {
        running--;
        lane.running--;
        judge(lane, result);
        const isDelivered = result.state === "DELIVERED";
        deps.count(isDelivered ? "delivered" : "failed");
        if (!isDelivered) drop(lane);
        finished.push({ lane, result });
        queue.push(lane);
        start();
        nudge.wake();
      });
    }
  }

  async function releaseIdle(): Promise<void> {
    if (isStopping) for (const lane of lanes.values()) drop(lane);
    const idle = [...lanes.values()].filter(
      (lane) => lane.known.size === 0 && (lane.isDry || !lane.isOpen || isStopping),
    );
    if (idle.length === 0) return;
    for (const lane of idle) lanes.delete(lane.id);
    await release(
      db.pool,
      holder,
      idle.map(({ id }) => id),
    );
  }

  /** Forgets what is fetched and not started. */
  function drop(lane: Lane): void {
    for (const { id } of lane.ready.splice(0)) lane.known.delete(id);
  }

  function close(lane: Lane): void {
    lane.isOpen = false;
    lane.isHealthChanged = false;
  }

  return { run };
}

const never = new AbortController().signal;
