import { hash } from "node:crypto";
import type { Clock } from "../../../platform/clock.ts";
import type { Db, Queryable } from "../../../platform/database/db.ts";
import { columnNames, run, sql, statement, table } from "../../../platform/database/sql.ts";
import type { Pair } from "../consent.ts";

/** The tokens of each kind, used up or not, that a person and an app keep once they ask for very many. */
const keptTokens = 500;
/** Exchanges of a person and an app in an hour that are usual. */
const usualInHour = 20;
/** From then on the tokens are counted at every so many exchanges. */
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

/**
 * Makes the function to call at each exchange: it deletes the oldest tokens of a person and an app that exchange in a
 * loop.
 *
 * Shape: counted in this process by a hash that several pairs share: at worst the statement runs where tokens are few.
 */
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
