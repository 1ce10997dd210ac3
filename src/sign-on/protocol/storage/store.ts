import { type App, findApp, listSignOnRights, type SignOnRight } from "../../../access/index.ts";
import type { Clock } from "../../../platform/clock.ts";
import { type Db, isRefused, type PrismaDb } from "../../../platform/database/db.ts";
import { type Decisions, listDecisions, type Pair } from "../consent.ts";
import { type Artifact, findArtifacts, type FoundArtifact, type Key } from "./artifact.ts";
import { type AnsweredInteraction, findAnswers, findInteractions, findSessions, findTokens } from "./lookup.ts";
import type { SessionKey, TokenKey, InteractionLookup, Presented, SessionLookup } from "./lookup.ts";
import { type TokenUse, useTokens, nothing, writeArtifacts } from "./write.ts";
import { findRequest } from "./request.ts";

/** Concurrent questions and writes of requests, sent to the database in batches. */
export type Store = {
  findArtifact(key: Key): Promise<FoundArtifact | null>;
  findSession(session: SessionKey): Promise<SessionLookup | null>;
  findInteraction(idHash: Buffer): Promise<InteractionLookup | null>;
  findAnswer(answer: Artifact): Promise<AnsweredInteraction | null>;
  findToken(token: TokenKey): Promise<Presented>;
  findApp(clientId: string): Promise<App | null>;
  findRight(pair: Pair): Promise<SignOnRight>;
  findDecisions(pair: Pair): Promise<Decisions>;
  put(artifact: Artifact): Promise<unknown>;
  /** Uses up a token and stores the tokens issued for it; false if another request was faster. */
  useToken(use: TokenUse): Promise<boolean>;
};

const reads = { inParallel: 1, atOnce: 4, largest: 100, patienceMs: 5 };
// A write waits for the disk, while the next batch collects requests.
const writes = { ...reads, inParallel: 2 };

export function makeStore({ pool }: Db, clock: Clock): Store {
  return {
    findArtifact: makeBatch((keys) => findArtifacts(pool, keys), reads),
    findSession: makeBatch((sessions) => findSessions(pool, sessions, clock()), reads),
    findInteraction: makeBatch((idHashes) => findInteractions(pool, idHashes), reads),
    findAnswer: makeBatch((answers) => findAnswers(pool, answers, clock()), reads),
    findToken: makeBatch(
      async (tokens: TokenKey[]) =>
        (await findTokens(pool, tokens, clock())).map((presented) => presented ?? { token: null, app: null }),
      reads,
    ),
    findApp: makeBatch(async (clientIds: string[]) => {
      const apps = new Map([...new Set(clientIds)].map((clientId) => [clientId, findApp(pool, clientId)]));
      return Promise.all(clientIds.map(async (clientId) => (await apps.get(clientId)) ?? null));
    }, reads),
    findRight: makeBatch((pairs: Pair[]) => listSignOnRights(pool, pairs, clock()), reads),
    findDecisions: makeBatch((pairs: Pair[]) => listDecisions(pool, pairs), reads),
    put: makeBatch(async (puts: Artifact[]) => {
      await writeArtifacts(pool, { ...nothing, puts });
      return puts;
    }, writes),
    useToken: makeBatch((uses: TokenUse[]) => useTogether(pool, uses), writes),
  };
}

// A batch that was refused, such as by a deadlock, is sent one by one; after a broken connection it may be written.
async function useTogether(pool: Db["pool"], uses: TokenUse[]): Promise<(boolean | Promise<boolean>)[]> {
  try {
    return await useTokens(pool, uses);
  } catch (error) {
    if (uses.length === 1 || !isRefused(error)) throw error;
    return uses.map(async (use) => (await useTokens(pool, [use]))[0] === true);
  }
}

/** The next batch waits while `inParallel` batches run; batches that run longer than `patienceMs` do not count. */
type BatchLimits = { inParallel: number; atOnce: number; largest: number; patienceMs: number };

/** Collects items while earlier batches run. An item never joins a batch that was already sent. */
export function makeBatch<Item, Answer>(
  run: (items: Item[]) => Promise<readonly (Answer | Promise<Answer>)[]>,
  { inParallel, atOnce, largest, patienceMs }: BatchLimits,
): (item: Item) => Promise<Answer> {
  type Waiting = { item: Item; resolve(answer: Answer | Promise<Answer>): void; reject(error: unknown): void };
  let waiting: Waiting[] = [];
  let underWay = 0;
  let slow = 0;

  const send = async (): Promise<void> => {
    const batch = waiting.slice(0, largest);
    waiting = waiting.slice(largest);
    underWay++;
    let isSlow = false;
    const patience = setTimeout(() => {
      isSlow = true;
      slow++;
      sendIfFree();
    }, patienceMs);
    try {
      const answers = await run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(answers[index] as Answer));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      clearTimeout(patience);
      underWay--;
      if (isSlow) slow--;
      setImmediate(sendIfFree);
    }
  };

  // setImmediate runs after all received input was read, so that it shares a batch.
  const sendIfFree = (): void => {
    if (waiting.length > 0 && underWay - slow < inParallel && underWay < atOnce) void send();
  };

  return (item) =>
    new Promise<Answer>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (waiting.length === 1) setImmediate(sendIfFree);
    });
}

type Shares = { signOn: PrismaDb; tokens: PrismaDb };

const isAtTokenEndpoint = (): boolean => findRequest()?.isAtTokenEndpoint === true;

/** The token endpoint has its own connections. Read `pool` and `prisma` at each use. */
export function makeDbByRoute({ signOn, tokens }: Shares): PrismaDb {
  const share = () => (isAtTokenEndpoint() ? tokens : signOn);
  return {
    get pool() {
      return share().pool;
    },
    get prisma() {
      return share().prisma;
    },
  };
}

export function makeStoreByRoute({ signOn, tokens }: Shares, clock: Clock): Store {
  const [store, tokenStore] = [makeStore(signOn, clock), makeStore(tokens, clock)];
  const pick = () => (isAtTokenEndpoint() ? tokenStore : store);
  const byRoute = (name: keyof Store) => [name, (key: never) => pick()[name](key)] as const;
  return Object.fromEntries((Object.keys(store) as (keyof Store)[]).map(byRoute)) as Store;
}
