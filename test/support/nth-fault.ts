import fc from "fast-check";
import type pg from "pg";

/**
 * A connection that is lost at the nth statement of some work: `before` the server gets the statement, or `after` it
 * was carried out, so that a COMMIT counts and nobody knows. With `kills`, all connections are lost there and every
 * later statement fails, as if the process had died.
 *
 * Shape: `nth` counts from 1, BEGIN and COMMIT included; with `of`, only statements whose text or name matches count.
 */
export type Fault = { nth: number; when: "before" | "after"; kills: boolean; of?: RegExp };

/** `isHit`: the work got as far as the fault. `error`: what the work threw because of it. */
export type Outcome<T> = { isHit: boolean; value?: T; error?: unknown };

export type Faults = {
  /**
   * Does the work with this fault. Resolves once the server has ended the transactions of the lost connections.
   *
   * Errors: those of work that was not hit.
   */
  during<T>(fault: Fault | null, work: () => Promise<T>): Promise<Outcome<T>>;
  /** Called by the work, such as the nth call of a receiver: the process dies now. */
  kill(): void;
};

/** No fault in two of three cases, otherwise one at one of the first statements: for the commands of a model. */
export const anyFault = (most = 20): fc.Arbitrary<Fault | null> => {
  const nth = fc.integer({ min: 1, max: most });
  const fault = fc.record({ nth, when: fc.constantFrom<Fault["when"]>("before", "after"), kills: fc.boolean() });
  return fc.oneof({ withCrossShrink: true }, { weight: 2, arbitrary: fc.constant(null) }, fault);
};

type Client = pg.PoolClient & { processID: number; connection: NodeJS.EventEmitter & { stream: { destroy(): void } } };
type Query = (...given: unknown[]) => unknown;
type Callback = (error: Error | null, result?: unknown) => void;

/** Lets connections of these pools be lost at a statement that a test chooses. */
export function makeFaults(...pools: pg.Pool[]): Faults {
  let fault: Fault | null = null;
  let counted = 0;
  let isHit = false;
  let isDead = false;
  const lost = new Set<number>();

  const lose = (client: Client): Error => {
    const error = Object.assign(new Error("the connection was lost by a test"), { code: "ECONNRESET" });
    lost.add(client.processID);
    client.connection.emit("error", error);
    client.connection.stream.destroy();
    return error;
  };
  const strike = (client: Client, kills: boolean): Error => {
    isHit = true;
    isDead ||= kills;
    if (kills) clientsOf(pools).forEach(lose);
    return lose(client);
  };
  const isNext = (statement: unknown): boolean =>
    fault !== null && !isHit && (fault.of?.test(nameOf(statement)) ?? true) && ++counted === fault.nth;

  const intercept = (client: Client): void => {
    const query = client.query.bind(client) as Query;
    const replaced: Query = (...given) => {
      if (isDead) return refuse(lose(client), query, given);
      if (fault === null || !isNext(given[0])) return query(...given);
      const { when, kills } = fault;
      if (when === "before" || isSubmittable(given[0])) return refuse(strike(client, kills), query, given);
      return answerAfter(query, given, () => strike(client, kills));
    };
    client.query = replaced as typeof client.query;
  };
  for (const pool of pools) pool.on("connect", (client) => intercept(client as Client));
  clientsOf(pools).forEach(intercept);

  return {
    async during(next, work) {
      [fault, counted, isHit] = [next, 0, false];
      const outcome = await work().then(
        (value) => ({ isHit, value }),
        (error: unknown) => ({ isHit, error }),
      );
      [fault, isDead] = [null, false];
      if ("error" in outcome && !outcome.isHit) throw outcome.error;
      await untilEnded(pools[0]!, lost);
      return outcome;
    },
    kill() {
      isHit = isDead = true;
      clientsOf(pools).forEach(lose);
    },
  };
}

const clientsOf = (pools: readonly pg.Pool[]): Client[] =>
  pools.flatMap((pool) => (pool as unknown as { _clients: Client[] })._clients);

/** The server notices a moment later that a connection is gone; until then its transaction holds locks. */
async function untilEnded(pool: pg.Pool, lost: Set<number>): Promise<void> {
  const text = "SELECT FROM pg_stat_activity WHERE pid = ANY ($1)";
  while (lost.size > 0 && (await pool.query(text, [[...lost]])).rowCount! > 0);
  lost.clear();
}

const nameOf = (statement: unknown): string => {
  if (typeof statement === "string") return statement;
  const { name = "", text = "" } = statement as { name?: string; text?: string };
  return `${name} ${text}`;
};

const isSubmittable = (statement: unknown): boolean => typeof (statement as { submit?: unknown }).submit === "function";

/** As `pg` refuses a statement: through its callback, its promise, or the cursor or stream itself. */
function refuse(error: Error, query: Query, given: unknown[]): unknown {
  if (isSubmittable(given[0])) return query(...given);
  const callback = given.at(-1);
  if (typeof callback !== "function") return Promise.reject(error);
  process.nextTick(callback as Callback, error);
  return undefined;
}

/** Carries the statement out, and answers with an error whatever its result. */
function answerAfter(query: Query, given: unknown[], strike: () => Error): unknown {
  const callback = given.at(-1);
  if (typeof callback === "function") return query(...given.slice(0, -1), () => (callback as Callback)(strike()));
  const fail = () => {
    throw strike();
  };
  return (query(...given) as Promise<unknown>).then(fail, fail);
}
