import { hash } from "node:crypto";
import { makeUuid } from "../../../platform/crypto/ids.ts";
import {
  arrayOf,
  asynchronous,
  columnNames,
  findRows,
  join,
  jsonRows,
  makeFind,
  makeRun,
  sql,
  statement,
  table,
  update,
} from "../../../platform/database/sql.ts";
import type { Parameter, Queryable, Sql, Statement } from "../../../platform/database/sql.ts";
import { type NewNotice, storeNotices, toNoticeRows } from "../../../accounts/index.ts";
import { recordAuditFrom } from "../../../events/index.ts";
import {
  type Bucket,
  giveBackSteps,
  toBucketParameters,
  makeFindWithBuckets,
  takeSteps,
  undoTake,
} from "../../../platform/database/token-bucket.ts";
import { type Artifact, type Key, rowTypes, storeArtifacts, toRow } from "./artifact.ts";
import { recordSignInsFrom, type ClientId } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/db.ts";
import type { Pair } from "../consent.ts";

/** A session is found by its uid, because its id may change; apps are added to those that others stored meanwhile. */
export type SessionChange = Pick<
  Artifact,
  "idHash" | "payload" | "personId" | "generation" | "cardId" | "upstreamSessionId" | "expiresAt"
> & {
  uid: string;
};

export type SessionFate =
  { kind: "kept" } | { kind: "changed"; change: SessionChange } | { kind: "ended"; uid: string };

export type Logout = { at: Date; personId: string; clientId: string | undefined; requestId: string | undefined };

export type Write = {
  puts: readonly Artifact[];
  removals: readonly Key[];
  session: SessionFate;
  notices: readonly NewNotice[];
  logout: Logout | null;
  returned: readonly Bucket[];
};

export const nothing: Write = {
  puts: [],
  removals: [],
  session: { kind: "kept" },
  notices: [],
  logout: null,
  returned: [],
};

/** "gone": another request had removed the artifacts, so nothing was written. "ended": the session has ended. */
export type Outcome = "written" | "gone" | "ended";

/** Writes everything in one statement; where the session has ended, only the removals and the returned tokens. */
export async function writeArtifacts(db: Queryable, write: Write): Promise<Outcome> {
  const names = partNames.filter((name) => isNeeded[name](write));
  if (names.length === 0) return "written";
  const statement = findStatement(names, { buckets: write.returned.length, waits: !isUnfinished(write) });
  const [row] = await findRows<{ outcome: Outcome }>(db, statement, toParameters(write));
  return row!.outcome;
}

const isNeeded = {
  removal: ({ removals }: Write) => removals.length > 0,
  sessionChange: ({ session }: Write) => session.kind === "changed",
  put: ({ puts }: Write) => puts.length > 0,
  ending: ({ session }: Write) => session.kind === "ended",
  notice: ({ notices }: Write) => notices.length > 0,
  logout: ({ logout }: Write) => logout !== null,
  returned: ({ returned }: Write) => returned.length > 0,
};

/** Whether a crash may lose the write: the sign-on then begins anew. The exchange of the code waits for the disk. */
const isUnfinished = ({ puts, removals, session, notices, logout }: Write): boolean =>
  puts.some(({ kind }) => kind === "AuthorizationCode") &&
  removals.every(({ kind }) => kind === "Interaction") &&
  !(session.kind === "ended" || notices.length > 0 || logout);

type PartName = keyof typeof isNeeded;
const partNames = Object.keys(isNeeded) as PartName[];

const noChange: SessionChange = {
  uid: "",
  idHash: Buffer.alloc(0),
  payload: {},
  personId: null,
  generation: null,
  cardId: null,
  upstreamSessionId: null,
  expiresAt: new Date(0),
};

