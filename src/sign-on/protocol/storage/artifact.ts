import { hash, randomBytes } from "node:crypto";
import type { AdapterPayload } from "oidc-provider";
import {
  arrayOf,
  columnNames,
  fields,
  insert,
  lookUp,
  makeFind,
  makeFindOne,
  makeRun,
  sql,
  table,
  update,
} from "../../../platform/database/sql.ts";
import type { Queryable, Sql, Value } from "../../../platform/database/sql.ts";
import { isCurrent, sessionRuleOf, type SessionRule } from "../../../accounts/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import type { ClientId } from "../../../access/index.ts";

export type Artifact = {
  kind: string;
  idHash: Buffer;
  payload: AdapterPayload;
  clientId: string | null;
  personId: string | null;
  /** The credential's generation at the sign-in; null without a person or if unknown. */
  generation: number | null;
  cardId: string | null;
  upstreamSessionId: string | null;
  grantId: string | null;
  sessionUid: string | null;
  expiresAt: Date;
};

export type FoundArtifact = {
  payload: AdapterPayload;
  personId: string | null;
  generation: number | null;
  cardId: string | null;
  upstreamSessionId: string | null;
  consumedAt: Date | null;
  replay: Buffer | null;
  expiresAt: Date;
  /** The session rule of the person, for sessions and interactions; it limits a session at each use. */
  rule: SessionRule | null;
};

export type Key = { kind: string; idHash: Buffer };

/** The id is the token itself, so only its hash is stored. */
export const hashId = (id: string): Buffer => hash("sha256", id, "buffer");

export const rowTypes = {
  kind: "text",
  idHash: "text",
  payload: "jsonb",
  clientId: "text",
  personId: "uuid",
  generation: "int",
  cardId: "uuid",
  upstreamSessionId: "uuid",
  grantId: "text",
  sessionUid: "text",
  expiresAt: "timestamptz",
} as const;

export const toRow = ({ idHash, ...artifact }: Artifact): Record<keyof typeof rowTypes, unknown> => ({
  ...artifact,
  idHash: idHash.toString("hex"),
});

type Columns<Field extends string> = { readonly [Name in Field]: Sql };
type RowField = keyof typeof rowTypes;

const present = table("oidcArtifact");
const column = (field: RowField): Sql => columnNames("oidcArtifact", field);
const newValue = (field: RowField): Sql => sql`excluded.${column(field)}`;

/** An existing artifact keeps its generation, card and upstream session if none is given. */
export const storeArtifacts = (row: Columns<RowField>, relation: Sql): Sql => {
  const keeps = sql`${newValue("generation")} IS NULL AND ${present.personId} = ${newValue("personId")}`;
  return sql`
  ${insert("oidcArtifact", { ...row, idHash: sql`decode(${row.idHash}, 'hex')` }, sql`FROM ${relation}`)}
  ON CONFLICT (${column("kind")}, ${column("idHash")}) DO UPDATE
  SET ${column("payload")} = ${newValue("payload")}, ${column("expiresAt")} = ${newValue("expiresAt")},
    ${column("personId")} = ${newValue("personId")},
    ${column("generation")} = CASE WHEN ${keeps} THEN ${present.generation} ELSE ${newValue("generation")} END,
    ${column("cardId")} = CASE WHEN ${keeps} THEN ${present.cardId} ELSE ${newValue("cardId")} END,
    ${column("upstreamSessionId")} =
      CASE WHEN ${keeps} THEN ${present.upstreamSessionId} ELSE ${newValue("upstreamSessionId")} END`;
};

type ReadColumn = Exclude<keyof FoundArtifact, "rule"> | "kind";

export const foundColumns = (artifact: Columns<ReadColumn>): Columns<keyof FoundArtifact> => ({
  payload: artifact.payload,
  personId: artifact.personId,
  generation: artifact.generation,
  cardId: artifact.cardId,
  upstreamSessionId: artifact.upstreamSessionId,
  consumedAt: artifact.consumedAt,
  replay: artifact.replay,
  expiresAt: artifact.expiresAt,
  rule: sql`CASE WHEN ${artifact.kind} IN ('Session', 'Interaction') THEN ${sessionRuleOf(artifact.personId)} END`,
});

/** Orders rows like the questions; `place` counts from 1, a missing row is null. */
export function answerEach<Row extends { place: number }, Answer>(
  keys: readonly unknown[],
  rows: readonly Row[],
  read: (row: Row) => Answer,
): (Answer | null)[] {
  const answers = keys.map((): Answer | null => null);
  for (const row of rows) answers[row.place - 1] = read(row);
  return answers;
}

const artifact = table("oidcArtifact", "artifact");

