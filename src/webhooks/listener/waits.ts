import type { Clock } from "../../platform/clock.ts";
import type { Caller } from "../../platform/http/index.ts";
import type { Db } from "../../platform/database/db.ts";
import { makeFind, table } from "../../platform/database/sql.ts";
import { makeWakeUp } from "../../platform/jobs/wake-up.ts";
import { isDue } from "../queue.ts";

export type ListenerWaits = ReturnType<typeof makeListenerWaits>;

const d = table("webhookDelivery", "d");

const findDueListeners = makeFind<{ id: string }, { ids: readonly string[]; now: Date }>("webhooks.findDueListeners")`
  SELECT wanted.id FROM unnest(${"ids"}::uuid[]) AS wanted (id)
  CROSS JOIN LATERAL (
    SELECT FROM ${d} WHERE ${d.endpointId} = wanted.id AND ${({ now }) => isDue(d, now)} LIMIT 1) due`;

// Retries become due without a notification, and notifications can be lost.
const lookSeconds = 2;

/** Waiting requests hold no database connection: one statement checks all of them. The first one calls `listen`. */
type Deps = { db: Db; clock: Clock; listen: () => void };

export function makeListenerWaits({ db, clock, listen }: Deps) {
  const wakeUp = makeWakeUp();
  const waiting = new Map<string, (isDue: boolean) => void>();
  const closing = new AbortController();
  let isLooking = false;

  async function wakeDue(): Promise<void> {
    const due = await findDueListeners(db.pool, { ids: [...waiting.keys()], now: clock() });
    for (const { id } of due) waiting.get(id)?.(true);
  }

  async function lookOn(): Promise<void> {
    isLooking = true;
    while (waiting.size > 0 && !closing.signal.aborted) {
      // Tries again if the database cannot be reached; requests end by their own timeout.
      await wakeDue().catch(() => undefined);
      if (waiting.size > 0) await wakeUp.wait(lookSeconds, closing.signal);
    }
    isLooking = false;
  }

  return {
    wakeUp,
    /** Resolves to false on timeout, when another request waits for the endpoint, or when the caller disconnects. */
    wait(endpointId: string, seconds: number, caller: Pick<Caller, "hasLeft" | "onLeave">): Promise<boolean> {
      waiting.get(endpointId)?.(false);
      if (closing.signal.aborted || caller.hasLeft()) return Promise.resolve(false);
      return new Promise((resolve) => {
        const end = (isDue: boolean) => {
          clearTimeout(timer);
          off();
          if (waiting.get(endpointId) === end) waiting.delete(endpointId);
          resolve(isDue);
        };
        const timer = setTimeout(end, seconds * 1000, false);
        const off = caller.onLeave(() => end(false));
        waiting.set(endpointId, end);
        listen();
        if (isLooking) wakeUp.wake();
        else void lookOn();
      });
    },
    close() {
      closing.abort();
      for (const end of [...waiting.values()]) end(false);
    },
  };
}
