import { AsyncLocalStorage } from "node:async_hooks";
import type pg from "pg";
import { poolsInTransaction } from "../../src/platform/database/db.ts";

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/**
 * Lets a pool refuse a second connection to work that has a transaction of it: with as many of them as connections,
 * each would wait for the others. Answers the pool.
 */
export function refuseSecondConnections(pool: pg.Pool): pg.Pool {
  const connect = pool.connect.bind(pool) as (connected?: Connected) => Promise<pg.PoolClient>;
  const refused = () => new Error("work in a transaction asks its pool for a second connection");
  const guarded = (connected?: Connected): Promise<pg.PoolClient> | undefined => {
    if (poolsInTransaction.getStore()?.includes(pool) !== true) return connect(connected);
    if (connected === undefined) return Promise.reject(refused());
    connected(refused(), undefined, () => undefined);
    return undefined;
  };
  return Object.assign(pool, { connect: guarded });
}

const outside = AsyncLocalStorage.snapshot();

/** Runs what others do while the caller's transaction is open. */
export const asOthers = <T>(work: () => T): T => outside(work);
