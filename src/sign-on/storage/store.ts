import { type App, findApp, listSignOnRights, type SignOnRight } from "../../access/index.ts";
import { type Db, isRefused } from "../../platform/db.ts";
import { type Decisions, listDecisions, type Pair } from "../consent.ts";
import { type Artifact, findArtifacts, type FoundArtifact, type Key } from "./artifact.ts";
import { makeBundle } from "./bundle.ts";
import { type AskedToken, findSessions, findTokens, type Presented, type SessionLookup } from "./lookup.ts";
import { type TokenUse, useTokens } from "./use-token.ts";
import { writeArtifacts } from "./write.ts";

/** What requests at the same time ask and write together. */
export type Store = {
  findArtifact(key: Key): Promise<FoundArtifact | null>;
  findSession(asked: { idHash: Buffer; clientId: string }): Promise<SessionLookup | null>;
  findToken(asked: AskedToken): Promise<Presented>;
  findApp(clientId: string): Promise<App | null>;
  findRight(pair: Pair): Promise<SignOnRight>;
  findDecisions(pair: Pair): Promise<Decisions>;
  /** Stores an artifact that depends on nothing else. */
  put(artifact: Artifact): Promise<unknown>;
  /** Uses a token up with all that is given for it; false when somebody was faster. */
  useToken(use: TokenUse): Promise<boolean>;
};

const bundles = { atOnce: 4, largest: 100, patienceMs: 5 };

export function makeStore({ pool }: Db): Store {
  return {
    findArtifact: makeBundle((keys) => findArtifacts(pool, keys), bundles),
    findSession: makeBundle((asked) => findSessions(pool, asked), bundles),
    findToken: makeBundle(
      async (asked: AskedToken[]) =>
        (await findTokens(pool, asked)).map((found) => found ?? { token: null, app: null }),
      bundles,
    ),
    findApp: makeBundle(async (clientIds: string[]) => {
      const apps = new Map([...new Set(clientIds)].map((clientId) => [clientId, findApp(pool, clientId)]));
      return Promise.all(clientIds.map(async (clientId) => (await apps.get(clientId)) ?? null));
    }, bundles),
    findRight: makeBundle((pairs: Pair[]) => listSignOnRights(pool, pairs), bundles),
    findDecisions: makeBundle((pairs: Pair[]) => listDecisions(pool, pairs), bundles),
    put: makeBundle(async (puts: Artifact[]) => {
      await writeArtifacts(pool, { puts });
      return puts;
    }, bundles),
    useToken: makeBundle((uses: TokenUse[]) => useTogether(pool, uses), bundles),
  };
}

// Uses may get into each other's way, or into that of a change of the person: then each goes alone, and what fails
// fails for itself. Where a connection broke they may have been written, and nobody asks again.
async function useTogether(pool: Db["pool"], uses: TokenUse[]): Promise<(boolean | Promise<boolean>)[]> {
  try {
    return await useTokens(pool, uses);
  } catch (error) {
    if (uses.length === 1 || !isRefused(error)) throw error;
    return uses.map(async (use) => (await useTokens(pool, [use]))[0] === true);
  }
}
