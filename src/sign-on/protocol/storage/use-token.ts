import { recordSignInsFrom, type ClientId } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import {
  type Queryable,
  findRows,
  type Parameter,
  sql,
  type Sql,
  statement,
  table,
  update,
  columnNames,
  run,
  arrayOf,
  jsonRows,
} from "../../../platform/database/sql.ts";
import { makeUuid } from "../../../platform/crypto/ids.ts";
import { recordAuditFrom } from "../../../events/index.ts";
import { type Artifact, rowTypes, storeArtifacts, toRow } from "./artifact.ts";
import { hash } from "node:crypto";
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/db.ts";
import type { Pair } from "../consent.ts";

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

type Given = {
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
const useTokensStatement = statement<Given>(
  (given) => sql`
    WITH asked AS (
      SELECT place::int, kind, id_hash, at, replay
      FROM unnest(${arrayOf(given.kinds, "text")}, ${arrayOf(given.idHashes, "bytea")},
          ${arrayOf(given.times, "timestamptz")}, ${arrayOf(given.replays, "bytea")})
        WITH ORDINALITY AS asked (kind, id_hash, at, replay, place)),
    used AS (
      ${update("oidcArtifact", "token", { consumedAt: sql`asked.at`, replay: sql`asked.replay` })}
      FROM asked WHERE ${token.kind} = asked.kind AND ${token.idHash} = asked.id_hash AND ${token.consumedAt} IS NULL
      RETURNING asked.place, ${token.generation}, ${token.cardId}, ${token.upstreamSessionId}),
    put AS (${storePuts(given.puts)}),
    signed_in AS (${listSignIns(given.signIns)}),
    sign_in_recorded AS (${recordSignInsFrom(signedIn)}),
    audit_recorded AS (${recordAuditFrom(signedIn, "signed_in")})
    SELECT place FROM used`,
  "sign-on.useTokens",
);

/** Uses up tokens and writes what is issued for them, wholly or not at all; false if another request was faster. */
export async function useTokens(db: Queryable, uses: readonly TokenUse[]): Promise<boolean[]> {
  const rows = await findRows<{ place: number }>(db, useTokensStatement, {
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

/** Of each kind, used and unused. */
const keptTokens = 500;
/** Usual exchanges per hour of a person and an app. */
const usualInHour = 20;
/** Beyond that, tokens are deleted once per this many exchanges. */
const countedEach = 100;
const hourMs = 3600_000;
const slots = 2 ** 20;

const artifact = table("oidcArtifact");
const key = columnNames("oidcArtifact", "kind", "idHash");

const deleteOldest = statement<Pair>(
  ({ personId, clientId }) => sql`
    DELETE FROM ${artifact} WHERE (${key}) IN (
      SELECT ${key} FROM (
        SELECT ${key}, row_number() OVER (
          PARTITION BY ${artifact.kind}, ${artifact.consumedAt} IS NULL ORDER BY ${artifact.expiresAt} DESC) AS place
        FROM ${artifact} WHERE ${artifact.personId} = ${personId} AND ${artifact.clientId} = ${clientId}
          AND ${artifact.kind} IN ('AuthorizationCode', 'AccessToken', 'RefreshToken')) token
      WHERE place > ${keptTokens})`,
  "sign-on.deleteOldestTokens",
);

export async function deleteOldestTokens(db: Queryable, { personId, clientId }: Pair): Promise<void> {
  await run(db, deleteOldest, { personId, clientId });
}

/** Deletes the oldest tokens of a pair that exchanges in a loop. Pairs may share a count: then it deletes nothing. */
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
