import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../../platform/database/db.ts";
import { makeFind } from "../../platform/database/sql.ts";
import type { ClientId } from "../token.ts";

export type State = "PREPARING" | "RUNNING" | "CUT_OVER" | "CALLED_OFF";

export type Leased = { clientId: ClientId; state: State; oldSector: string; newSector: string; isAnnounced: boolean };

/** A move that this process works on. `renew` throws when the process must stop. */
export type Held = { move: Leased; now: Date; renew: () => Promise<void>; signal: AbortSignal };

const listWriters = makeFind<{ id: string }>("access.listIdWriters")`
  SELECT DISTINCT virtualtransaction AS id FROM pg_locks
  WHERE relation = 'pairwise_id'::regclass AND mode = 'RowExclusiveLock' AND pid <> pg_backend_pid()
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

const pauseMs = 100;

/** Waits for the transactions that make ids now, because they may not see what was committed before this call. */
export async function waitForWriters({ pool }: Db, { renew, signal }: Held): Promise<void> {
  const list = async () => (await listWriters(pool, {})).map(({ id }) => id);
  for (let before = await list(); before.length > 0;) {
    await renew();
    await sleep(pauseMs, undefined, { signal });
    const now = new Set(await list());
    before = before.filter((id) => now.has(id));
  }
}
