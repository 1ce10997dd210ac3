import type { Queryable } from "../../platform/db.ts";
import { type Bucket, giveTokensBack, takeToken, takeTokens } from "../../platform/token-bucket.ts";
import { accountBrake, type Brake, type BrakeKind, giveTryBack, placeBrake, releaseBrake, takeTry } from "./brakes.ts";
import { countedAddress, countedSite, type MakeKey } from "./places.ts";

type BucketSize = Omit<Bucket, "key">;

/** One address at many accounts: wide enough for the first day of a whole school, and it goes on at about that rate. */
const addressBucket: BucketSize = { capacity: 500, refillSeconds: 300 };

/** The networks of one IPv6 site together. */
const siteBucket: BucketSize = { capacity: 1000, refillSeconds: 300 };

/** A device that signed in before, instead of its address: a tablet that a class shares. */
const deviceBucket: BucketSize = { capacity: 20, refillSeconds: 600 };

/** Passwords that are still looked at where an address is held up, for people of a school that signs in there. */
const heldUpBucket: BucketSize = { capacity: 100, refillSeconds: 20 };

/** The same at one account. */
const heldUpBrake: BrakeKind = { ...placeBrake, forgetSeconds: 3600 };

/**
 * What counts one try.
 *
 * Shape: `shared` is what others can use up too; null for a device that the person themselves signed in with.
 */
export type Limits = {
  place: Brake;
  shared: { buckets: Bucket[]; account: Brake; heldUp: { bucket: Bucket; place: Brake } } | null;
};

type Counted = {
  username: string;
  address: string;
  device: string | null;
  isOwnDevice: boolean;
  isKnownDevice: boolean;
};

/** The choice depends on the user name only where the browser proves by its cookie that the person signed in with it. */
export function chooseLimits(counted: Counted, makeKey: MakeKey): Limits {
  const { username, device, isOwnDevice, isKnownDevice } = counted;
  if (device !== null && isOwnDevice)
    return { place: { key: makeKey("place", username, "device", device), kind: placeBrake }, shared: null };
  const address = countedAddress(counted.address);
  const site = countedSite(counted.address);
  const addressBuckets = [
    ...(site === null ? [] : [{ key: makeKey("site bucket", site), ...siteBucket }]),
    { key: makeKey("address bucket", address), ...addressBucket },
  ];
  return {
    place: { key: makeKey("place", username, "address", address), kind: placeBrake },
    shared: {
      buckets:
        device !== null && isKnownDevice
          ? [{ key: makeKey("device bucket", device), ...deviceBucket }]
          : addressBuckets,
      account: { key: makeKey("account", username), kind: accountBrake },
      heldUp: {
        bucket: { key: makeKey("held up bucket", address), ...heldUpBucket },
        place: { key: makeKey("held up place", username, address), kind: heldUpBrake },
      },
    },
  };
}

/**
 * What a try has taken before its password is looked at.
 *
 * Shape: with `heldUntil` the address or the account is held up: only somebody whom the address is known for gets in, and
 *        everybody else is told to wait, whatever the password.
 */
export type Taken = { buckets: Bucket[]; brakes: Brake[]; heldUntil: Date | null };

/** Answers a date where the password is not looked at: until then the try has to wait. */
export async function takeLimits(db: Queryable, { place, shared }: Limits, now: Date): Promise<Taken | Date> {
  if (shared === null) return (await takeTry(db, place, now)) ?? { buckets: [], brakes: [place], heldUntil: null };
  const { buckets, account } = shared;
  const addressWait = await takeTokens(db, buckets, now);
  if (addressWait !== null) return takeHeldUp(db, shared.heldUp, [], addressWait, now);
  const accountWait = await takeTry(db, account, now);
  if (accountWait !== null) return takeHeldUp(db, shared.heldUp, buckets, accountWait, now);
  const placeWait = await takeTry(db, place, now);
  if (placeWait === null) return { buckets, brakes: [place, account], heldUntil: null };
  await giveLimitsBack(db, { buckets, brakes: [account], heldUntil: null });
  return placeWait;
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
  if ((await takeTry(db, heldUp.place, now)) === null) return { buckets, brakes: [heldUp.place], heldUntil };
  await giveTokensBack(db, buckets);
  return heldUntil;
}

/** Undoes a try that was not made after all. */
export async function giveLimitsBack(db: Queryable, { buckets, brakes }: Taken): Promise<void> {
  await giveTokensBack(db, buckets);
  for (const brake of brakes) await giveTryBack(db, brake);
}

/** A try that was right costs nothing, and forgets the wrong ones before it at the same place. */
export async function forgiveLimits(db: Queryable, { buckets, brakes: [place, ...shared] }: Taken): Promise<void> {
  await giveTokensBack(db, buckets);
  for (const brake of shared) await giveTryBack(db, brake);
  if (place) await releaseBrake(db, place);
}
