import type pg from "pg";

/**
 * Tells of work before the time of the next look: from this process at once, from others through LISTEN.
 *
 * Shape:  nudges are hints; one may get lost with its connection, so that nobody waits for them alone.
 */
export type Nudge = {
  /** Wakes whoever waits, or the next one who would. */
  wake(): void;
  /** Resolves when nudged, after the time, or when `signal` aborts. */
  wait(seconds: number, signal: AbortSignal): Promise<void>;
};

export function makeNudge(): Nudge {
  let isPending = false;
  const waiting = new Set<() => void>();
  return {
    wake() {
      if (waiting.size === 0) isPending = true;
      for (const end of [...waiting]) end();
    },
    wait(seconds, signal) {
      if (isPending || signal.aborted) {
        isPending = false;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", end);
          waiting.delete(end);
          resolve();
        };
        const timer = setTimeout(end, seconds * 1000);
        signal.addEventListener("abort", end, { once: true });
        waiting.add(end);
      });
    },
  };
}

export type Listener = { close(): Promise<void> };

const reconnectMs = 1000;

/** Holds one connection of the pool, on which PostgreSQL tells of other processes' work; a lost one is replaced. */
export function listenFor(pool: pg.Pool, nudges: Readonly<Record<string, Nudge>>): Listener {
  let client: pg.PoolClient | null = null;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;

  const connect = async (): Promise<void> => {
    const fresh = await pool.connect();
    const lose = (error?: Error): void => {
      if (client !== fresh) return;
      client = null;
      fresh.release(error ?? true);
      tryAgain();
    };
    client = fresh;
    fresh.on("notification", ({ channel }) => nudges[channel]?.wake());
    fresh.on("error", lose);
    fresh.on("end", lose);
    try {
      for (const channel of Object.keys(nudges)) await fresh.query(`LISTEN ${channel}`);
    } catch (error) {
      lose(error as Error);
      return;
    }
    if (isClosed) return release();
    // What was told while nobody listened.
    for (const nudge of Object.values(nudges)) nudge.wake();
  };
  const tryAgain = (): void => {
    if (!isClosed) retry = setTimeout(start, reconnectMs);
  };
  const start = (): void => {
    opening = connect().catch(tryAgain);
  };
  // Its subscriptions go with it: the connection is not given back to others.
  const release = (): void => {
    const held = client;
    client = null;
    held?.release(true);
  };

  let opening: Promise<void> = Promise.resolve();
  start();
  return {
    async close() {
      isClosed = true;
      clearTimeout(retry);
      release();
      await opening;
      release();
    },
  };
}
