import type { PersonId } from "../../directory/index.ts";
import { isTooFarAhead } from "../../platform/database/token-bucket.ts";
import { columnNames, insert, makeFind, makeRun, sql, table, update } from "../../platform/database/sql.ts";
import type { Queryable, Sql, Value } from "../../platform/database/sql.ts";

/** The first `free` failed tries cost no wait; each further one doubles it, up to the longest. */
export type RateLimitKind = {
  free: number;
  firstWaitSeconds: number;
  longestWaitSeconds: number;
  forgetSeconds: number;
};

const waits = { longestWaitSeconds: 900, forgetSeconds: 43_200 };
/** Tries at one account from one device or address. */
export const originLimit: RateLimitKind = { ...waits, free: 5, firstWaitSeconds: 10 };
/** Tries at one account from all unknown devices and addresses. */
export const accountLimit: RateLimitKind = { ...waits, free: 20, firstWaitSeconds: 30 };
/** Tries to prove a second factor, which strangers cannot use up: the password comes first. */
export const secondFactorLimit: RateLimitKind = { ...waits, free: 5, firstWaitSeconds: 30 };

/** `everywhere` tells the limit of an account from those of its devices and addresses. */
export type RateLimit = { key: Buffer; kind: RateLimitKind; personId: PersonId | null; everywhere: boolean };

const limit = table("signInBrake");
const l = table("signInBrake", "l");

type Try = RateLimitKind & Omit<RateLimit, "kind"> & { now: Date };

/** SQL: counts a try if there is no wait, and returns a row then. No wait is 1970: queued tries have older times. */
export function countTry(params: { readonly [Name in keyof Try]: Value | number }, condition: Sql): Sql {
  const now = sql`${params.now}::timestamptz`;
  const forgetAfter = sql`make_interval(secs => ${params.forgetSeconds})`;
  const row = {
    key: params.key,
    failures: 1,
    waitUntil: sql`to_timestamp(0)`,
    forgetAt: sql`${now} + ${forgetAfter}`,
    personId: sql`${params.personId}::uuid`,
    everywhere: params.everywhere,
  };
  return sql`
    ${insert("signInBrake", row, sql`WHERE ${condition}`)}
    ON CONFLICT (${columnNames("signInBrake", "key")})
    DO UPDATE SET (${columnNames("signInBrake", "personId", "failures", "waitUntil", "forgetAt")}) = (
      SELECT ${params.personId}::uuid, counted.failures,
        CASE WHEN counted.failures < ${params.free} THEN to_timestamp(0) ELSE ${now} + wait END,
        CASE WHEN counted.failures = 1 THEN ${now} + ${forgetAfter}
             WHEN counted.failures < ${params.free} THEN ${limit.forgetAt}
             ELSE ${now} + wait + ${forgetAfter} END
      FROM (SELECT CASE WHEN ${limit.forgetAt} > ${now} THEN ${limit.failures} + 1 ELSE 1 END AS failures) AS counted,
        make_interval(secs => least(${params.longestWaitSeconds},
          ${params.firstWaitSeconds} * power(2, least(greatest(counted.failures - ${params.free}, 0), 30)))) AS wait)
    WHERE ${limit.waitUntil} <= ${now}
      OR ${isTooFarAhead(limit.waitUntil, { now, longestSeconds: sql`${params.longestWaitSeconds}` })}
    RETURNING 1`;
}

const countOne = makeRun<Try>((params) => countTry(params, sql`true`), "sign-in-limit-take");

const findWait = makeFind<{ waitUntil: Date }, { key: Buffer }>("sign-in-limit-wait")`
  SELECT ${limit.waitUntil} AS "waitUntil" FROM ${limit} WHERE ${limit.key} = ${"key"}`;

/** Counts a try as failed before it is made; `giveTryBack` undoes that. Returns until when to wait if it did not. */
export async function takeTry(db: Queryable, limited: RateLimit, now: Date): Promise<Date | null> {
  const { kind, ...rest } = limited;
  return (await countOne(db, { ...kind, ...rest, now })) === 1 ? null : findTryWait(db, limited, now);
}

