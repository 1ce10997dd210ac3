import { hash } from "node:crypto";
import type { Clock } from "../../platform/clock.ts";
import type { Db, Queryable } from "../../platform/db.ts";
import type { Pair } from "../consent.ts";

/** The tokens of each kind, used up or not, that a person and an app keep once they ask for very many. */
const keptTokens = 500;
/** Exchanges of a person and an app in an hour that are usual. */
const usualInHour = 20;
/** From then on the tokens are counted at every so many exchanges. */
const countedEach = 20;
const hourMs = 3600_000;
const slots = 2 ** 20;

const deleteOldest = `
  DELETE FROM oidc_artifact WHERE (kind, id_hash) IN (
    SELECT kind, id_hash FROM (
      SELECT kind, id_hash, row_number() OVER (PARTITION BY kind, consumed_at IS NULL ORDER BY expires_at DESC) AS place
      FROM oidc_artifact WHERE person_id = $1 AND client_id = $2 AND kind IN ('AuthorizationCode', 'AccessToken', 'RefreshToken')) token
    WHERE place > $3)`;

export async function deleteOldestTokens(db: Queryable, { personId, clientId }: Pair): Promise<void> {
  await db.query({ name: "sign-on.deleteOldestTokens", text: deleteOldest, values: [personId, clientId, keptTokens] });
}

/**
 * Makes what is told of each exchange, and deletes the oldest tokens of a person and an app that exchange in a loop.
 *
 * Shape: counted in this process, by a hash that several pairs share: at worst tokens are counted where there are few.
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
