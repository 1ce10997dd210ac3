import type { PersonId } from "../../directory/index.ts";
import type { Queryable } from "../../platform/database/db.ts";
import { type Bucket, giveTokensBack, takeToken, takeTokens } from "../../platform/database/token-bucket.ts";
import { countedAddress, countedSite, type MakeKey } from "./known-devices.ts";
import {
  accountLimit,
  forgetTries,
  giveTryBack,
  originLimit,
  type RateLimit,
  type RateLimitKind,
  takeTry,
} from "./rate-limits.ts";

type BucketSize = Omit<Bucket, "key">;

/** Tries from one address at many accounts: enough for the first day of a whole school, then about the same rate. */
const addressBucket: BucketSize = { capacity: 500, refillSeconds: 300 };

/** Tries from all networks of one IPv6 site. */
const siteBucket: BucketSize = { capacity: 1000, refillSeconds: 300 };

/** Tries from a device that signed in before, such as a tablet that a class shares; counted instead of its address. */
const deviceBucket: BucketSize = { capacity: 20, refillSeconds: 600 };

/** Passwords that are checked for an address over its limit, for people of a school that signs in there. */
const heldUpBucket: BucketSize = { capacity: 100, refillSeconds: 20 };

/** The same for one account. */
const heldUpLimit: RateLimitKind = { ...originLimit, forgetSeconds: 3600 };

/**
 * What counts one try.
 *
 * Shape: `origin` is the account at this device or address; `shared` can be used up by others too, and is null for a
 *        device that the person signed in with before.
 */
export type Limits = {
  origin: RateLimit;
  shared: { buckets: Bucket[]; account: RateLimit; heldUp: { bucket: Bucket; origin: RateLimit } } | null;
};

type Counted = {
  username: string;
  /** Who has the user name; null for nobody. */
  personId: PersonId | null;
  address: string;
  device: string | null;
  isOwnDevice: boolean;
  isKnownDevice: boolean;
};

/** Chooses by the user name only where a cookie proves that the person signed in with this browser before. */
export function chooseLimits(counted: Counted, makeKey: MakeKey): Limits {
  const { username, personId, device, isOwnDevice, isKnownDevice } = counted;
  const here = { personId, everywhere: false };
  if (device !== null && isOwnDevice)
    return { origin: { key: makeKey("place", username, "device", device), kind: originLimit, ...here }, shared: null };
  const address = countedAddress(counted.address);
  const site = countedSite(counted.address);
  const addressBuckets = [
    ...(site === null ? [] : [{ key: makeKey("site bucket", site), ...siteBucket }]),
    { key: makeKey("address bucket", address), ...addressBucket },
  ];
  return {
    origin: { key: makeKey("place", username, "address", address), kind: originLimit, ...here },
    shared: {
      buckets:
        device !== null && isKnownDevice
          ? [{ key: makeKey("device bucket", device), ...deviceBucket }]
          : addressBuckets,
      account: { key: makeKey("account", username), kind: accountLimit, personId, everywhere: true },
      heldUp: {
        bucket: { key: makeKey("held up bucket", address), ...heldUpBucket },
        origin: { key: makeKey("held up place", username, address), kind: heldUpLimit, ...here },
      },
    },
  };
}

/**
 * What a try has taken before its password is checked.
 *
 * Shape: `heldUntil` is set when the address or the account is over its limit: only a person who is known at the
 *        address gets in, all others have to wait, whatever the password.
 */
export type Taken = { buckets: Bucket[]; limits: RateLimit[]; heldUntil: Date | null };

/** Takes what a try costs. A date means that the password must not be checked before then. */
export async function takeLimits(db: Queryable, { origin, shared }: Limits, now: Date): Promise<Taken | Date> {
  if (shared === null) return (await takeTry(db, origin, now)) ?? { buckets: [], limits: [origin], heldUntil: null };
  const { buckets, account } = shared;
  const addressWait = await takeTokens(db, buckets, now);
  if (addressWait !== null) return takeHeldUp(db, shared.heldUp, [], addressWait, now);
  const accountWait = await takeTry(db, account, now);
  if (accountWait !== null) return takeHeldUp(db, shared.heldUp, buckets, accountWait, now);
  const originWait = await takeTry(db, origin, now);
  if (originWait === null) return { buckets, limits: [origin, account], heldUntil: null };
  await giveLimitsBack(db, { buckets, limits: [account], heldUntil: null });
  return originWait;
}

type HeldUp = NonNullable<Limits["shared"]>["heldUp"];

async function takeHeldUp(
  db: Queryable,
  heldUp: HeldUp,
  taken: Bucket[],
  heldUntil: Date,
  now: Date,
): Promise<Taken | Date> {
  const buckets = taken.length > 0 ? taken : [heldUp.bucket];
  if (taken.length === 0 && (await takeToken(db, heldUp.bucket, now)) !== null) return heldUntil;
  if ((await takeTry(db, heldUp.origin, now)) === null) return { buckets, limits: [heldUp.origin], heldUntil };
  await giveTokensBack(db, buckets);
  return heldUntil;
}

/** Undoes a try that was not made. */
export async function giveLimitsBack(db: Queryable, { buckets, limits }: Taken): Promise<void> {
  await giveTokensBack(db, buckets);
  for (const limit of limits) await giveTryBack(db, limit);
}

/** Undoes a try that succeeded, and forgets the failed ones before it from the same device or address. */
export async function forgiveLimits(db: Queryable, { buckets, limits: [origin, ...shared] }: Taken): Promise<void> {
  await giveTokensBack(db, buckets);
  for (const limit of shared) await giveTryBack(db, limit);
  if (origin) await forgetTries(db, origin);
}