type Kinds = { kinds: string[]; idHashes: Buffer[] };

const findByKeys = makeFind<FoundArtifact & { place: number }, Kinds>(
  ({ kinds, idHashes }) => sql`
    SELECT ${fields<FoundArtifact & { place: number }>({ place: sql`asked.place::int`, ...foundColumns(artifact) })}
    FROM unnest(${arrayOf(kinds, "text")}, ${arrayOf(idHashes, "bytea")})
      WITH ORDINALITY AS asked (kind, id_hash, place)
    ${lookUp("oidcArtifact", "artifact", sql`${artifact.kind} = asked.kind AND ${artifact.idHash} = asked.id_hash AND ${isCurrent(artifact)}`)}`,
  "sign-on.findArtifacts",
);

const splitKeys = (keys: readonly Key[]): Kinds => ({
  kinds: keys.map(({ kind }) => kind),
  idHashes: keys.map(({ idHash }) => idHash),
});

export async function findArtifacts(db: Queryable, keys: readonly Key[]): Promise<(FoundArtifact | null)[]> {
  return answerEach(keys, await findByKeys(db, splitKeys(keys)), (row) => row);
}

export async function findArtifact(db: Queryable, key: Key): Promise<FoundArtifact | null> {
  return (await findArtifacts(db, [key]))[0] ?? null;
}

const session = table("oidcArtifact", "session");

const findByUid = makeFind<{ payload: AdapterPayload }, { uid: string }>("sign-on.findSessionByUid")`
    SELECT ${session.payload} FROM ${session}
    WHERE ${session.kind} = 'Session' AND ${session.sessionUid} = ${"uid"} AND ${isCurrent(session)}`;

export async function findSessionByUid(db: Queryable, uid: string): Promise<AdapterPayload | null> {
  const [session] = await findByUid(db, { uid });
  return session?.payload ?? null;
}

type Assertion = { idHash: Buffer; clientId: string; now: Date; expiresAt: Date };

const recordAssertion = makeRun<Assertion>(
  ({ idHash, clientId, now, expiresAt }) => sql`
    ${insert("oidcArtifact", { kind: sql`'ReplayDetection'`, idHash, payload: sql`'{}'`, clientId, expiresAt })}
    ON CONFLICT (${column("kind")}, ${column("idHash")}) DO UPDATE SET ${column("expiresAt")} = ${newValue("expiresAt")}
    WHERE ${present.expiresAt} <= ${now}`,
  "sign-on.recordAssertion",
);

/** Uses up the id of a client assertion; false if another request was faster, in any process. */
export const useAssertion = async (db: Queryable, assertion: Assertion): Promise<boolean> =>
  (await recordAssertion(db, assertion)) === 1;

type Changed = Pick<Artifact, "idHash" | "personId" | "generation" | "cardId" | "upstreamSessionId" | "expiresAt"> & {
  payload: string;
};

const interaction = table("oidcArtifact", "interaction");

const storeReply = makeRun<Changed>((params) => {
  const keeps = sql`${params.generation}::int IS NULL AND ${interaction.personId} = ${params.personId}::uuid`;
  return sql`
    ${update("oidcArtifact", "interaction", {
      payload: sql`${params.payload}::jsonb`,
      expiresAt: params.expiresAt,
      personId: sql`${params.personId}::uuid`,
      generation: sql`CASE WHEN ${keeps} THEN ${interaction.generation} ELSE ${params.generation}::int END`,
      cardId: sql`CASE WHEN ${keeps} THEN ${interaction.cardId} ELSE ${params.cardId}::uuid END`,
      upstreamSessionId: sql`CASE WHEN ${keeps} THEN ${interaction.upstreamSessionId}
        ELSE ${params.upstreamSessionId}::uuid END`,
    })}
    WHERE ${interaction.kind} = 'Interaction' AND ${interaction.idHash} = ${params.idHash}`;
}, "sign-on.changeInteraction");

/** Stores the person's reply; false if the interaction has ended meanwhile. */
export async function changeInteraction(db: Queryable, artifact: Artifact): Promise<boolean> {
  return (await storeReply(db, { ...artifact, payload: JSON.stringify(artifact.payload) })) === 1;
}

export const deleteArtifact = makeRun<Key>("sign-on.deleteArtifact")`
  DELETE FROM ${artifact} WHERE ${artifact.kind} = ${"kind"} AND ${artifact.idHash} = ${"idHash"}`;

const deleteByGrant = makeRun<{ grantId: string }>("sign-on.deleteGrant")`
  DELETE FROM ${artifact} WHERE ${artifact.grantId} = ${"grantId"}`;

