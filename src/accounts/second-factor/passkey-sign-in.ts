import { randomBytes } from "node:crypto";
import type { AuthenticationResponseJSON } from "@simplewebauthn/server";
import type { PersonId, SchoolId } from "../../directory/index.ts";
import { recordAuditFrom } from "../../events/index.ts";
import { makeUuid } from "../../platform/crypto/ids.ts";
import { makeSealed } from "../../platform/crypto/seal.ts";
import type { Db } from "../../platform/database/db.ts";
import { asynchronous, fields, join, pick, sql, table, update } from "../../platform/database/sql.ts";
import {
  type Bucket,
  giveBackSteps,
  makeFindWithBuckets,
  secondsUntil,
  singleUse,
  takeSteps,
  undoTake,
} from "../../platform/database/token-bucket.ts";
import { bucketsOfAddress, makeKeyMaker } from "../login/known-devices.ts";
import { addressBuckets } from "../login/limits.ts";
import { mayUsePassword } from "../login/local-passwords.ts";
import { mayUsePasskey, type PasskeyRule, passkeyRuleOf } from "../passkey-rule.ts";
import { passkeyMethods } from "./methods.ts";
import {
  type Answer,
  type Deps,
  parseAnswer,
  type PasskeyQuestion,
  siteOf,
  userHandleOf,
  verifyAnswer,
} from "./passkeys.ts";

/** A login page stays open longer than a page that asks for a passkey at once. */
const challengeSeconds = 1200;

/** `form` is the token of the form that the answer comes with: it belongs to one browser and one sign-on. */
type Challenge = { challenge: string; form: string };

const sealedChallenge = ({ secrets }: Pick<Deps, "secrets">) =>
  makeSealed<Challenge>(secrets.secondFactor, "passkey sign-in", challengeSeconds);

/** Asks for the passkey of anybody. Without the library, because every login page asks. */
export function askForAnyPasskey(deps: Omit<Deps, "db">, form: string): PasskeyQuestion {
  const challenge = randomBytes(32).toString("base64url");
  const { rpID: rpId } = siteOf(deps);
  const options = { challenge, rpId, userVerification: "required", timeout: challengeSeconds * 1000 };
  return { options: JSON.stringify(options), state: sealedChallenge(deps).write({ challenge, form }, deps.clock()) };
}

/** `no_passkeys` and `not_used`: the answer is right, but the person may not sign in so. */
export type PasskeySignIn =
  | { kind: "ok"; personId: PersonId; generation: number; homeSchoolId: SchoolId | null; amr: string[] }
  | { kind: "expired_form" | "passkey_refused" | "no_passkeys" }
  | { kind: "not_used"; homeSchoolId: SchoolId | null }
  | { kind: "slowed"; retryAfterSeconds: number };

type Passkey = {
  id: string;
  personId: PersonId;
  publicKey: Buffer;
  counter: number;
  homeSchoolId: SchoolId | null;
  generation: number;
  isAllowed: boolean;
  rule: PasskeyRule;
};

/** All null but `taken` for a credential that nobody has. */
type FoundRow = { [Name in keyof Passkey]: Passkey[Name] | null } & { taken: number };

const factor = table("secondFactor", "factor");
const person = table("person");
const credential = table("credential");

const findPasskey = makeFindWithBuckets<FoundRow, { credentialId: string; now: Date }>((params, count) => {
  const { steps, count: taken } = takeSteps(params, count);
  return sql`
    WITH ${join(steps)}
    SELECT ${fields<FoundRow>({
      taken,
      ...pick(factor, "id", "personId", "publicKey"),
      counter: sql`${factor.counter}::float8`,
      homeSchoolId: person.homeSchoolId,
      generation: credential.generation,
      isAllowed: mayUsePassword(person, params.now),
      rule: passkeyRuleOf(person),
    })}
    FROM (SELECT) AS once LEFT JOIN (${factor} JOIN ${person} ON ${person.id} = ${factor.personId} AND ${person.status} = 'ACTIVE'
        JOIN ${credential} ON ${credential.personId} = ${factor.personId})
      ON ${factor.credentialId} = ${params.credentialId} AND ${factor.kind} = 'PASSKEY'`;
}, "sign-in-passkey-find");

