import { appEventChannel, sequenceSome } from "../events/index.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import { type PrismaDb, withTransaction } from "../platform/database/db.ts";
import { makeGuardedSender, type OutboundPolicy } from "../platform/outbound/guarded-request.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import { type Listener, listenFor, makeWakeUp } from "../platform/jobs/wake-up.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import { makeDispatcher } from "./delivery/dispatcher.ts";
import { dropLeft } from "./drop.ts";
import { deliveryChannel, fanOut } from "./fan-out.ts";
import { endListeners } from "./listener/endpoint.ts";
import { type ListenerWaits, makeListenerWaits } from "./listener/waits.ts";
import { makeFindOne, sql, table } from "../platform/database/sql.ts";
import { lockQueues, promoteNext } from "./queue.ts";

export type WebhookSettings = {
  timeoutMs: number;
  retrySeconds: readonly number[];
  disableAfterDays: number;
  logDays: number;
  concurrency: number;
};

type WebhookDeps = {
  db: PrismaDb;
  clock: Clock;
  log: Log;
  keys: EncryptionKeys;
  policy: OutboundPolicy;
  settings: WebhookSettings;
  leaseSeconds?: number;
  random?: () => number;
  count?: (outcome: "delivered" | "failed", clientId: string) => void;
};

const fanOutBatch = 2000;

export function makeWebhooks({
  db,
  clock,
  log,
  keys,
  policy,
  settings,
  leaseSeconds = 15,
  random = Math.random,
  count = () => {},
}: WebhookDeps): { jobs: WorkerJob[]; waits: Pick<ListenerWaits, "wait" | "close">; close(): Promise<void> } {
  const sender = makeGuardedSender({ ...policy, timeoutMs: settings.timeoutMs });
  const [events, deliveries] = [makeWakeUp(), makeWakeUp()];
  const deps = { db, clock, log, keys, sender, random, leaseSeconds, count };
  const dispatcher = makeDispatcher({ ...settings, ...deps, wakeUp: deliveries });
  let listener: Listener | null = null;
  const listen = () =>
    (listener ??= listenFor(db.pool, {
      [appEventChannel]: events,
      [deliveryChannel]: { ...deliveries, wake: () => [deliveries, waits.wakeUp].forEach((wakeUp) => wakeUp.wake()) },
    }));
  const waits = makeListenerWaits({ db, clock, listen: () => void listen() });

  const fanOutSome = async (): Promise<number> => {
    const { read, made } = await fanOut(db, { now: clock(), limit: fanOutBatch });
    if (made > 0) deliveries.wake();
    return read;
  };

  const jobs: WorkerJob[] = [
    {
      name: "webhooks.fanOut",
      everySeconds: 1,
      wait: (seconds, signal) => (listen(), events.wait(seconds, signal)),
      async run(signal) {
        // In batches, so that the first events of a large change are delivered while later ones get their positions.
        await sequenceSome(db, fanOutBatch);
        for (let isMore = true; isMore && !signal.aborted;) {
          const [placed, read] = await Promise.all([sequenceSome(db, fanOutBatch), fanOutSome()]);
          isMore = placed > 0 || read === fanOutBatch;
        }
      },
    },
    {
      name: "webhooks.deliver",
      everySeconds: 1,
      wait: (seconds, signal) => (listen(), deliveries.wait(seconds, signal)),
      run: dispatcher.run,
    },
    { name: "webhooks.drop", everySeconds: 30, run: (signal) => dropLeft(db, { now: clock(), signal }) },
    { name: "webhooks.endListeners", everySeconds: 60, run: (signal) => endListeners(db, { now: clock(), signal }) },
    {
      name: "webhooks.sweep",
      everySeconds: 3600,
      async run(signal) {
        const swept = await sweepWebhooks(db, { now: clock(), logDays: settings.logDays, signal });
        if (swept > 0) log.info({ swept }, "old webhook deliveries were removed");
      },
    },
  ];
  return {
    jobs,
    waits,
    async close() {
      waits.close();
      await listener?.close();
      await sender.close();
    },
  };
}

const most = 1000;

const d = table("webhookDelivery", "d");
const a = table("webhookAttempt", "a");

type Batch = { before: Date; now: Date; after: string };

const sweepBatch = makeFindOne<{ gone: number; last: string }, Batch>("webhooks.sweep")`
  WITH oldest AS (SELECT ${d.id}, ${d.createdAt} FROM ${d} WHERE ${d.id} > ${"after"} ORDER BY ${d.id} LIMIT ${most}),
  gone AS (
    DELETE FROM ${d} USING oldest WHERE ${d.id} = oldest.id AND oldest.created_at < ${"before"}
    RETURNING ${d.id}, ${d.endpointId}, ${d.subjectId}),
  attempts AS (DELETE FROM ${a} USING gone WHERE ${a.deliveryId} = gone.id),
  promoted AS (${({ now }) => promoteNext(sql`gone`, now)})
  SELECT count(*)::int AS gone, coalesce(max(id), 0)::text AS last FROM gone`;

/** Removes old deliveries and expired secrets; returns the number of deliveries. Units: logDays in days of 24 hours. */
export async function sweepWebhooks(
  db: PrismaDb,
  { now, logDays, signal }: { now: Date; logDays: number; signal: AbortSignal },
): Promise<number> {
  await db.prisma.webhookSecret.deleteMany({ where: { expiresAt: { lte: now } } });
  const before = addDays(now, -logDays);
  let swept = 0;
  for (let [gone, last] = [most, "0"]; gone === most && !signal.aborted; swept += gone) {
    const after = last;
    ({ gone, last } = await withTransaction(db, async (tx) => {
      await lockQueues(tx, "exclusive");
      return sweepBatch(tx, { before, now, after });
    }));
  }
  return swept;
}
