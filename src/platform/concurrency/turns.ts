import type { Clock } from "../clock.ts";

type Turns = {
  /** Whether `key` may be read again now; `source` is the caller, null if nobody else can send in its name. */
  take(key: string, source: string | null): boolean;
  /** Ends the turns of all sources, or of one, until the window ends. */
  close(key: string, source?: string | null): void;
};

type Window = { since: number; isClosed: boolean; turnsByCaller: Map<string | null, number> };

const mostKeys = 1000;

/**
 * Limits how often this process reads something again because of what strangers sent. Each source has turns of its own
 * in a window, so that made-up input does not use up the turn of others; the number of sources limits all of them.
 */
export function makeTurns(
  clock: Clock,
  { windowSeconds, each, sources }: { windowSeconds: number; each: number; sources: number },
): Turns {
  const windows = new Map<string, Window>();
  const windowOf = (key: string): Window => {
    const now = clock().getTime();
    const open = windows.get(key);
    if (open !== undefined && now - open.since < windowSeconds * 1000) return open;
    windows.delete(key);
    const window = { since: now, isClosed: false, turnsByCaller: new Map() };
    windows.set(key, window);
    if (windows.size > mostKeys) windows.delete(windows.keys().next().value!);
    return window;
  };
  return {
    take(key, source) {
      const { isClosed, turnsByCaller } = windowOf(key);
      const count = turnsByCaller.get(source) ?? 0;
      const strangers = turnsByCaller.size - (turnsByCaller.has(null) ? 1 : 0);
      const isFull = source !== null && count === 0 && strangers >= sources;
      if (isClosed || isFull || count >= each) return false;
      turnsByCaller.set(source, count + 1);
      return true;
    },
    close(key, source) {
      const window = windowOf(key);
      if (source === undefined) window.isClosed = true;
      else window.turnsByCaller.set(source, each);
    },
  };
}
