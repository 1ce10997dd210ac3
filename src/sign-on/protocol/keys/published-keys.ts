import { defaultIdTokenAlgorithm } from "../../../access/index.ts";
import { isDatabaseUnavailable, type Db } from "../../../platform/database/db.ts";
import type { Clock } from "../../../platform/clock.ts";
import { fields, literal, makeFind, sql, table, type Queryable } from "../../../platform/database/sql.ts";
import type { JsonWebKey } from "../contract.ts";
import { keyOrder, type SigningKey } from "./signing-keys.ts";

const key = table("signingKey");

type PublishedKey = Pick<SigningKey, "kid" | "algorithm" | "state"> & {
  publicJwk: JsonWebKey;
  createdAt: Date;
  activatedAt: Date | null;
  retiredAt: Date | null;
};

const app = table("app");
const former = table("formerAlgorithm");

// Read at each request for the keys, so that an app can sign people in as soon as it is registered.
const findPublished = makeFind<PublishedKey, { validSince: Date }>("sign-on.listPublishedKeys")`
    SELECT ${fields<PublishedKey>({
      kid: key.kid,
      algorithm: sql`${key.algorithm}::text`,
      state: sql`${key.state}::text`,
      publicJwk: key.publicJwk,
      createdAt: key.createdAt,
      activatedAt: key.activatedAt,
      retiredAt: key.retiredAt,
    })}
    FROM ${key}
    WHERE (${key.state} <> 'RETIRED' OR ${key.retiredAt} >= ${"validSince"}) AND (
      ${key.algorithm} = ${literal(defaultIdTokenAlgorithm)}
      OR ${key.algorithm} IN (SELECT ${app.idTokenAlgorithm} FROM ${app})
      OR ${key.algorithm} IN (SELECT ${former.algorithm} FROM ${former} WHERE ${former.usedUntil} >= ${"validSince"}))
    ORDER BY ${keyOrder}`;

// Other processes sign with the old key until they notice a change, and clocks differ.
const clockSkewSeconds = 600;

/** A key that ended before it has signed nothing for so many seconds. */
export const cutoff = (now: Date, seconds: number): Date =>
  new Date(now.getTime() - (seconds + clockSkewSeconds) * 1000);

type Validity = { now: Date; idTokenSeconds: number };

const listPublishedKeys = (db: Queryable, { now, idTokenSeconds }: Validity): Promise<PublishedKey[]> =>
  findPublished(db, { validSince: cutoff(now, idTokenSeconds) });

export type ReadPublishedKeys = () => Promise<readonly JsonWebKey[]>;

/** Reads what apps get from the database, so that all processes publish the same; its last state while it is away. */
export async function makeReadPublishedKeys({ db, clock, idTokenSeconds }: ReadDeps): Promise<ReadPublishedKeys> {
  const read = async () =>
    (await listPublishedKeys(db.pool, { now: clock(), idTokenSeconds })).map(({ publicJwk }) => publicJwk);
  let last = await read();
  return async () => {
    try {
      last = await read();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
    }
    return last;
  };
}

type ReadDeps = { db: Db; clock: Clock; idTokenSeconds: number };

/** The hour for which apps may cache the key set, and the time by which clocks differ. */
const publishedSeconds = 3600 + clockSkewSeconds;

/** A key is usable immediately if it is as old as the active one: the key set was never published without it. */
const usableFrom = (createdAt: Date, before: Date | undefined): Date =>
  before !== undefined && before < createdAt ? new Date(createdAt.getTime() + publishedSeconds * 1000) : createdAt;

/** The published keys; `usableAt` is when all apps have a NEXT key, null for other states. */
export async function describeSigningKeys(db: Queryable, validity: Validity) {
  const keys = await listPublishedKeys(db, validity);
  const active = new Map(keys.flatMap((one) => (one.state === "ACTIVE" ? [[one.algorithm, one.createdAt]] : [])));
  return keys.map(({ publicJwk: _publicJwk, ...one }) => ({
    ...one,
    usableAt: one.state === "NEXT" ? usableFrom(one.createdAt, active.get(one.algorithm)) : null,
  }));
}
