import { type App, findApp, listSignOnRights, type SignOnRight } from "../../access/index.ts";
import type { Db } from "../../platform/db.ts";
import { type Decisions, listDecisions, type Pair } from "../consent.ts";
import { type Artifact, findArtifacts, type FoundArtifact } from "./artifact.ts";
import { makeBundle } from "./bundle.ts";
import { writeArtifacts } from "./write.ts";

/** What requests at the same time ask and write together. */
export type Store = {
  findArtifact(key: { kind: string; idHash: Buffer }): Promise<FoundArtifact | null>;
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
