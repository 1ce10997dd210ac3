import { isDeepStrictEqual } from "node:util";
import { Provider, type Adapter, type AdapterPayload, type KoaContextWithOIDC } from "oidc-provider";
import type { Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/db.ts";
import {
  type Artifact,
  deleteArtifact,
  deleteGrant,
  findSessionByUid,
  type FoundArtifact,
  hashId,
} from "./artifact.ts";
import type { Lookup } from "./lookup.ts";
import { memoryKeys, noteGeneration, once, remember, type RequestWork } from "./request-work.ts";
import { findGeneration } from "./signing-in.ts";
import type { Store } from "./store.ts";
import { writeArtifacts } from "./write.ts";

export type StorageDeps = {
  db: Db;
  clock: Clock;
  refreshGraceSeconds: number;
  store: Pick<Store, "findArtifact" | "findSession" | "findToken">;
  findClient(clientId: string): Promise<AdapterPayload | undefined>;
  /** The app that an authorization request names, before it is known. */
  readClientId(ctx: KoaContextWithOIDC): string | null;
  /** The work of a running request; undefined outside of one, where everything is written at once. */
  findWork(ctx: object): RequestWork | undefined;
};

/** Makes what oidc-provider keeps its models in. */
export function makeAdapterFactory(deps: StorageDeps): (kind: string) => Adapter {
  return (kind) => {
    if (kind === "Client") return { ...makeRefusingAdapter(kind), find: deps.findClient };
    if (kind === "Grant") return makeGrantAdapter(deps);
    return makeArtifactAdapter(kind, deps);
  };
}

const refuse = (what: string) => async (): Promise<never> => {
  throw new Error(`sign-on stores no ${what}`);
};

function makeRefusingAdapter(kind: string): Adapter {
  const refused = refuse(kind);
  return {
    upsert: refused,
    find: refused,
    findByUid: refused,
    findByUserCode: refused,
    consume: refused,
    destroy: refused,
    revokeByGrantId: refused,
  };
}

const currentWork = ({ findWork }: StorageDeps): RequestWork | undefined => {
  const ctx = Provider.ctx;
  return ctx === undefined ? undefined : findWork(ctx);
};

// A grant is what its tokens say: nothing is stored for it, and it is there as long as one of them was found.
function makeGrantAdapter(deps: StorageDeps): Adapter {
  return {
    ...makeRefusingAdapter("Grant"),
    upsert: async () => {},
    destroy: (grantId) => deleteGrant(deps.db.pool, grantId),
    async find(grantId) {
      const token = currentWork(deps)?.found.get(grantId);
      if (!token) return undefined;
      return {
        jti: grantId,
        kind: "Grant",
        accountId: token.accountId,
        clientId: token.clientId,
        openid: { scope: token.scope, claims: Object.keys(token.claims?.id_token ?? {}) },
      } as AdapterPayload;
    },
  };
}

function makeArtifactAdapter(kind: string, deps: StorageDeps): Adapter {
  const { db } = deps;
  return {
    ...makeRefusingAdapter(kind),

    async find(id) {
      const found = await findWithLookup(deps, kind, hashId(id));
      if (!found) return undefined;
      const payload: AdapterPayload = { ...found.payload, jti: id };
      if (found.expiresAt <= deps.clock()) payload.exp = 1;
      if (found.consumedAt && !isInGrace(found, deps)) payload.consumed = Math.floor(found.consumedAt.getTime() / 1000);
      const work = currentWork(deps);
      if (work) noteGeneration(work, found);
      if (work && payload.grantId) work.found.set(payload.grantId, payload);
      // A copy: the library changes the part about apps in place.
      if (work && kind === "Session" && payload.uid)
        work.session = {
          uid: payload.uid,
          personId: payload.accountId ?? null,
          idHash: hashId(id),
          payload: structuredClone(found.payload),
          expiresAt: found.expiresAt,
        };
      return payload;
    },

    async findByUid(uid) {
      return (await findSessionByUid(db.pool, uid)) ?? undefined;
    },

    async upsert(id, payload, expiresInSeconds = 0) {
      // Nobody is signed in: there is nothing to keep, and anybody could fill the database with it.
      if (kind === "Session" && payload.accountId === undefined) return;
      const work = currentWork(deps);
      const expiresAt = new Date(deps.clock().getTime() + expiresInSeconds * 1000);
      const kept = work && kind === "Session" ? keepUsedApps(work, payload) : payload;
      const artifact = toArtifact(kind, id, kept, { expiresAt, generations: work?.generations });
      if (!work) await writeArtifacts(db.pool, { puts: [artifact] });
      else if (kind === "Session" && work.session && work.session.uid === payload.uid) changeSession(work, artifact);
      else work.puts.set(`${kind} ${id}`, artifact);
    },

    async consume(id) {
      const work = currentWork(deps);
      if (!work) throw new Error("a token is used up in a request only");
      const grantId = [...work.found.values()].find((token) => token.jti === id)?.grantId ?? null;
      work.consumption = { kind, id, idHash: hashId(id), grantId, at: deps.clock() };
    },

    async destroy(id) {
      const work = currentWork(deps);
      if (work && kind === "Session") work.sessionEnds = true;
      else if (work) work.removals.set(`${kind} ${id}`, { kind, idHash: hashId(id) });
      else await deleteArtifact(db.pool, kind, hashId(id));
    },

    // The library asks for each kind of token; one statement ends them all.
    revokeByGrantId: (grantId) => deleteGrant(db.pool, grantId),
  };
}

// What these bring a person for; who they are and what they may is asked next.
const lookedUp = new Set(["AuthorizationCode", "RefreshToken"]);

async function findWithLookup(deps: StorageDeps, kind: string, idHash: Buffer): Promise<FoundArtifact | null> {
  const { store, readClientId } = deps;
  const work = currentWork(deps);
  const clientId = kind === "Session" && Provider.ctx ? readClientId(Provider.ctx) : null;
  if (work && clientId !== null) {
    const session = await store.findSession({ idHash, clientId });
    if (session) remember(work, memoryKeys.app(clientId), session.app);
    return rememberLookup(work, session);
  }
  if (!work || !lookedUp.has(kind)) return store.findArtifact({ kind, idHash });
  const { token } = await once(work, memoryKeys.token({ kind, idHash }), () =>
    store.findToken({ kind, idHash, clientId: null }),
  );
  if (token?.personId) remember(work, memoryKeys.subject({ ...token, personId: token.personId }), token.subject);
  return rememberLookup(work, token);
}

function rememberLookup(work: RequestWork, found: Lookup | null): FoundArtifact | null {
  if (!found?.personId) return found;
  const pair = { clientId: found.clientId, personId: found.personId };
  remember(work, memoryKeys.right(pair), found.right);
  remember(work, memoryKeys.decisions(pair), found.decisions);
  return found;
}

// Inside the grace time a used refresh token goes through the whole check again; writing finds that it was used, and
// the stored answer is given once more.
function isInGrace(
  found: { consumedAt: Date | null; replay: Buffer | null },
  { clock, refreshGraceSeconds }: StorageDeps,
): boolean {
  if (!found.replay || !found.consumedAt) return false;
  return clock().getTime() - found.consumedAt.getTime() <= refreshGraceSeconds * 1000;
}

// The library gives a session a new id by destroying the old one first, and saves it at every request.
function changeSession(work: RequestWork, { idHash, payload, personId, generation, expiresAt }: Artifact): void {
  work.sessionEnds = false;
  if (work.session && isSameSession(work.session, { idHash, payload, expiresAt })) return;
  work.sessionChange = { uid: payload.uid ?? "", idHash, payload, personId, generation, expiresAt };
}

// The library notes every app that asked; only those that got a code are told of the session's end.
function keepUsedApps({ session, puts }: RequestWork, payload: AdapterPayload): AdapterPayload {
  const used = new Set(Object.keys(session?.payload.authorizations ?? {}));
  for (const { kind, clientId } of puts.values())
    if (kind === "AuthorizationCode" && clientId !== null) used.add(clientId);
  const authorizations = Object.fromEntries(
    Object.entries(payload.authorizations ?? {}).filter(([clientId]) => used.has(clientId)),
  );
  return { ...payload, authorizations };
}

type SessionState = Pick<Artifact, "idHash" | "payload" | "expiresAt">;

// A session that lives a minute longer is not worth a write.
const worthwhileMs = 60_000;

function isSameSession(before: SessionState, after: SessionState): boolean {
  if (!before.idHash.equals(after.idHash) || after.expiresAt.getTime() - before.expiresAt.getTime() > worthwhileMs)
    return false;
  return isDeepStrictEqual(lastingPart(before.payload), lastingPart(after.payload));
}

// A grant is of one authorization only, and is not looked up in the session again.
function lastingPart({ exp: _exp, iat: _iat, authorizations, ...payload }: AdapterPayload): unknown {
  const apps = Object.entries(authorizations ?? {}).map(([clientId, { grantId: _grantId, ...state }]) => [
    clientId,
    state,
  ]);
  return JSON.parse(JSON.stringify({ ...payload, authorizations: Object.fromEntries(apps) as object }));
}

type Made = { expiresAt: Date; generations: ReadonlyMap<string, number> | undefined };

function toArtifact(
  kind: string,
  id: string,
  { jti: _token, ...payload }: AdapterPayload,
  { expiresAt, generations }: Made,
): Artifact {
  const personId = findPersonOf(kind, payload);
  const outlivesSession = kind === "RefreshToken" && payload.scope?.split(" ").includes("offline_access") === true;
  const stored =
    payload.session?.cookie === undefined
      ? payload
      : { ...payload, session: { ...payload.session, cookie: undefined } };
  return {
    kind,
    idHash: hashId(id),
    payload: stored,
    clientId: payload.clientId ?? null,
    personId,
    generation: personId === null ? null : (findGeneration(personId) ?? generations?.get(personId) ?? null),
    grantId: payload.grantId ?? null,
    sessionUid: payload.uid ?? (outlivesSession ? null : (payload.sessionUid ?? null)),
    expiresAt,
  };
}

/** Whose sign-in an artifact stands on: of an interaction, whoever has just signed in there, else the person of the session. */
function findPersonOf(kind: string, { accountId, result, session }: AdapterPayload): string | null {
  if (kind !== "Interaction") return accountId ?? null;
  const { login } = (result ?? {}) as { login?: { accountId?: string } };
  return login?.accountId ?? session?.accountId ?? null;
}