/** Repeated, because a refresh locks its token's row: only the next DELETE sees the tokens that it issued. */
export async function deleteGrant(db: Queryable, grantId: string): Promise<void> {
  while ((await deleteByGrant(db, { grantId })) > 0);
}

/** Ends a session and its tokens; tokens for offline access do not carry its uid. */
export const deleteSession = makeRun<{ uid: string }>("sign-on.deleteSession")`
  DELETE FROM ${artifact} WHERE ${artifact.sessionUid} = ${"uid"}`;

/** More browsers than anybody uses at the same time. */
const sessionsPerPerson = 100;

const storedArtifact = table("oidcArtifact", "kept");

/** SQL for FROM: the artifacts of a person, by the index of people whatever the statistics say of kinds. */
export const artifactsOf = (personId: Value, alias: string): Sql => sql`(SELECT) AS one
  ${lookUp("oidcArtifact", alias, sql`${table("oidcArtifact", alias).personId} = ${personId}`)}`;

/** SQL value: the uids of a person's oldest sessions as a JSON array, which one more session would make too many. */
export const surplusSessionsOf = (personId: Value): Sql => sql`(
  SELECT coalesce(json_agg(surplus.uid), '[]') FROM (
    SELECT ${storedArtifact.sessionUid} AS uid FROM ${artifactsOf(personId, "kept")}
    WHERE ${storedArtifact.kind} = 'Session' AND ${storedArtifact.sessionUid} IS NOT NULL
    ORDER BY ${storedArtifact.expiresAt} DESC OFFSET ${sessionsPerPerson - 1}) AS surplus)`;

type BeforeSession = { surplus: string[]; rule: SessionRule | null };

/** Finds the sessions that a new session of the person ends, and how long the new one may last. */
export const findBeforeSession = makeFindOne<BeforeSession, { personId: string }>(
  ({ personId }) =>
    sql`SELECT ${fields<BeforeSession>({
      surplus: surplusSessionsOf(personId),
      rule: sessionRuleOf(sql`${personId}::uuid`),
    })}`,
  "sign-on.beforeSession",
);

const raise = makeRun<{ idHash: Buffer; newIdHash: Buffer; personId: PersonId; amr: string }>(
  ({ idHash, newIdHash, personId, amr }) => sql`
    ${update("oidcArtifact", "session", {
      idHash: newIdHash,
      payload: sql`${session.payload} || jsonb_build_object('amr', ${amr}::jsonb)`,
    })}
    WHERE ${session.kind} = 'Session' AND ${session.idHash} = ${idHash} AND ${session.personId} = ${personId}
      AND ${isCurrent(session)}`,
  "sign-on.raiseSession",
);

/** Gives the session a new id, so that the earlier id gains nothing; null if the session has ended. */
export async function raiseSession(
  db: Queryable,
  { id, personId, amr }: { id: string; personId: PersonId; amr: readonly string[] },
): Promise<string | null> {
  const newId = randomBytes(32).toString("base64url");
  const params = { idHash: hashId(id), newIdHash: hashId(newId), personId, amr: JSON.stringify(amr) };
  return (await raise(db, params)) === 1 ? newId : null;
}

// TRUNCATE, because there may be millions and nothing else runs.
const forgetArtifacts = makeRun()`TRUNCATE ${table("oidcArtifact")}`;
const forgetPrints = makeRun()`TRUNCATE ${table("cardPrint")}`;

/** A restored backup does not know which sign-ins were used, revoked or ended since. */
export async function forgetSignIns(tx: Queryable): Promise<void> {
  await forgetArtifacts(tx, {});
  await forgetPrints(tx, {});
}

type Of = { clientId: ClientId };

// One statement per index.
const deleteClientTokens = makeRun<Of>("sign-on.forgetClientTokens")`
    DELETE FROM ${artifact} WHERE ${artifact.clientId} = ${"clientId"} AND ${artifact.kind} = 'ClientCredentials'`;
const deleteUserTokens = makeRun<Of>("sign-on.forgetUserTokens")`
    DELETE FROM ${artifact} WHERE ${artifact.clientId} = ${"clientId"} AND ${artifact.kind} <> 'ClientCredentials'`;

export async function forgetApp(tx: Queryable, clientId: ClientId): Promise<void> {
  // A refresh locks its token's row: the first DELETE waits for it, the next one sees the tokens that it issued.
  for (const deleteTokens of [deleteClientTokens, deleteUserTokens]) while ((await deleteTokens(tx, { clientId })) > 0);
}

/** Deletes an app's own access tokens, when a leaked secret is replaced. */
export async function forgetClientTokens(tx: Queryable, clientId: ClientId): Promise<void> {
  await deleteClientTokens(tx, { clientId });
}
