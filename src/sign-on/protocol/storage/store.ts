import { type App, findApp, listSignOnRights, type SignOnRight } from "../../../access/index.ts";
import type { Clock } from "../../../platform/clock.ts";
import { type Db, isRefused } from "../../../platform/database/db.ts";
import { type Decisions, listDecisions, type Pair } from "../consent.ts";
import { type Artifact, findArtifacts, type FoundArtifact, type Key } from "./artifact.ts";
import { makeBatch } from "./batch.ts";
import {
  type AskedSession,
  type AskedToken,
  findInteractions,
  findSessions,
  findTokens,
  type InteractionLookup,
  type Presented,
  type SessionLookup,
} from "./lookup.ts";
import { type TokenUse, useTokens } from "./use-token.ts";
import { nothing, writeArtifacts } from "./write.ts";

/** Concurrent questions and writes of requests, sent to the database in batches. */
export type Store = {
  findArtifact(key: Key): Promise<FoundArtifact | null>;
  findSession(asked: AskedSession): Promise<SessionLookup | null>;
  findInteraction(idHash: Buffer): Promise<InteractionLookup | null>;
  findToken(asked: AskedToken): Promise<Presented>;
  findApp(clientId: string): Promise<App | null>;
  findRight(pair: Pair): Promise<SignOnRight>;
  findDecisions(pair: Pair): Promise<Decisions>;
  put(artifact: Artifact): Promise<unknown>;
  /** Uses up a token and stores what is issued for it; false if another request was faster. */
  useToken(use: TokenUse): Promise<boolean>;
};

const reads = { inParallel: 1, atOnce: 4, largest: 100, patienceMs: 5 };
// A write waits for the disk, while the next batch collects requests.
const writes = { ...reads, inParallel: 2 };

export function makeStore({ pool }: Db, clock: Clock): Store {
  return {
    findArtifact: makeBatch((keys) => findArtifacts(pool, keys), reads),
    findSession: makeBatch((asked) => findSessions(pool, asked, clock()), reads),
    findInteraction: makeBatch((idHashes) => findInteractions(pool, idHashes, clock()), reads),
    findToken: makeBatch(
      async (asked: AskedToken[]) =>
        (await findTokens(pool, asked, clock())).map((found) => found ?? { token: null, app: null }),
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