function toParameters({ puts, removals, session, notices, logout, returned }: Write) {
  const { uid, idHash, payload, personId, generation, cardId, upstreamSessionId, expiresAt } =
    session.kind === "changed" ? session.change : noChange;
  return {
    sessionUid: session.kind === "ended" ? session.uid : uid,
    sessionIdHash: idHash,
    sessionPayload: JSON.stringify(payload),
    sessionPersonId: personId,
    sessionGeneration: generation,
    sessionCardId: cardId,
    sessionUpstreamId: upstreamSessionId,
    sessionExpiresAt: expiresAt,
    puts: JSON.stringify(puts.map(toRow)),
    removedKinds: removals.map(({ kind }) => kind),
    removedHashes: removals.map(({ idHash: removed }) => removed),
    notices: toNoticeRows(notices),
    logoutId: logout && makeUuid(logout.at),
    logoutAt: logout?.at,
    logoutPersonId: logout?.personId,
    logoutClientId: logout?.clientId,
    logoutRequestId: logout?.requestId,
    ...toBucketParameters(returned),
  };
}

type Params = ReturnType<typeof toParameters>;
type Parameters = { readonly [Name in keyof Params]-?: Parameter };

const artifact = table("oidcArtifact");
const session = table("oidcArtifact", "session");

type Conditions = { isRemoved: Sql; isWritten: Sql };

const parts: Record<PartName, (params: Parameters, conditions: Conditions, buckets: number) => Sql> = {
  removal: (params) => sql`removal AS (
    DELETE FROM ${artifact} WHERE (${artifact.kind}, ${artifact.idHash}) IN (
      SELECT * FROM unnest(${arrayOf(params.removedKinds, "text")}, ${arrayOf(params.removedHashes, "bytea")}))
    RETURNING 1)`,
  sessionChange: (params, { isRemoved }) => {
    const change = {
      idHash: params.sessionIdHash,
      personId: sql`coalesce(${params.sessionPersonId}::uuid, ${session.personId})`,
      expiresAt: params.sessionExpiresAt,
      generation: sql`CASE WHEN ${params.sessionPersonId}::uuid IS NULL THEN ${session.generation}
        ELSE ${params.sessionGeneration}::int END`,
      cardId: sql`CASE WHEN ${params.sessionPersonId}::uuid IS NULL THEN ${session.cardId}
        ELSE ${params.sessionCardId}::uuid END`,
      upstreamSessionId: sql`CASE WHEN ${params.sessionPersonId}::uuid IS NULL THEN ${session.upstreamSessionId}
        ELSE ${params.sessionUpstreamId}::uuid END`,
      payload: sql`${session.payload} || ${params.sessionPayload}::jsonb || jsonb_build_object('authorizations',
        coalesce(${session.payload}->'authorizations', '{}')
          || coalesce(${params.sessionPayload}::jsonb->'authorizations', '{}'))`,
    };
    return sql`session_change AS (
      ${update("oidcArtifact", "session", change)}
      WHERE ${session.kind} = 'Session' AND ${session.sessionUid} = ${params.sessionUid} AND ${isRemoved} RETURNING 1)`;
  },
  put: (params, { isWritten }) => {
    const { from, columns } = jsonRows(params.puts, "put", rowTypes);
    return sql`put AS (${storeArtifacts(columns, sql`${from} WHERE ${isWritten}`)})`;
  },
  ending: (params) => sql`ending AS (DELETE FROM ${artifact} WHERE ${artifact.sessionUid} = ${params.sessionUid})`,
  notice: (params, { isWritten }) => sql`notice AS (${storeNotices(params.notices, isWritten)})`,
  logout: (params, { isWritten }) => sql`logout AS (
      SELECT ${params.logoutId}::uuid AS id, ${params.logoutAt}::timestamptz AS at,
        ${params.logoutClientId}::text AS client_id, ${params.logoutPersonId}::uuid AS person_id,
        ${params.logoutRequestId}::text AS request_id
      WHERE ${isWritten}),
    logout_recorded AS (${recordAuditFrom(sql`logout`, "logged_out")})`,
  returned: (params, { isRemoved }, buckets) => join(giveBackSteps(params, buckets, isRemoved).steps),
};

const isThere = { removal: sql`EXISTS (SELECT FROM removal)`, sessionChange: sql`EXISTS (SELECT FROM session_change)` };

type Form = { buckets: number; waits: boolean };

