import { makeBounded, type Bounded } from "./bounded.ts";

/** Until a check has been measured. */
const assumedMs = 200;

/** The share of the newest check in the average. */
const newestShare = 0.1;

const shortestTurnMs = 3000;
export const longestTurnSeconds = 60;
const longestTurnMs = longestTurnSeconds * 1000;

/** Accepts passwords while the wait is short; later ones get a turn at the pace of the checks. `now` is in ms. */
export class PasswordQueue {
  readonly #atOnce: number;
  readonly #bounded: Bounded;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #running = new Set<{ began: number }>();
  #averageMs: number | null = null;
  #inside = 0;
  #lastTurn = Number.NEGATIVE_INFINITY;

  constructor(
    limit: { atOnce: number; waiting: number },
    now: () => number = () => performance.now(),
    random: () => number = Math.random,
  ) {
    [this.#atOnce, this.#bounded, this.#now, this.#random] = [limit.atOnce, makeBounded(limit), now, random];
  }

  /** Runs in the order of arrival. Returns "full" at once if it would wait longer than `longestMs`. */
  async run<T>(work: () => Promise<T>, longestMs: number): Promise<T | "full"> {
    if (this.waitMs() > longestMs) return "full";
    this.#inside += 1;
    try {
      return await this.#bounded(() => this.#timed(work));
    } finally {
      this.#inside -= 1;
    }
  }

  waitMs(): number {
    return Math.max(0, this.#inside + 1 - this.#atOnce) * this.#paceMs();
  }

  /** Returns when a browser that is turned away comes again; each gets a later turn than the one before. */
  giveTurnMs(): number {
    const at = this.#now();
    this.#lastTurn = Math.max(at + Math.max(this.waitMs(), shortestTurnMs), this.#lastTurn + this.#paceMs());
    if (this.#lastTurn <= at + longestTurnMs) return this.#lastTurn - at;
    this.#lastTurn = at + longestTurnMs;
    return longestTurnMs * (0.5 + this.#random() / 2);
  }

  #paceMs(): number {
    const [oldest] = this.#running;
    const oldestMs = oldest === undefined ? 0 : this.#now() - oldest.began;
    return Math.max(this.#averageMs ?? assumedMs, oldestMs) / this.#atOnce;
  }

  async #timed<T>(work: () => Promise<T>): Promise<T> {
    const check = { began: this.#now() };
    this.#running.add(check);
    try {
      return await work();
    } finally {
      this.#running.delete(check);
      const tookMs = this.#now() - check.began;
      const before = this.#averageMs ?? tookMs;
      this.#averageMs = before * (1 - newestShare) + tookMs * newestShare;
    }
  }
}
