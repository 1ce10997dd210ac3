import type { AdapterPayload } from "oidc-provider";
import type { Db, Queryable } from "../../platform/db.ts";
import { withTransaction } from "../../platform/db.ts";
import { type Artifact, deleteArtifact, deleteSession } from "./artifact.ts";
import { type Consumption, type SessionChange, writeArtifacts } from "./write.ts";

/**
 * What one request at the provider has read and wants written.
 *
 * The library saves, consumes and destroys one by one; here it is gathered and written at the end of the request,
 * in one statement or transaction, before the answer leaves. So a code is used up together with the tokens it gave,
 * or not at all.
 */
export type RequestWork = {
  puts: Map<string, Artifact>;
  removals: Map<string, { kind: string; idHash: Buffer }>;
  consumption: (Omit<Consumption, "replay"> & { id: string; grantId: string | null }) | null;
  /** The session the request came with. */
  session: { uid: string; personId: string | null } | null;
  sessionChange: SessionChange | null;
  sessionEnds: boolean;
  /** Found tokens by the grant they belong to. */
  found: Map<string, AdapterPayload>;
  /** Facts to record in the same transaction. */
  facts: ((tx: Queryable) => Promise<void>)[];
  /** Answers of the database that the request needs more than once. */
  memory: Map<string, Promise<unknown>>;
};

export function startRequestWork(): RequestWork {
  return {
    puts: new Map(),
    removals: new Map(),
    consumption: null,
    session: null,
    sessionChange: null,
    sessionEnds: false,
    found: new Map(),
    facts: [],
    memory: new Map(),
  };
}

/** Asks once a request. */
export function once<T>(work: RequestWork, key: string, ask: () => Promise<T>): Promise<T> {
  const asked = work.memory.get(key) as Promise<T> | undefined;
  if (asked) return asked;
  const asking = ask();
  work.memory.set(key, asking);
  return asking;
}

/** Shape: false when the code or refresh token was used up by another request, or the session ended meanwhile; nothing is written then. */
export async function writeRequestWork(db: Db, work: RequestWork, makeReplay: () => Buffer | null): Promise<boolean> {
  const { puts, removals, consumption, sessionChange, sessionEnds, session, facts } = work;
  const condition = consumption ? { ...consumption, replay: makeReplay() } : sessionChange;
  const hasWrite = puts.size > 0 || condition !== null;
  const write = (tx: Queryable) => writeArtifacts(tx, { puts: [...puts.values()], condition });
  if (removals.size === 0 && facts.length === 0 && !sessionEnds) return hasWrite ? write(db.pool) : true;

  return withTransaction(db, async (tx) => {
    if (hasWrite && !(await write(tx))) return false;
    for (const { kind, idHash } of removals.values()) await deleteArtifact(tx, kind, idHash);
    if (sessionEnds && session) await deleteSession(tx, session.uid);
    for (const record of facts) await record(tx);
    return true;
  });
}
