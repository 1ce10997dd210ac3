import { makeBounded } from "./bounded.ts";

export type PasswordQueue = {
  /** Runs in the order of arrival. "full" at once for what would wait longer than `longestMs`. */
  run<T>(work: () => Promise<T>, longestMs: number): Promise<T | "full">;
  /** How long one more would wait, from how long the last ones took. */
  waitMs(): number;
  /** In how many milliseconds somebody who is turned away comes again; each gets a later turn than the one before. */
  giveTurnMs(): number;
};

/** What a check counts as before one has been measured. */
const assumedMs = 200;

/** Share of the newest in the average of what checks take. */
const newestShare = 0.1;

const shortestTurnMs = 3000;
export const longestTurnSeconds = 60;
const longestTurnMs = longestTurnSeconds * 1000;

/**
 * Lets passwords wait for their check as long as the wait is short, however many those are and however slow the
 * machine is. Who is turned away gets a turn at the pace of the checks; turns beyond the longest are spread.
 *
 * Units: `now` in milliseconds.
 */
export function makePasswordQueue(
  { atOnce, waiting }: { atOnce: number; waiting: number },
  now: () => number = () => performance.now(),
  random: () => number = Math.random,
): PasswordQueue {
  const bounded = makeBounded({ atOnce, waiting });
  const running = new Set<{ began: number }>();
  let averageMs: number | null = null;
  let [inside, lastTurn] = [0, Number.NEGATIVE_INFINITY];

  const takesMs = (): number => {
    const [oldest] = running;
    return Math.max(averageMs ?? assumedMs, oldest === undefined ? 0 : now() - oldest.began);
  };
  const paceMs = () => takesMs() / atOnce;
  const waitMs = () => Math.max(0, inside + 1 - atOnce) * paceMs();

  async function timed<T>(work: () => Promise<T>): Promise<T> {
    const check = { began: now() };
    running.add(check);
    try {
      return await work();
    } finally {
      running.delete(check);
      const tookMs = now() - check.began;
      averageMs = averageMs === null ? tookMs : averageMs * (1 - newestShare) + tookMs * newestShare;
    }
  }

  return {
    waitMs,
    async run(work, longestMs) {
      if (waitMs() > longestMs) return "full";
      inside += 1;
      try {
        return await bounded(() => timed(work));
      } finally {
        inside -= 1;
      }
    },
    giveTurnMs() {
      const at = now();
      lastTurn = Math.max(at + Math.max(waitMs(), shortestTurnMs), lastTurn + paceMs());
      if (lastTurn <= at + longestTurnMs) return lastTurn - at;
      lastTurn = at + longestTurnMs;
      return longestTurnMs * (0.5 + random() / 2);
    },
  };
}
