import { isDeepStrictEqual } from "node:util";
import { errors, Provider, type Adapter, type AdapterPayload, type KoaContextWithOIDC } from "oidc-provider";
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/db.ts";
import { changeInteraction, deleteArtifact, deleteGrant, findSessionByUid, hashId, useAssertion } from "./artifact.ts";
import type { Artifact, FoundArtifact } from "./artifact.ts";
import { type AnsweredInteraction, findTokenOfGrant, type Lookup, toFoundToken } from "./lookup.ts";
import {
  beforeChange,
  consume,
  findRequest,
  noteStanding,
  readOnce,
  put,
  questions,
  remember,
  remove,
  startChange,
} from "./request.ts";
import type { ProviderRequest, Standing, FoundToken, UnitOfWork } from "./request.ts";
import type { Store } from "./store.ts";
import { endOfSession } from "../session.ts";
import { nothing, writeArtifacts } from "./write.ts";

type StorageDeps = {
  db: Db;
  clock: Clock;
  refreshGraceSeconds: number;
  sessionSeconds: number;
  store: Pick<Store, "findAnswer" | "findArtifact" | "findInteraction" | "findSession" | "findToken">;
  findClient(clientId: string): Promise<AdapterPayload | undefined>;
  readClientId(ctx: KoaContextWithOIDC): string | null;
};

