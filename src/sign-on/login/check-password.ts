import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import type { PersonId } from "../../directory/index.ts";
import type { Db } from "../../platform/db.ts";
import { secondsUntil } from "../../platform/token-bucket.ts";
import { makeBounded, makeBoundedByKey } from "./bounded.ts";
import { chooseLimits, forgiveLimits, giveLimitsBack, type Limits, type Taken, takeLimits } from "./limits.ts";
import { isPasswordOf, longestPassword, makeUnmatchableHash } from "./password.ts";
import { countedAddress, isAddressOf, makeKeyMaker, rememberPlaces } from "./places.ts";
import { foldUsername } from "./username.ts";

/**
 * Shape: `refused` covers an unknown user name and a wrong password; `device` is what the browser keeps in a cookie
 *        for a year, so that it is known next time; `generation` is that of the credential whose password was right. A person who may not sign in any more is `ok` here: whether they
 *        may is decided elsewhere.
 */
export type PasswordCheck =
  | { kind: "ok"; personId: PersonId; generation: number; device: string }
  | { kind: "refused" }
  | { kind: "slowed"; retryAfterSeconds: number }
  | { kind: "busy"; retryAfterSeconds: number };

export type Attempt = {
  username: string;
  password: string;
  address: string;
  /** The device cookie as it came; anything the person never signed in with counts as no cookie. */
  device: string | null;
  now: Date;
};

const busy: PasswordCheck = { kind: "busy", retryAfterSeconds: 5 };

/**
 * Shape: `key` is a secret that all processes share; `atOnce` and `waiting` bound the hashing of this process; `unmatchable`
 *        is the hash that stands in for an account that does not exist.
 */
export function makeCheckPassword(deps: {
  db: Db;
  key: Buffer;
  atOnce?: number;
  waiting?: number;
  unmatchable?: string;
}): (attempt: Attempt) => Promise<PasswordCheck> {
  const { db } = deps;
  const makeKey = makeKeyMaker(deps.key);
  const unmatchable = deps.unmatchable ?? makeUnmatchableHash();
  const hashing = makeBounded({
    atOnce: deps.atOnce ?? Math.min(availableParallelism(), 3),
    waiting: deps.waiting ?? 200,
  });
  // Tries count as failed while they run, so more of them at once than come free would slow honest ones.
  const oneByOne = makeBoundedByKey({ atOnce: 2, waiting: 200 });

  return async (attempt) => {
    const username = foldUsername(attempt.username);
    const device = isDevice(attempt.device) ? attempt.device : null;
    const places = {
      device: makeKey("device", device ?? ""),
      address: makeKey("address", countedAddress(attempt.address)),
    };
    const found = await findCredential(db, username, places.device);
    const limits = chooseLimits({ username, address: attempt.address, device, ...found }, makeKey);
    const result = await oneByOne(limits.place.key.toString("hex"), () =>
      limited(attempt, { ...found, places }, limits),
    );
    return result === "full" ? busy : result;
  };

  async function limited(attempt: Attempt, found: Found & { places: Places }, limits: Limits): Promise<PasswordCheck> {
    const { password, now } = attempt;
    const taken = await takeLimits(db.pool, limits, now);
    if (taken instanceof Date) return slowed(taken, now);

    const { credential } = found;
    const isRight = await hashing(() =>
      isPasswordOf(credential?.password_hash ?? unmatchable, password.slice(0, longestPassword)),
    );
    if (isRight === "full") {
      await giveLimitsBack(db.pool, taken);
      return busy;
    }
    const maySignIn = credential !== null && isRight && password.length <= longestPassword;
    const isHeld =
      taken.heldUntil !== null &&
      !(maySignIn && (await isAddressOf(db.pool, credential.person_id, found.places.address)));
    if (maySignIn && !isHeld) return signedIn(attempt, credential, { taken, places: found.places });
    return taken.heldUntil === null ? { kind: "refused" } : slowed(taken.heldUntil, now);
  }

  async function signedIn(
    attempt: Attempt,
    { person_id: personId, generation }: Credential,
    { taken, places }: { taken: Taken; places: Places },
  ): Promise<PasswordCheck> {
    const device = isDevice(attempt.device) ? attempt.device : randomBytes(16).toString("base64url");
    await forgiveLimits(db.pool, taken);
    await rememberPlaces(db.pool, {
      personId,
      generation,
      places: [makeKey("device", device), places.address],
      now: attempt.now,
    });
    return { kind: "ok", personId, generation, device };
  }
}

const slowed = (until: Date, now: Date): PasswordCheck => ({
  kind: "slowed",
  retryAfterSeconds: secondsUntil(until, now),
});

type Places = { device: Buffer; address: Buffer };
type Credential = { person_id: PersonId; password_hash: string; generation: number };
type Found = {
  credential: Credential | null;
  /** Whether this person signed in with the device. */
  isOwnDevice: boolean;
  /** Whether anybody signed in with the device. */
  isKnownDevice: boolean;
};

function isDevice(device: string | null): device is string {
  return device !== null && /^[A-Za-z0-9_-]{22}$/.test(device);
}

async function findCredential(db: Db, username: string, device: Buffer): Promise<Found> {
  const { rows } = await db.pool.query<
    Omit<Found, "credential"> & Omit<Credential, "person_id"> & { person_id: PersonId | null }
  >({
    name: "find-credential",
    text: `SELECT person_id, password_hash, generation,
             EXISTS (SELECT FROM sign_in_place known WHERE known.person_id = credential.person_id AND place = $2) AS "isOwnDevice",
             EXISTS (SELECT FROM sign_in_place known WHERE place = $2) AS "isKnownDevice"
           FROM (SELECT) AS once LEFT JOIN credential ON username = $1`,
    // PostgreSQL takes no NUL character; nobody has one in the name.
    values: [username.includes("\0") ? null : username, device],
  });
  const { person_id, password_hash, generation, ...known } = rows[0]!;
  return { ...known, credential: person_id === null ? null : { person_id, password_hash, generation } };
}