function makeStatement(names: readonly PartName[], { buckets, waits }: Form): Statement<Params> {
  const isRemoved = names.includes("removal") ? isThere.removal : sql`true`;
  const isWritten = names.includes("sessionChange") ? isThere.sessionChange : isRemoved;
  const made = statement<Params>((params) => {
    const expressions = names.map((name) => parts[name](params, { isRemoved, isWritten }, buckets));
    const outcome = sql`CASE WHEN ${isWritten} THEN 'written' WHEN ${isRemoved} THEN 'ended' ELSE 'gone' END`;
    return sql`WITH ${join(expressions, ", ")} SELECT ${outcome} AS outcome WHERE ${waits ? sql`true` : asynchronous}`;
  });
  return { ...made, name: `sign-on.write.${hash("sha256", made.text, "hex").slice(0, 16)}` };
}

// One per combination that requests need: a handful.
const made = new Map<string, Statement<Params>>();

function findStatement(names: readonly PartName[], form: Form): Statement<Params> {
  const key = `${names.join(" ")} ${form.buckets} ${form.waits}`;
  const known = made.get(key);
  if (known) return known;
  const statementOfParts = makeStatement(names, form);
  made.set(key, statementOfParts);
  return statementOfParts;
}

const open = makeFindWithBuckets<{ taken: number }, { interactions: string; now: Date }>((params, buckets) => {
  const { steps, isDone, count } = takeSteps(params, buckets);
  const { from, columns } = jsonRows(params.interactions, "put", rowTypes);
  const put = sql`put AS (${storeArtifacts(columns, sql`${from} WHERE ${isDone}`)})`;
  return sql`WITH ${join([...steps, put])} SELECT ${count} AS taken`;
}, "sign-on.openInteraction");

/** Stores an interaction and takes a token from each bucket, or returns when there is a token again. */
export async function openInteraction(
  db: Queryable,
  interaction: Artifact,
  { buckets, now }: { buckets: readonly Bucket[]; now: Date },
): Promise<Date | null> {
  const [row] = await open(db, buckets, { interactions: JSON.stringify([toRow(interaction)]), now });
  return row!.taken === buckets.length ? null : undoTake(db, buckets, row!.taken, now);
}

/** A repeated sign-in of a person to an app, by a code. */
export type SignIn = { clientId: ClientId; personId: PersonId; at: Date; requestId: string | undefined };

export type TokenUse = {
  kind: string;
  idHash: Buffer;
  at: Date;
  /** The sealed response, if it may be sent again. */
  replay: Buffer | null;
  puts: readonly Artifact[];
  signIn: SignIn | null;
};

type UseParameters = {
  kinds: string[];
  idHashes: Buffer[];
  times: Date[];
  replays: (Buffer | null)[];
  puts: string;
  signIns: string;
};

const token = table("oidcArtifact", "token");
const signedIn = sql`signed_in`;

function storePuts(puts: Parameter): Sql {
  const { from, columns } = jsonRows(puts, "put", { place: "int", ...rowTypes });
  const { place, ...row } = columns;
  const relation = sql`${from} JOIN used ON used.place = ${place}`;
  const standing = {
    generation: sql`used.generation`,
    cardId: sql`used.card_id`,
    upstreamSessionId: sql`used.upstream_session_id`,
  };
  return storeArtifacts({ ...row, ...standing }, relation);
}

const signInTypes = {
  place: "int",
  id: "uuid",
  at: "timestamptz",
  clientId: "text",
  personId: "uuid",
  requestId: "text",
} as const;

function listSignIns(signIns: Parameter): Sql {
  const { from, columns: row } = jsonRows(signIns, "signing_in", signInTypes);
  return sql`
    SELECT ${row.id} AS id, ${row.at} AS at, ${row.clientId} AS client_id, ${row.personId} AS person_id,
      ${row.requestId} AS request_id
    FROM ${from} JOIN used ON used.place = ${row.place}`;
}

