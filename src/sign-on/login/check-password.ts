import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import type { PersonId } from "../../directory/index.ts";
import { withTransaction, type Db } from "../../platform/db.ts";
import { makeBounded, makeBoundedByKey } from "./bounded.ts";
import {
  accountBrake,
  addressBrake,
  giveTryBack,
  placeBrake,
  releaseBrake,
  takeTry,
  type Brake,
} from "./brakes.ts";
import { isPasswordOf, longestPassword, makeUnmatchableHash } from "./password.ts";
import { countedAddress, makeKeyMaker, rememberPlaces, type MakeKey } from "./places.ts";
import { foldUsername } from "./username.ts";

/**
 * Shape: `refused` covers an unknown user name and a wrong password; `device` is what the browser keeps in a cookie
 *        for a year, so that it is known next time. A person who may not sign in any more is `ok` here: whether they
 *        may is decided elsewhere.
 */
export type PasswordCheck =
  | { kind: "ok"; personId: PersonId; device: string }
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

/** Shape: `key` is a secret that all processes share; `atOnce` and `waiting` bound the hashing of this process. */
export function makeCheckPassword(deps: {
  db: Db;
  key: Buffer;
  atOnce?: number;
  waiting?: number;
}): (attempt: Attempt) => Promise<PasswordCheck> {
  const { db } = deps;
  const makeKey = makeKeyMaker(deps.key);
  const unmatchable = makeUnmatchableHash();
  const hashing = makeBounded({
    atOnce: deps.atOnce ?? Math.min(availableParallelism(), 3),
    waiting: deps.waiting ?? 200,
  });
  // Tries count as failed while they run, so more of them at once than come free would slow honest ones.
  const oneByOne = makeBoundedByKey({ atOnce: 2, waiting: 200 });

  return async (attempt) => {
    const username = foldUsername(attempt.username);
    const places = placesOf(attempt, makeKey);
    const credential = await findCredential(db, username, [places.device, places.address]);
    const brakes = chooseBrakes(username, places, credential?.known ?? [], makeKey);
    const result = await oneByOne(brakes[0].key.toString("hex"), () => braked(attempt, credential, brakes));
    return result === "full" ? busy : result;
  };

  async function braked(attempt: Attempt, credential: Credential | null, brakes: Brakes): Promise<PasswordCheck> {
    const { password, now } = attempt;
    const wait = await takeTries(db, brakes, now);
    if (wait !== null) return { kind: "slowed", retryAfterSeconds: secondsUntil(wait, now) };

    const hash = credential?.password_hash ?? unmatchable;
    const isRight = await hashing(() => isPasswordOf(hash, password.slice(0, longestPassword)));
    if (isRight === "full") {
      for (const brake of brakes) await giveTryBack(db.pool, brake);
      return busy;
    }
    if (!isRight || credential === null || password.length > longestPassword) return { kind: "refused" };
    return signedIn(attempt, credential.person_id, brakes);
  }

  async function signedIn(attempt: Attempt, personId: PersonId, [place, ...shared]: Brakes): Promise<PasswordCheck> {
    const device = isDevice(attempt.device) ? attempt.device : randomBytes(16).toString("base64url");
    const { address } = placesOf(attempt, makeKey);
    await withTransaction(db, async (tx) => {
      await releaseBrake(tx, place);
      for (const brake of shared) await giveTryBack(tx, brake);
      await rememberPlaces(tx, personId, [makeKey("device", device), address], attempt.now);
    });
    return { kind: "ok", personId, device };
  }
}

type Brakes = readonly [Brake, ...Brake[]];
type Places = { device: Buffer; address: Buffer };
type Credential = { person_id: PersonId; password_hash: string; known: Buffer[] };

function placesOf(attempt: Attempt, makeKey: MakeKey): Places {
  return {
    device: makeKey("device", isDevice(attempt.device) ? attempt.device : ""),
    address: makeKey("address", countedAddress(attempt.address)),
  };
}

function isDevice(device: string | null): device is string {
  return device !== null && /^[A-Za-z0-9_-]{22}$/.test(device);
}

async function findCredential(db: Db, username: string, places: Buffer[]): Promise<Credential | null> {
  // PostgreSQL takes no NUL character; nobody has one in the name.
  if (username.includes("\0")) return null;
  const found = await db.pool.query<Credential>({
    name: "find-credential",
    text: `SELECT person_id, password_hash,
                  ARRAY(SELECT place FROM sign_in_place AS known
                        WHERE known.person_id = credential.person_id AND place = ANY ($2::bytea[])) AS known
           FROM credential WHERE username = $1`,
    values: [username, places],
  });
  return found.rows[0] ?? null;
}

// A known browser counts for itself, so that nobody beside it at the same address can slow it.
function chooseBrakes(username: string, places: Places, known: Buffer[], makeKey: MakeKey): Brakes {
  const isKnown = (place: Buffer) => known.some((other) => other.equals(place));
  const counted = isKnown(places.device) ? places.device : places.address;
  const place = { key: makeKey("place", username, counted.toString("hex")), kind: placeBrake };
  if (isKnown(counted)) return [place];
  return [
    place,
    { key: makeKey("account", username), kind: accountBrake },
    { key: makeKey("address brake", places.address.toString("hex")), kind: addressBrake },
  ];
}

// Always in the order of the brakes, so that two tries never wait for each other's rows crosswise.
function takeTries(db: Db, brakes: Brakes, now: Date): Promise<Date | null> {
  return withTransaction(db, async (tx) => {
    for (const [index, brake] of brakes.entries()) {
      const wait = await takeTry(tx, brake, now);
      if (wait === null) continue;
      for (const taken of brakes.slice(0, index)) await giveTryBack(tx, taken);
      return wait;
    }
    return null;
  });
}

function secondsUntil(wait: Date, now: Date): number {
  return Math.max(1, Math.ceil((wait.getTime() - now.getTime()) / 1000));
}
