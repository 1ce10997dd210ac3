import { withPrismaTransaction, type PrismaDb } from "../../platform/database/db.ts";
import type { Log } from "../../platform/telemetry/log.ts";
import { setEndpointState, type EndpointState } from "../endpoint-state.ts";
import { chooseNextNew, choosePauseEnd } from "../schedule.ts";
import { dropReady, failuresBeforePause, type EndpointWorker } from "./endpoint-worker.ts";
import { recordHealth } from "./record.ts";

/** The state that the last results call for; null for no change. Units: disableAfterDays in days of 24 hours. */
function chooseState(
  { state, failures, failingSince, isGone }: EndpointWorker,
  { now, disableAfterDays }: { now: Date; disableAfterDays: number },
): EndpointState | null {
  if (isGone) return { state: "DISABLED", reason: "gone" };
  if (failures === 0) return state === "PAUSED" ? { state: "ACTIVE" } : null;
  if (failures < failuresBeforePause || failingSince === null) return null;
  if (now.getTime() - failingSince.getTime() >= disableAfterDays * 86_400_000)
    return { state: "DISABLED", reason: "failing" };
  const tryNewAt = chooseNextNew(failures - failuresBeforePause, now);
  return { state: "PAUSED", reason: "failing", resumeAt: choosePauseEnd(failingSince, now), tryNewAt };
}

type Deps = { db: PrismaDb; log: Log; holder: string; now: Date; disableAfterDays: number };

const messages = {
  ACTIVE: "a webhook endpoint succeeded and is resumed",
  PAUSED: "a webhook endpoint fails and is paused",
  DISABLED: "a webhook endpoint is disabled",
};

export async function updateHealth(workers: readonly EndpointWorker[], deps: Deps): Promise<void> {
  const changed = workers.filter((worker) => worker.isHealthChanged && worker.isOpen);
  for (const worker of workers) worker.isHealthChanged = false;
  if (changed.length === 0) return;
  const healths = changed.map(({ id, failures, failingSince }) => ({ id, failures, failingSince }));
  await recordHealth(deps.db.pool, { holder: deps.holder, healths: JSON.stringify(healths) });
  for (const worker of changed) {
    const to = chooseState(worker, deps);
    if (to === null) continue;
    if (to.state === "PAUSED" && to.reason === "failing" && worker.state === "PAUSED") {
      // The reason excludes an endpoint that its partner has paused meanwhile.
      const where = { id: worker.id, reason: "failing" };
      const { resumeAt, tryNewAt } = to;
      const data = { resumeAt, ...(worker.hasNewFailed && { tryNewAt }) };
      await deps.db.prisma.webhookEndpoint.updateMany({ where, data });
    } else await changeState(worker, to, deps);
    Object.assign(worker, { state: to.state, hasNewFailed: false });
    worker.isOpen = to.state === "ACTIVE";
    if (!worker.isOpen) dropReady(worker);
  }
}

async function changeState(worker: EndpointWorker, to: EndpointState, { db, log, now }: Deps): Promise<void> {
  const { id, clientId, failures, failingSince } = worker;
  await withPrismaTransaction(db, (tx) => setEndpointState(tx, id, to, { at: now }));
  const facts = { clientId, endpointId: id, failures, failingSince, ...("reason" in to && { reason: to.reason }) };
  if (to.state === "ACTIVE") log.info(facts, messages.ACTIVE);
  else log.warn(facts, messages[to.state]);
}