export const findTryWait = async (db: Queryable, { key }: RateLimit, now: Date): Promise<Date> =>
  (await findWait(db, { key }))[0]?.waitUntil ?? now;

export const uncountTry = (key: Value, condition: Sql): Sql => sql`
  ${update("signInBrake", "l", { failures: sql`greatest(${l.failures} - 1, 0)`, waitUntil: sql`to_timestamp(0)` })}
  WHERE ${l.key} = ${key} AND ${condition} RETURNING 1`;

export const forgetTriesBy = (key: Value, condition: Sql): Sql =>
  sql`DELETE FROM ${limit} WHERE ${limit.key} = ${key} AND ${condition} RETURNING 1`;

export const giveTryBack = makeRun<{ key: Buffer }>(({ key }) => uncountTry(key, sql`true`), "sign-in-limit-give-back");

export const forgetTries = makeRun<{ key: Buffer }>(
  ({ key }) => forgetTriesBy(key, sql`true`),
  "sign-in-limit-release",
);

/** The waits of an account: at all unknown devices and addresses, and at how many single ones. */
export type Waits = { everywhereUntil: string | null; places: number; placesUntil: string | null };

export const waitsOf = (personId: Value, now: Value): Sql => sql`(
  SELECT json_build_object('everywhereUntil', max(${limit.waitUntil}) FILTER (WHERE ${limit.everywhere}),
    'places', count(*) FILTER (WHERE NOT ${limit.everywhere}),
    'placesUntil', max(${limit.waitUntil}) FILTER (WHERE NOT ${limit.everywhere}))
  FROM ${limit} WHERE ${limit.personId} = ${personId} AND ${limit.waitUntil} > ${now}::timestamptz)`;

// The account first, as in a try that takes both.
const forgetAll = makeRun<{ personIds: readonly PersonId[] }>("sign-in-limit-release-person")`
    DELETE FROM ${limit} WHERE ${limit.key} = ANY (ARRAY(
      SELECT ${limit.key} FROM ${limit} WHERE ${limit.personId} = ANY (${"personIds"}::uuid[])
        ORDER BY ${limit.everywhere} DESC, ${limit.key} FOR UPDATE))`;

/** Forgets the failed tries at the accounts of people. Returns how many limits they had. */
export const forgetTriesOf = (tx: Queryable, personIds: readonly PersonId[]): Promise<number> =>
  forgetAll(tx, { personIds });

type WrongPassword = { key: Buffer; personId: PersonId | null; now: Date };

const wrong = table("wrongPassword");

/** Counts a wrong password for a user name, whether or not somebody has it. The password itself is never stored. */
export const recordWrongPassword = makeRun<WrongPassword>(({ key, personId, now }) => {
  const at = sql`${now}::timestamptz`;
  const row = { key, hour: sql`date_trunc('hour', ${at})`, personId: sql`${personId}::uuid`, tries: 1, lastAt: at };
  return sql`
    ${insert("wrongPassword", row)} ON CONFLICT (${columnNames("wrongPassword", "key", "hour")})
    DO UPDATE SET (${columnNames("wrongPassword", "personId", "tries", "lastAt")}) = (
      ${personId}::uuid, ${wrong.tries} + 1, greatest(${wrong.lastAt}, ${at}))`;
}, "sign-in-wrong-password");

/** Wrong passwords of the last 24 hours; times are rounded to the hour. */
export type WrongPasswords = { tries: number; lastAt: string | null };

export const wrongPasswordsOf = (personId: Value, now: Value): Sql => sql`(
  SELECT json_build_object('tries', coalesce(sum(${wrong.tries}), 0), 'lastAt', max(${wrong.lastAt}))
  FROM ${wrong} WHERE ${wrong.personId} = ${personId} AND ${wrong.lastAt} > ${now}::timestamptz - interval '24 hours')`;
