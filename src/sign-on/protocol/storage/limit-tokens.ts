import { hash } from "node:crypto";
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/db.ts";
import { columnNames, type Queryable, run, sql, statement, table } from "../../../platform/database/sql.ts";
import type { Pair } from "../consent.ts";

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
