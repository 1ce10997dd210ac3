import type pg from "pg";

/** Starts work before its schedule; a wake-up may be lost, so work also runs on a schedule. */
export type WakeUp = {
  wake(): void;
  wait(seconds: number, signal?: AbortSignal): Promise<void>;
};

export function makeWakeUp(): WakeUp {
  let isPending = false;
  const waiting = new Set<() => void>();
  return {
    wake() {
      if (waiting.size === 0) isPending = true;
      for (const end of [...waiting]) end();
    },
    wait(seconds, signal) {
      if (isPending || signal?.aborted === true) {
        isPending = false;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", end);
          waiting.delete(end);
          resolve();
        };
        const timer = setTimeout(end, seconds * 1000);
        signal?.addEventListener("abort", end, { once: true });
        waiting.add(end);
      });
    },
  };
}

export type Listener = { close(): Promise<void> };

const reconnectMs = 1000;
const usual = { askMs: 15_000 };

export function listenFor(pool: pg.Pool, wakeUps: Readonly<Record<string, WakeUp>>, { askMs } = usual): Listener {
  let client: pg.PoolClient | null = null;
  let retry: NodeJS.Timeout | undefined;
  let asking: NodeJS.Timeout | undefined;
  let isClosed = false;

  const connect = async (): Promise<void> => {
    const fresh = await pool.connect();
    const lose = (error?: Error): void => {
      if (client !== fresh) return;
      client = null;
      clearTimeout(asking);
      fresh.release(error ?? true);
      tryAgain();
    };
    client = fresh;
    fresh.on("notification", ({ channel }) => wakeUps[channel]?.wake());
    fresh.on("error", lose);
    fresh.on("end", lose);
    try {
      for (const channel of Object.keys(wakeUps)) await fresh.query(`LISTEN ${channel}`);
    } catch (error) {
      lose(error as Error);
      return;
    }
    if (isClosed) return release();
    const askAgain = (): void => {
      if (client === fresh) asking = setTimeout(() => void fresh.query("SELECT 1").then(askAgain, lose), askMs).unref();
    };
    askAgain();
    // Notifications sent before LISTEN were not received.
    for (const wakeUp of Object.values(wakeUps)) wakeUp.wake();
  };
  const tryAgain = (): void => {
    if (!isClosed) retry = setTimeout(start, reconnectMs);
  };
  const start = (): void => {
    opening = connect().catch(tryAgain);
  };
  // Closed instead of reused, because its subscriptions would stay.
  const release = (): void => {
    const held = client;
    client = null;
    clearTimeout(asking);
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
