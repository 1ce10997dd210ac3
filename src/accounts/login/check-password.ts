import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import type { PersonId, SchoolId } from "../../directory/index.ts";
import type { Db } from "../../platform/database/db.ts";
import { fields, makeFindOne, pick, sql, table } from "../../platform/database/sql.ts";
import { secondsUntil } from "../../platform/database/token-bucket.ts";
import { makeBoundedByKey } from "./bounded.ts";
import { hashAside } from "./hash-aside.ts";
import { chooseLimits, giveLimitsBack, type Limits, recordSuccess, type TakenLimits, takeLimits } from "./limits.ts";
import { mayUsePasskey, type PasskeyRule, passkeyRuleOf } from "../passkey-rule.ts";
import { mayUsePassword } from "./local-passwords.ts";
import { isPasswordOf, longestPassword, makeUnmatchableHash } from "./password.ts";
import { PasswordQueue } from "./password-queue.ts";
import { countedAddress, isAddressOf, makeKeyMaker } from "./known-devices.ts";
import { foldUsername } from "./credential.ts";
import { recordWrongPassword } from "./rate-limits.ts";

/**
 * `refused`: an unknown user name or a wrong password. `not_used`: the right one, which the home school does not use.
 * `device` goes into a cookie. `turnAt`: when to come again.
 */
export type PasswordCheck =
  | {
      kind: "ok";
      personId: PersonId;
      generation: number;
      mustChange: boolean;
      homeSchoolId: SchoolId | null;
      device: string;
      passkeyOffer: PasskeyOffer | null;
    }
  | { kind: "refused" }
  | { kind: "not_used"; homeSchoolId: SchoolId | null }
  | { kind: "slowed"; retryAfterSeconds: number }
  | { kind: "busy"; retryAfterSeconds: number; turnAt: Date };

/** Whether the person may get a passkey at once, or must prove their second factor first. */
export type PasskeyOffer = "NOW" | "CONFIRMED";

type Attempt = {
  username: string;
  password: string;
  address: string;
  device: string | null;
  now: Date;
  /** Whether the browser can make a passkey. */
  hasPasskeys?: boolean;
  /** The turn that an earlier try got. */
  turnAt?: Date | undefined;
};

/** Browsers that would wait longer get a turn; at their turn they may wait until just before proxies give up. */
const longestWaitMs = 5000;
const longestWaitAtTurnMs = 15_000;

/** `key` is shared by all processes; `unmatchable` is the hash compared for an unknown account. */
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
  const queue = new PasswordQueue({
    atOnce: deps.atOnce ?? Math.min(availableParallelism(), 3),
    waiting: deps.waiting ?? 1000,
  });
  // Running tries count as failed: more at once than are free would slow down people who typed correctly.
  const oneByOne = makeBoundedByKey({ atOnce: 2, waiting: 200 });

  return async (attempt) => {
    // Before any statement, so that a crowd costs the others little.
    if (queue.waitMs() > longestWaitOf(attempt)) return busy(attempt);
    const username = foldUsername(attempt.username);
    const device = isDevice(attempt.device) ? attempt.device : null;
    const devices = {
      device: makeKey("device", device ?? ""),
      address: makeKey("address", countedAddress(attempt.address)),
    };
    const facts = await findCredential(db, {
      username,
      device: devices.device,
      now: attempt.now,
      hasPasskeys: attempt.hasPasskeys === true,
    });
    const limits = chooseLimits({ username, address: attempt.address, device, ...facts }, makeKey);
    const wrongKey = makeKey("wrong password", username);
    const result = await oneByOne(limits.origin.key.toString("hex"), () =>
      limited(attempt, { ...facts, devices, wrongKey }, limits),
    );
    return result === "full" ? busy(attempt) : result;
  };

  function busy({ now, turnAt }: Attempt): PasswordCheck {
    const at = turnAt !== undefined && now < turnAt ? turnAt : new Date(now.getTime() + queue.giveTurnMs());
    return { kind: "busy", retryAfterSeconds: secondsUntil(at, now), turnAt: at };
  }

  async function limited(
    attempt: Attempt,
    facts: CredentialFacts & { devices: Devices; wrongKey: Buffer },
    limits: Limits,
  ): Promise<PasswordCheck> {
    const { password, now } = attempt;
    const { credential, personId, wrongKey } = facts;
    const takenLimits = await takeLimits(db.pool, limits, now);
    if (takenLimits instanceof Date) return slowed(takenLimits, now);

    const isRight = await queue.run(
      () => isPasswordOf(credential?.passwordHash ?? unmatchable, password.slice(0, longestPassword), hashAside),
      longestWaitOf(attempt),
    );
    if (isRight === "full") {
      await giveLimitsBack(db.pool, takenLimits);
      return busy(attempt);
    }
    const owner = isRight && password.length <= longestPassword ? credential : null;
    const maySignIn = owner?.isAllowed === true;
    const isHeld =
      takenLimits.heldUntil !== null &&
      !(maySignIn && (await isAddressOf(db.pool, owner.personId, facts.devices.address)));
    if (maySignIn && !isHeld) return signedIn(attempt, owner, { taken: takenLimits, devices: facts.devices });
    // Not counted: while tries are held up, a right password must take as long as a wrong one.
    if (takenLimits.heldUntil !== null) return slowed(takenLimits.heldUntil, now);
    if (owner !== null) {
      await giveLimitsBack(db.pool, takenLimits);
      return { kind: "not_used", homeSchoolId: owner.homeSchoolId };
    }
    await recordWrongPassword(db.pool, { key: wrongKey, personId, now });
    return { kind: "refused" };
  }

  async function signedIn(
    attempt: Attempt,
    { personId, generation, mustChange, homeSchoolId, hasFactor, passkeyRule }: Credential,
    { taken, devices }: { taken: TakenLimits; devices: Devices },
  ): Promise<PasswordCheck> {
    const device = isDevice(attempt.device) ? attempt.device : randomBytes(16).toString("base64url");
    const seen = [makeKey("device", device), devices.address];
    await recordSuccess(db.pool, taken, { personId, generation, devices: seen, now: attempt.now });
    const passkeyOffer = passkeyRule === null || !mayUsePasskey(passkeyRule) ? null : hasFactor ? "CONFIRMED" : "NOW";
    return { kind: "ok", personId, generation, mustChange, homeSchoolId, device, passkeyOffer };
  }
}

