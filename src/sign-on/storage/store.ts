import { type App, findApp, listSignOnRights, type SignOnRight } from "../../access/index.ts";
import type { Db } from "../../platform/db.ts";
import { type Decisions, listDecisions, type Pair } from "../consent.ts";
import { type Artifact, findArtifacts, type FoundArtifact, type Key } from "./artifact.ts";
import { makeBundle } from "./bundle.ts";
import { findSessions, findTokens, type SessionLookup, type TokenLookup } from "./lookup.ts";
import { writeArtifacts } from "./write.ts";

/** What requests at the same time ask and write together. */
export type Store = {
  findArtifact(key: Key): Promise<FoundArtifact | null>;
  findSession(asked: { idHash: Buffer; clientId: string }): Promise<SessionLookup | null>;
  findToken(key: Key): Promise<TokenLookup | null>;
  findApp(clientId: string): Promise<App | null>;
  findRight(pair: Pair): Promise<SignOnRight>;
  findDecisions(pair: Pair): Promise<Decisions>;
  /** Stores an artifact that depends on nothing else. */
  put(artifact: Artifact): Promise<unknown>;
};

const bundles = { atOnce: 2, largest: 100 };

export function makeStore({ pool }: Db): Store {
  return {
    findArtifact: makeBundle((keys) => findArtifacts(pool, keys), bundles),
    findSession: makeBundle((asked) => findSessions(pool, asked), bundles),
    findToken: makeBundle((keys) => findTokens(pool, keys), bundles),
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
  };
}