// All writes join the token's row in `used`, so nothing is written if another request was faster.
const useTokensStatement = makeFind<{ place: number }, UseParameters>(
  (params) => sql`
    WITH asked AS (
      SELECT place::int, kind, id_hash, at, replay
      FROM unnest(${arrayOf(params.kinds, "text")}, ${arrayOf(params.idHashes, "bytea")},
          ${arrayOf(params.times, "timestamptz")}, ${arrayOf(params.replays, "bytea")})
        WITH ORDINALITY AS asked (kind, id_hash, at, replay, place)),
    used AS (
      ${update("oidcArtifact", "token", { consumedAt: sql`asked.at`, replay: sql`asked.replay` })}
      FROM asked WHERE ${token.kind} = asked.kind AND ${token.idHash} = asked.id_hash AND ${token.consumedAt} IS NULL
      RETURNING asked.place, ${token.generation}, ${token.cardId}, ${token.upstreamSessionId}),
    put AS (${storePuts(params.puts)}),
    signed_in AS (${listSignIns(params.signIns)}),
    ${recordSignInsFrom(signedIn)},
    audit_recorded AS (${recordAuditFrom(signedIn, "signed_in")})
    SELECT place FROM used`,
  "sign-on.useTokens",
);

/** Uses up tokens and writes the tokens issued for them in one transaction; false if another request was faster. */
export async function useTokens(db: Queryable, uses: readonly TokenUse[]): Promise<boolean[]> {
  const rows = await useTokensStatement(db, {
    kinds: uses.map(({ kind }) => kind),
    idHashes: uses.map(({ idHash }) => idHash),
    times: uses.map(({ at }) => at),
    replays: uses.map(({ replay }) => replay),
    puts: JSON.stringify(uses.flatMap(({ puts }, index) => puts.map((put) => ({ place: index + 1, ...toRow(put) })))),
    signIns: JSON.stringify(uses.flatMap(({ signIn }, index) => (signIn ? [toSignInRow(signIn, index + 1)] : []))),
  });
  const used = new Set(rows.map(({ place }) => place));
  return uses.map((_use, index) => used.has(index + 1));
}

const toSignInRow = (signIn: SignIn, place: number): Record<keyof typeof signInTypes, unknown> => ({
  ...signIn,
  place,
  id: makeUuid(signIn.at),
});

/** Limit for each kind of token, used and unused apart. */
const keptTokens = 500;
/** Usual exchanges per hour of a person and an app. */
const usualInHour = 20;
/** Beyond that, tokens are deleted once per this many exchanges. */
const countedEach = 100;
const hourMs = 3600_000;
const slots = 2 ** 20;

const key = columnNames("oidcArtifact", "kind", "idHash");

export const deleteOldestTokens = makeRun<Pair>("sign-on.deleteOldestTokens")`
    DELETE FROM ${artifact} WHERE (${key}) IN (
      SELECT ${key} FROM (
        SELECT ${key}, row_number() OVER (
          PARTITION BY ${artifact.kind}, ${artifact.consumedAt} IS NULL ORDER BY ${artifact.expiresAt} DESC) AS place
        FROM ${artifact} WHERE ${artifact.personId} = ${"personId"} AND ${artifact.clientId} = ${"clientId"}
          AND ${artifact.kind} IN ('AuthorizationCode', 'AccessToken', 'RefreshToken')) token
      WHERE place > ${keptTokens})`;

/** Deletes the oldest tokens of a pair after many exchanges. Pairs may share a counter; extra runs are safe. */
export function makeLimitTokens({ db, clock }: { db: Db; clock: Clock }): (pair: Pair) => Promise<void> {
  const counts = new Uint16Array(slots);
  let hour = 0;
  return async (pair) => {
    const now = Math.floor(clock().getTime() / hourMs);
    if (now !== hour) counts.fill(0);
    hour = now;
    const slot = hash("sha256", `${pair.personId} ${pair.clientId}`, "buffer").readUInt32BE() % slots;
    const count = (counts[slot] = Math.min(counts[slot]! + 1, usualInHour + countedEach));
    if (count < usualInHour + countedEach) return;
    counts[slot] = usualInHour;
    await deleteOldestTokens(db.pool, pair);
  };
}