const longestWaitOf = ({ now, turnAt }: Attempt): number =>
  turnAt !== undefined && now >= turnAt ? longestWaitAtTurnMs : longestWaitMs;

const slowed = (until: Date, now: Date): PasswordCheck => ({
  kind: "slowed",
  retryAfterSeconds: secondsUntil(until, now),
});

type Devices = { device: Buffer; address: Buffer };
type Credential = {
  personId: PersonId;
  homeSchoolId: SchoolId | null;
  passwordHash: string;
  generation: number;
  mustChange: boolean;
  isAllowed: boolean;
  hasFactor: boolean;
  /** Null if no passkey is to be offered. */
  passkeyRule: PasskeyRule | null;
};
type CredentialFacts = {
  personId: PersonId | null;
  credential: Credential | null;
  isOwnDevice: boolean;
  isKnownDevice: boolean;
};

function isDevice(device: string | null): device is string {
  return device !== null && /^[A-Za-z0-9_-]{22}$/.test(device);
}

type FoundRow = Omit<CredentialFacts, "credential" | "personId"> & {
  [Field in keyof Credential]: Credential[Field] | null;
};

const credential = table("credential");
const person = table("person");
const known = table("signInPlace", "known");
const factor = table("secondFactor", "factor");

// One row whether or not the user name exists, so that both take the same time.
const findByUsername = makeFindOne<FoundRow, Omit<CredentialQuery, "username"> & { username: string | null }>(
  ({ username, device, now, hasPasskeys }) => sql`
    SELECT ${fields<FoundRow>({
      ...pick(credential, "personId", "passwordHash", "generation", "mustChange"),
      homeSchoolId: person.homeSchoolId,
      isAllowed: mayUsePassword(person, now),
      hasFactor: sql`EXISTS (SELECT FROM ${factor} WHERE ${factor.personId} = ${credential.personId})`,
      passkeyRule: sql`CASE WHEN ${hasPasskeys} AND ${credential.passkeyDeclinedAt} IS NULL AND NOT EXISTS (
          SELECT FROM ${factor} WHERE ${factor.personId} = ${credential.personId} AND ${factor.kind} = 'PASSKEY')
        THEN ${passkeyRuleOf(person)} END`,
      isOwnDevice: sql`EXISTS (SELECT FROM ${known}
        WHERE ${known.personId} = ${credential.personId} AND ${known.device} = ${device})`,
      isKnownDevice: sql`EXISTS (SELECT FROM ${known} WHERE ${known.device} = ${device})`,
    })}
    FROM (SELECT) AS once LEFT JOIN ${credential} ON ${credential.username} = ${username}
      LEFT JOIN ${person} ON ${person.id} = ${credential.personId}`,
  "find-credential",
);

type CredentialQuery = { username: string; device: Buffer; now: Date; hasPasskeys: boolean };

async function findCredential(db: Db, { username, ...rest }: CredentialQuery): Promise<CredentialFacts> {
  // PostgreSQL accepts no NUL character, and no user name has one.
  const params = { username: username.includes("\0") ? null : username, ...rest };
  const { isOwnDevice, isKnownDevice, ...login } = await findByUsername(db.pool, params);
  const { personId, passwordHash, isAllowed, hasFactor } = login;
  // The other columns of a credential are never null.
  const isFound = personId !== null && passwordHash !== null;
  const credential = { ...login, isAllowed: isAllowed === true, hasFactor: hasFactor === true } as Credential;
  return { isOwnDevice, isKnownDevice, personId, credential: isFound ? credential : null };
}
