import { withTransaction, type Db } from "../../platform/db.ts";
import type { Log } from "../../platform/log.ts";
import { setEndpointState, type EndpointState } from "../endpoint-state.ts";
import { choosePauseEnd } from "../schedule.ts";
import type { Lane } from "./lane.ts";
import { recordHealth } from "./record.ts";

const failuresBeforePause = 20;

/** What an endpoint deserves after its last results; null: to stay as it is. */
export function chooseState(
  { state, failures, failingSince, isGone }: Lane,
  { now, disableAfterDays }: { now: Date; disableAfterDays: number },
): EndpointState | null {
  if (isGone) return { state: "DISABLED", reason: "gone" };
  if (failures === 0) return state === "PAUSED" ? { state: "ACTIVE" } : null;
  if (failures < failuresBeforePause || failingSince === null) return null;
  if (now.getTime() - failingSince.getTime() >= disableAfterDays * 86_400_000)
    return { state: "DISABLED", reason: "failing" };
  return { state: "PAUSED", reason: "failing", resumeAt: choosePauseEnd(failingSince, now) };
}

type Deps = { db: Db; log: Log; holder: string; now: Date; disableAfterDays: number };

const words = {
  ACTIVE: "an endpoint takes webhooks again and is resumed",
  PAUSED: "an endpoint fails and is paused",
  DISABLED: "an endpoint is disabled",
};

/** Writes down how endpoints fare, and changes the states of those that deserve it. */
export async function settleHealth(
  lanes: readonly Lane[],
  { db, log, holder, now, disableAfterDays }: Deps,
): Promise<void> {
  const changed = lanes.filter((lane) => lane.isHealthChanged && lane.isOpen);
  for (const lane of lanes) lane.isHealthChanged = false;
  if (changed.length === 0) return;
  await recordHealth(
    db.pool,
    holder,
    changed.map(({ id, failures, failingSince }) => ({ id, failures, failingSince })),
  );
  for (const lane of changed) {
    const to = chooseState(lane, { now, disableAfterDays });
    if (to === null) continue;
    if (to.state === "PAUSED" && lane.state === "PAUSED")
      await db.pool.query("UPDATE webhook_endpoint SET resume_at = $2 WHERE id = $1 AND reason = 'failing'", [
        lane.id,
        to.resumeAt,
      ]);
    else {
      await withTransaction(db, (tx) => setEndpointState(tx, lane.id, to, { at: now }));
      const facts = {
        clientId: lane.clientId,
        endpointId: lane.id,
        failures: lane.failures,
        failingSince: lane.failingSince,
        ...("reason" in to && { reason: to.reason }),
      };
      if (to.state === "ACTIVE") log.info(facts, words.ACTIVE);
      else log.warn(facts, words[to.state]);
    }
    lane.state = to.state;
    lane.isOpen = to.state === "ACTIVE";
    if (!lane.isOpen) lane.ready.splice(0).forEach(({ id }) => lane.known.delete(id));
  }
}