type Use = { form: string; answer: Answer; address: string; requestId: string | undefined };

/** Checks an answer to `askForAnyPasskey`. The authenticator has to verify its user, which makes it two factors. */
export async function checkPasskeySignIn(deps: Deps & { db: Db }, use: Use): Promise<PasskeySignIn> {
  const { db, secrets, clock } = deps;
  const now = clock();
  const opened = sealedChallenge(deps).read(use.answer.state, now);
  if (opened === null || opened.form !== use.form) return { kind: "expired_form" };
  const response = parseAnswer<AuthenticationResponseJSON>(use.answer.response);
  if (response === null) return { kind: "passkey_refused" };
  const makeKey = makeKeyMaker(secrets.secondFactor);
  const places = bucketsOfAddress(use.address, addressBuckets, (kind, part) => makeKey(`passkey ${kind}`, part));
  const buckets = [...places, singleUse(makeKey("passkey challenge", opened.challenge), challengeSeconds)];
  const [row] = await findPasskey(db.pool, buckets, { credentialId: response.id, now });
  const { taken, ...stored } = row!;
  if (taken < places.length)
    return { kind: "slowed", retryAfterSeconds: secondsUntil(await undoTake(db.pool, buckets, taken, now), now) };
  if (taken < buckets.length) return { kind: "expired_form" };
  if (stored.id === null) return { kind: "passkey_refused" };
  return signInWith(deps, stored as Passkey, { ...use, response, challenge: opened.challenge, places, now });
}

type Checked = Use & { response: AuthenticationResponseJSON; challenge: string; places: Bucket[]; now: Date };

async function signInWith(
  deps: Deps & { db: Db },
  passkey: Passkey,
  { response, challenge, places, now, requestId }: Checked,
): Promise<PasskeySignIn> {
  const { id, personId, generation, homeSchoolId, isAllowed, rule, counter: before } = passkey;
  const request = { answer: response, challenge, requireUserVerification: true, requestId };
  const verified = await verifyAnswer(deps, passkey, request);
  if (verified === null || response.response.userHandle !== userHandleOf(deps, personId).toString("base64url"))
    return { kind: "passkey_refused" };
  const { newCounter: counter, credentialDeviceType } = verified;
  if (!isAllowed) return { kind: "not_used", homeSchoolId };
  if (!mayUsePasskey(rule)) return { kind: "no_passkeys" };
  const params = { id, personId, homeSchoolId, before, counter, now, requestId, auditId: makeUuid(now) };
  if ((await recordUse(deps.db.pool, places, params)).length === 0) return { kind: "passkey_refused" };
  const amr = passkeyMethods(credentialDeviceType === "multiDevice");
  return { kind: "ok", personId, generation, homeSchoolId, amr };
}

type UseParameters = Pick<Passkey, "id" | "personId" | "homeSchoolId" | "counter"> &
  Pick<Checked, "now" | "requestId"> & { before: number; auditId: string };

// A success gives back what its try took, so that a school behind one address is not slowed down.
const recordUse = makeFindWithBuckets<Record<string, never>, UseParameters>((params, count) => {
  const { steps } = giveBackSteps(params, count, sql`EXISTS (SELECT FROM used)`);
  return sql`
    WITH used AS (
      ${update("secondFactor", "factor", { counter: sql`${params.counter}::bigint`, lastUsedAt: params.now })}
      WHERE ${factor.id} = ${params.id} AND ${factor.counter} = ${params.before}::bigint
      RETURNING ${params.auditId}::uuid AS id, ${params.now}::timestamptz AS at, NULL::text AS client_id,
        ${params.personId}::uuid AS person_id, ${params.homeSchoolId}::uuid AS school_id, ${params.requestId}::text AS request_id,
        json_build_object('factorId', ${params.id}::uuid) AS detail),
    ${join([...steps, sql`recorded AS (${recordAuditFrom(sql`used`, "passkey_used", ["schoolId", "detail"])})`])}
    SELECT FROM used WHERE ${asynchronous}`;
}, "sign-in-passkey-use");
