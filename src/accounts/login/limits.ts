import type { PersonId } from "../../directory/index.ts";
import { asynchronous, fields, join, sql, type Queryable } from "../../platform/database/sql.ts";
import {
  type Bucket,
  giveBackSteps,
  giveTokensBack,
  makeFindWithBuckets,
  takeSteps,
  takeToken,
  undoTake,
} from "../../platform/database/token-bucket.ts";
import { bucketsOfAddress, countedAddress, type MakeKey, rememberDevices } from "./known-devices.ts";
import {
  accountLimit,
  countTry,
  findTryWait,
  forgetTriesBy,
  giveTryBack,
  originLimit,
  type RateLimit,
  type RateLimitKind,
  takeTry,
  uncountTry,
} from "./rate-limits.ts";

/** Enough tries for the first day of a whole school. */
export const addressBuckets = {
  address: { capacity: 500, refillSeconds: 300 },
  site: { capacity: 1000, refillSeconds: 300 },
};
/** Tries from a known device, such as a tablet of a class; counted instead of its address. */
const deviceBucket = { capacity: 20, refillSeconds: 600 };
/** Passwords checked for an address over its limit, for people who signed in there before. */
const heldUpBucket = { capacity: 100, refillSeconds: 20 };

const heldUpLimit: RateLimitKind = { ...originLimit, forgetSeconds: 3600 };

/** `origin` is the account at this device or address; others can use up `shared`, null for the person's own device. */
export type Limits = {
  origin: RateLimit;
  shared: { buckets: Bucket[]; account: RateLimit; heldUp: { bucket: Bucket; origin: RateLimit } } | null;
};

type Counted = {
  username: string;
  personId: PersonId | null;
  address: string;
  device: string | null;
  isOwnDevice: boolean;
  isKnownDevice: boolean;
};

/** Chooses by the user name only if a cookie proves that the person signed in with this browser before. */
export function chooseLimits(counted: Counted, makeKey: MakeKey): Limits {
  const { username, personId, device, isOwnDevice, isKnownDevice } = counted;
  const here = { personId, everywhere: false };
  if (device !== null && isOwnDevice)
    return { origin: { key: makeKey("place", username, "device", device), kind: originLimit, ...here }, shared: null };
  const address = countedAddress(counted.address);
  const keyOf = (kind: string, part: string) => makeKey(`${kind} bucket`, part);
  return {
    origin: { key: makeKey("place", username, "address", address), kind: originLimit, ...here },
    shared: {
      buckets:
        device !== null && isKnownDevice
          ? [{ key: makeKey("device bucket", device), ...deviceBucket }]
          : bucketsOfAddress(counted.address, addressBuckets, keyOf),
      account: { key: makeKey("account", username), kind: accountLimit, personId, everywhere: true },
      heldUp: {
        bucket: { key: makeKey("held up bucket", address), ...heldUpBucket },
        origin: { key: makeKey("held up place", username, address), kind: heldUpLimit, ...here },
      },
    },
  };
}

/** With `heldUntil` the address or account is over its limit, and only a person known at the address gets in. */
export type TakenLimits = {
  buckets: Bucket[];
  limits: [origin: RateLimit, account?: RateLimit];
  heldUntil: Date | null;
};

/** Returns a date if the password must not be checked before then. */
export async function takeLimits(db: Queryable, { origin, shared }: Limits, now: Date): Promise<TakenLimits | Date> {
  if (shared === null) return (await takeTry(db, origin, now)) ?? { buckets: [], limits: [origin], heldUntil: null };
  const { buckets, account, heldUp } = shared;
  const keys = { accountKey: account.key, originKey: origin.key, personId: origin.personId };
  const [row] = await takeTogether(db, buckets, { ...keys, now });
  const { taken, isAccountTaken, isOriginTaken } = row!;
  if (isOriginTaken) return { buckets, limits: [origin, account], heldUntil: null };
  if (taken < buckets.length) return takeHeldUp(db, heldUp, [], await undoTake(db, buckets, taken, now), now);
  if (!isAccountTaken) return takeHeldUp(db, heldUp, buckets, await findTryWait(db, account, now), now);
  await giveTokensBack(db, buckets);
  await giveTryBack(db, account);
  return findTryWait(db, origin, now);
}

type TakenTogether = { taken: number; isAccountTaken: boolean; isOriginTaken: boolean };
type TryParameters = { accountKey: Buffer; originKey: Buffer; personId: PersonId | null; now: Date };

const takeTogether = makeFindWithBuckets<TakenTogether, TryParameters>((params, count) => {
  const { steps, isDone, count: taken } = takeSteps(params, count);
  const { personId, now } = params;
  const account = { ...accountLimit, key: params.accountKey, everywhere: sql`true`, personId, now };
  const origin = { ...originLimit, key: params.originKey, everywhere: sql`false`, personId, now };
  return sql`
    WITH ${join([
      ...steps,
      sql`account AS (${countTry(account, isDone)})`,
      sql`origin AS (${countTry(origin, sql`EXISTS (SELECT FROM account)`)})`,
    ])}
    SELECT ${fields<TakenTogether>({
      taken,
      isAccountTaken: sql`EXISTS (SELECT FROM account)`,
      isOriginTaken: sql`EXISTS (SELECT FROM origin)`,
    })}`;
}, "sign-in-limits-take");

async function takeHeldUp(
  db: Queryable,
  heldUp: NonNullable<Limits["shared"]>["heldUp"],
  taken: Bucket[],
  heldUntil: Date,
  now: Date,
): Promise<TakenLimits | Date> {
  const buckets = taken.length > 0 ? taken : [heldUp.bucket];
  if (taken.length === 0 && (await takeToken(db, heldUp.bucket, now)) !== null) return heldUntil;
  if ((await takeTry(db, heldUp.origin, now)) === null) return { buckets, limits: [heldUp.origin], heldUntil };
  await giveTokensBack(db, buckets);
  return heldUntil;
}

export async function giveLimitsBack(db: Queryable, { buckets, limits }: TakenLimits): Promise<void> {
  await giveTokensBack(db, buckets);
  for (const limit of limits) if (limit) await giveTryBack(db, limit);
}

type Success = { personId: PersonId; generation: number; devices: Buffer[]; now: Date };
type SuccessParameters = Success & { originKey: Buffer; accountKey: Buffer | null };

// Locks the credential first, as ending sign-ins does; then the limits in the order of a try.
const succeed = makeFindWithBuckets<Record<string, never>, SuccessParameters>((params, count) => {
  const { standing, seen, forgotten } = rememberDevices(params);
  const { steps, isDone } = giveBackSteps(params, count, sql`(SELECT count(*) FROM standing) >= 0`);
  return sql`
    WITH ${join([
      sql`standing AS MATERIALIZED (${standing})`,
      ...steps,
      sql`account AS (${uncountTry(params.accountKey, isDone)})`,
      sql`origin AS (${forgetTriesBy(params.originKey, sql`(SELECT count(*) FROM account) >= 0`)})`,
      sql`seen AS (${seen(sql`standing`, sql`(SELECT count(*) FROM origin) >= 0`)})`,
      sql`forgotten AS (${forgotten(sql`seen`)})`,
    ])}
    SELECT FROM standing WHERE ${asynchronous}`;
}, "sign-in-succeed");

/** Gives back what a successful try took, forgets failed ones and, unless the sign-in was ended, remembers devices. */
export async function recordSuccess(db: Queryable, { buckets, limits }: TakenLimits, success: Success): Promise<void> {
  const [origin, account] = limits;
  await succeed(db, buckets, { ...success, originKey: origin.key, accountKey: account?.key ?? null });
}