export function makeAdapterFactory(deps: StorageDeps): (kind: string) => Adapter {
  return (kind) => {
    if (kind === "Client") return { ...makeRefusingAdapter(kind), find: deps.findClient };
    if (kind === "Grant") return makeGrantAdapter(deps);
    if (kind === "ReplayDetection") return makeAssertionAdapter(deps);
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

// An OAuth grant is not stored: it consists of its tokens and exists as long as one of them.
function makeGrantAdapter(deps: StorageDeps): Adapter {
  const { db } = deps;
  return {
    ...makeRefusingAdapter("Grant"),
    upsert: async () => {},
    destroy: (grantId) => deleteGrant(db.pool, grantId),
    async find(grantId) {
      const read = findRequest()?.tokens.find((token) => token.grantId === grantId);
      const token = read ?? (await findTokenOfGrant(db.pool, grantId));
      return token ? presentGrant(grantId, token) : undefined;
    },
  };
}

// The library looks the id up and stores it later; another request could do the same meanwhile.
const makeAssertionAdapter = ({ db, clock }: StorageDeps): Adapter => ({
  ...makeRefusingAdapter("ReplayDetection"),
  find: async () => undefined,
  async upsert(id, { iss }, expiresInSeconds = 0) {
    const now = clock();
    const expiresAt = new Date(now.getTime() + expiresInSeconds * 1000);
    if (await useAssertion(db.pool, { idHash: hashId(id), clientId: String(iss), now, expiresAt })) return;
    throw new errors.InvalidClientAuth("client assertion tokens must only be used once");
  },
});

const presentGrant = (grantId: string, { personId, clientId, scope, idTokenClaims }: FoundToken): AdapterPayload =>
  ({
    jti: grantId,
    kind: "Grant",
    accountId: personId,
    clientId,
    openid: { scope, claims: idTokenClaims },
  }) as AdapterPayload;

function makeArtifactAdapter(kind: string, deps: StorageDeps): Adapter {
  const { db } = deps;
  return {
    ...makeRefusingAdapter(kind),

    async find(id) {
      const idHash = hashId(id);
      const artifact = await findWithLookup(deps, kind, idHash);
      if (!artifact) return undefined;
      const payload: AdapterPayload = { ...artifact.payload, jti: id };
      if (artifact.expiresAt <= deps.clock() || hasEnded(kind, artifact, deps)) payload.exp = 1;
      if (artifact.consumedAt && !isInGrace(artifact, deps))
        payload.consumed = Math.floor(artifact.consumedAt.getTime() / 1000);
      const request = findRequest();
      if (request) noteFound(request, { kind, idHash }, artifact);
      return payload;
    },

    async findByUid(uid) {
      return (await findSessionByUid(db.pool, uid)) ?? undefined;
    },

    async upsert(id, payload, expiresInSeconds = 0) {
      // Without a person there is nothing to keep, and strangers could fill the database.
      if (kind === "Session" && payload.accountId === undefined) return;
      const request = findRequest();
      const expiresAt = new Date(deps.clock().getTime() + expiresInSeconds * 1000);
      const stored = request && kind === "Session" ? keepUsedApps(request, payload) : payload;
      const artifact = toArtifact(kind, id, stored, { expiresAt, standings: request?.standings });
      if (!request) await storeAtOnce(deps, artifact);
      else if (kind === "Session" && request.session?.uid === payload.uid) saveSession(request, artifact);
      else put(request, artifact);
    },

    async consume(id) {
      const request = findRequest();
      if (!request) throw new Error("a token is used up in a request only");
      consume(request, await getToken(deps, request, { kind, idHash: hashId(id) }), deps.clock());
    },

    async destroy(id) {
      const request = findRequest();
      const key = { kind, idHash: hashId(id) };
      if (!request) await deleteArtifact(db.pool, key);
      else if (kind !== "Session") remove(request, key);
      else if (request.session) startChange(request).session = { kind: "ended", uid: request.session.uid };
    },

    revokeByGrantId: (grantId) => deleteGrant(db.pool, grantId),
  };
}

async function storeAtOnce({ db }: StorageDeps, artifact: Artifact): Promise<void> {
  if (artifact.kind !== "Interaction") await writeArtifacts(db.pool, { ...nothing, puts: [artifact] });
  else if (!(await changeInteraction(db.pool, artifact)))
    throw new errors.SessionNotFound("the interaction ended while the person answered");
}

type AskedKey = { kind: string; idHash: Buffer };

async function getToken({ store }: StorageDeps, { tokens }: ProviderRequest, key: AskedKey): Promise<FoundToken> {
  const read = tokens.find(({ kind, idHash }) => kind === key.kind && idHash.equals(key.idHash));
  if (read) return read;
  const artifact = await store.findArtifact(key);
  if (!artifact) throw new errors.InvalidGrant("the token was not found");
  return toFoundToken(key, artifact);
}

const tokenKinds = new Set(["AuthorizationCode", "RefreshToken", "AccessToken"]);

function noteFound(request: ProviderRequest, key: AskedKey, artifact: FoundArtifact): void {
  const { payload, expiresAt } = artifact;
  noteStanding(request, artifact);
  if (artifact.personId !== null) request.sessionRules.set(artifact.personId, artifact.rule);
  if (tokenKinds.has(key.kind)) request.tokens.push(toFoundToken(key, artifact));
  if (key.kind === "AuthorizationCode") request.code = payload;
  // A copy, because the library changes `authorizations` in place.
  if (key.kind === "Session" && payload.uid)
    request.session = {
      uid: payload.uid,
      personId: payload.accountId ?? null,
      idHash: key.idHash,
      payload: structuredClone(payload),
      expiresAt,
    };
}

// Kinds whose statement also reads the person and their rights, which are needed next.
const lookedUp = new Set(["AuthorizationCode", "RefreshToken", "AccessToken"]);

async function findWithLookup(deps: StorageDeps, kind: string, idHash: Buffer): Promise<FoundArtifact | null> {
  const { store, readClientId } = deps;
  const request = findRequest();
  const clientId = kind === "Session" && Provider.ctx ? readClientId(Provider.ctx) : null;
  if (request && clientId !== null) {
    const session = await store.findSession({ idHash, clientId });
    if (session) remember(request.memory, questions.app(clientId), session.app);
    return rememberLookup(request, session);
  }
  if (request && kind === "Interaction") return findInteraction(store, request, idHash);
  if (!request || !lookedUp.has(kind)) return store.findArtifact({ kind, idHash });
  const { token } = await readOnce(request.memory, questions.token({ kind, idHash }), () =>
    store.findToken({ kind, idHash, clientId: null }),
  );
  if (token?.personId)
    remember(request.memory, questions.subject({ ...token, personId: token.personId }), token.subject);
  return rememberLookup(request, token);
}

async function findInteraction(store: StorageDeps["store"], request: ProviderRequest, idHash: Buffer) {
  const answered = request.answered?.idHash.equals(idHash) ? request.answered : await findStoredAnswer(store, idHash);
  if (answered === null) return null;
  remember(request.memory, questions.app(answered.clientId), answered.app);
  request.surplusSessions = answered.surplusSessions;
  return rememberLookup(request, answered);
}

/** Finds the reply that was stored before the browser was sent elsewhere. */
async function findStoredAnswer(store: StorageDeps["store"], idHash: Buffer): Promise<AnsweredInteraction | null> {
  const interaction = await store.findInteraction(idHash);
  return interaction && store.findAnswer({ ...noReferences, ...interaction, kind: "Interaction", idHash });
}

const noReferences = { clientId: null, grantId: null, sessionUid: null };

function rememberLookup({ memory }: ProviderRequest, lookup: Lookup | null): FoundArtifact | null {
  if (!lookup?.personId) return lookup;
  const pair = { clientId: lookup.clientId, personId: lookup.personId };
  remember(memory, questions.right(pair), lookup.right);
  remember(memory, questions.decisions(pair), lookup.decisions);
  return lookup;
}

// A school may have shortened the time since the session was stored.
function hasEnded(kind: string, { payload, rule }: FoundArtifact, { clock, sessionSeconds }: StorageDeps): boolean {
  return kind === "Session" && endOfSession(payload, { rule, sessionSeconds }) * 1000 <= clock().getTime();
}

// Within the grace time a used refresh token is accepted, and the stored response is sent again.
function isInGrace(
  artifact: { consumedAt: Date | null; replay: Buffer | null },
  { clock, refreshGraceSeconds }: StorageDeps,
): boolean {
  if (!artifact.replay || !artifact.consumedAt) return false;
  return clock().getTime() - artifact.consumedAt.getTime() <= refreshGraceSeconds * 1000;
}

// The library changes a session's id by destroying it first, which a change replaces, and saves it at every request.
function saveSession(request: ProviderRequest, artifact: Artifact): void {
  const work = beforeChange(request);
  if (request.session === null || !isSameSession(request.session, artifact))
    startChange(request).session = { kind: "changed", change: { ...artifact, uid: artifact.payload.uid ?? "" } };
  else if (work.state === "changing" && work.session.kind === "ended") work.session = { kind: "kept" };
}

const listPuts = (work: UnitOfWork): Artifact[] => ("puts" in work ? [...work.puts.values()] : []);

// The library notes every app that asked; only those that got a code are notified of the end.
function keepUsedApps({ session, work }: ProviderRequest, payload: AdapterPayload): AdapterPayload {
  const used = new Set(Object.keys(session?.payload.authorizations ?? {}));
  for (const { kind, clientId } of listPuts(work))
    if (kind === "AuthorizationCode" && clientId !== null) used.add(clientId);
  const authorizations = Object.fromEntries(
    Object.entries(payload.authorizations ?? {}).filter(([clientId]) => used.has(clientId)),
  );
  return { ...payload, authorizations };
}

type SessionState = Pick<Artifact, "idHash" | "payload" | "expiresAt">;

// Changing the end of a session by up to a minute is not worth a write.
const worthwhileMs = 60_000;

function isSameSession(before: SessionState, after: SessionState): boolean {
  const movedMs = Math.abs(after.expiresAt.getTime() - before.expiresAt.getTime());
  if (!before.idHash.equals(after.idHash) || movedMs > worthwhileMs) return false;
  return isDeepStrictEqual(lastingPart(before.payload), lastingPart(after.payload));
}

// An OAuth grant belongs to one authorization, so the session need not remember it.
function lastingPart({ exp: _exp, iat: _iat, authorizations, ...payload }: AdapterPayload): unknown {
  const apps = Object.entries(authorizations ?? {}).map(([clientId, { grantId: _grantId, ...state }]) => [
    clientId,
    state,
  ]);
  return JSON.parse(JSON.stringify({ ...payload, authorizations: Object.fromEntries(apps) as object }));
}

function toArtifact(
  kind: string,
  id: string,
  { jti: _token, ...stored }: AdapterPayload,
  { expiresAt, standings }: { expiresAt: Date; standings: ReadonlyMap<string, Standing> | undefined },
): Artifact {
  const { payload, standing: proved } = takeStanding(stored);
  const personId = findPersonOf(kind, payload);
  const standing = personId === null ? undefined : (proved ?? standings?.get(personId));
  const outlivesSession = kind === "RefreshToken" && payload.scope?.split(" ").includes("offline_access") === true;
  return {
    kind,
    idHash: hashId(id),
    payload:
      payload.session === undefined ? payload : { ...payload, session: { ...payload.session, cookie: undefined } },
    clientId: payload.clientId ?? null,
    personId,
    generation: standing?.generation ?? null,
    cardId: standing?.cardId ?? null,
    upstreamSessionId: standing?.upstreamSessionId ?? null,
    grantId: payload.grantId ?? null,
    sessionUid: payload.uid ?? (outlivesSession ? null : (payload.sessionUid ?? null)),
    expiresAt,
  };
}
type Login = { accountId?: string; standing?: Standing };

/** Removes `standing`, which is stored in columns. */
function takeStanding({ standing, ...payload }: AdapterPayload & { standing?: Standing }): {
  payload: AdapterPayload;
  standing?: Standing | undefined;
} {
  const { login, ...result } = (payload.result ?? {}) as { login?: Login };
  if (login?.standing === undefined) return { payload, standing };
  const { standing: proved, ...rest } = login;
  return { payload: { ...payload, result: { ...result, login: rest } } as AdapterPayload, standing: proved };
}

function findPersonOf(kind: string, { accountId, result, session }: AdapterPayload): string | null {
  if (kind !== "Interaction") return accountId ?? null;
  const { login } = (result ?? {}) as { login?: Login };
  return login?.accountId ?? session?.accountId ?? null;
}
