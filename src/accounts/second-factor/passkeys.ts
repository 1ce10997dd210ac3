import type {
  AuthenticationResponseJSON,
  RegistrationResponseJSON,
  VerifiedAuthenticationResponse,
} from "@simplewebauthn/server";
import type { PersonId } from "../../directory/index.ts";
import { singleUse, takeToken } from "../../platform/database/token-bucket.ts";
import type { Clock } from "../../platform/clock.ts";
import type { PrismaDb } from "../../platform/database/db.ts";
import { makeKeyMaker } from "../login/known-devices.ts";
import { recordAtHome } from "../record-at-home.ts";
import { makeSealed, type Sealed } from "../../platform/crypto/seal.ts";

// 300 modules that only passkeys need.
const loadLibrary = () => import("@simplewebauthn/server");

export type Deps = { db: PrismaDb; clock: Clock; secrets: { secondFactor: Buffer }; issuerUrl: string };

export type BoundPerson = { personId: PersonId; browser: string };
type Ceremony = "add" | "prove";

/** `options` are for the browser; `state` comes back with the response of the authenticator. */
export type PasskeyQuestion = { options: string; state: string };

const challengeSeconds = 300;

/** EdDSA, ES256 and RS256. Source: the COSE algorithms registry. */
const supportedAlgorithmIDs = [-8, -7, -257];

const sealedChallenge = ({ secrets }: Deps, ceremony: Ceremony): Sealed<BoundPerson & { challenge: string }> =>
  makeSealed(secrets.secondFactor, `passkey ${ceremony}`, challengeSeconds);

export const siteOf = ({ issuerUrl }: Pick<Deps, "issuerUrl">) => ({
  rpID: new URL(issuerUrl).hostname,
  origin: new URL(issuerUrl).origin,
});

/** What the authenticator stores of the person: it must not identify them elsewhere. */
export const userHandleOf = ({ secrets }: Pick<Deps, "secrets">, personId: PersonId): Buffer =>
  makeKeyMaker(secrets.secondFactor)("passkey user", personId);

const listPasskeys = async ({ db }: Deps, personId: PersonId): Promise<{ id: string; transports: string[] }[]> => {
  const factors = await db.prisma.secondFactor.findMany({
    where: { personId, kind: "PASSKEY" },
    select: { credentialId: true, transports: true },
  });
  return factors.map(({ credentialId, transports }) => ({ id: credentialId!, transports }));
};

export async function askForPasskey(deps: Deps, person: BoundPerson): Promise<PasskeyQuestion | null> {
  const allowCredentials = await listPasskeys(deps, person.personId);
  if (allowCredentials.length === 0) return null;
  const { rpID } = siteOf(deps);
  const { generateAuthenticationOptions } = await loadLibrary();
  const options = await generateAuthenticationOptions({
    rpID,
    allowCredentials,
    userVerification: "preferred",
    timeout: challengeSeconds * 1000,
  });
  const state = sealedChallenge(deps, "prove").write({ ...person, challenge: options.challenge }, deps.clock());
  return { options: JSON.stringify(options), state };
}

/** `userVerification` is required of a passkey that is to replace the password. */
export async function askForNewPasskey(
  deps: Deps,
  person: BoundPerson,
  { username, userVerification }: { username: string; userVerification: "required" | "preferred" },
): Promise<PasskeyQuestion> {
  const { rpID } = siteOf(deps);
  const { generateRegistrationOptions } = await loadLibrary();
  const options = await generateRegistrationOptions({
    rpName: rpID,
    rpID,
    userName: username,
    attestationType: "none" as const,
    userID: new Uint8Array(userHandleOf(deps, person.personId)),
    supportedAlgorithmIDs,
    excludeCredentials: await listPasskeys(deps, person.personId),
    authenticatorSelection: { residentKey: userVerification, userVerification },
    timeout: challengeSeconds * 1000,
  });
  const state = sealedChallenge(deps, "add").write({ ...person, challenge: options.challenge }, deps.clock());
  return { options: JSON.stringify(options), state };
}

/** The fields of a form with the answer of an authenticator. */
export type Answer = { state: string; response: string };

/** Returns null for a challenge that is too old, used, or another person's or browser's. */
async function takeChallenge(deps: Deps, ceremony: Ceremony, person: BoundPerson, state: string) {
  const bound = sealedChallenge(deps, ceremony).read(state, deps.clock());
  if (bound?.personId !== person.personId || bound.browser !== person.browser || bound.browser === "") return null;
  const key = makeKeyMaker(deps.secrets.secondFactor)("passkey challenge", bound.challenge);
  const used = await takeToken(deps.db.pool, singleUse(key, challengeSeconds), deps.clock());
  return used === null ? bound.challenge : null;
}

export async function checkPasskey(deps: Deps, person: BoundPerson, { state, response }: Answer): Promise<boolean> {
  const challenge = await takeChallenge(deps, "prove", person, state);
  const answer = parseAnswer<AuthenticationResponseJSON>(response);
  if (challenge === null || answer === null) return false;
  const { prisma } = deps.db;
  const { personId } = person;
  const factor = await prisma.secondFactor.findFirst({ where: { personId, credentialId: answer.id } });
  if (!factor?.credentialId || factor.publicKey === null || factor.counter === null) return false;
  const passkey = { id: factor.id, personId, publicKey: factor.publicKey, counter: Number(factor.counter) };
  const verified = await verifyAnswer(deps, passkey, { answer, challenge, requireUserVerification: false });
  if (verified === null) return false;
  const { count } = await prisma.secondFactor.updateMany({
    where: { id: factor.id, counter: factor.counter },
    data: { counter: verified.newCounter, lastUsedAt: deps.clock() },
  });
  return count === 1;
}

/** Returns null for a wrong answer, and for one of a copy of the authenticator, which is recorded. */
export async function verifyAnswer(
  deps: Deps,
  { id, personId, publicKey, counter }: { id: string; personId: PersonId; publicKey: Uint8Array; counter: number },
  asked: {
    answer: AuthenticationResponseJSON;
    challenge: string;
    requireUserVerification: boolean;
    requestId?: string | undefined;
  },
): Promise<Pick<VerifiedAuthenticationResponse["authenticationInfo"], "newCounter" | "credentialDeviceType"> | null> {
  const { answer, challenge: expectedChallenge, requireUserVerification, requestId } = asked;
  const { rpID, origin } = siteOf(deps);
  const { verifyAuthenticationResponse } = await loadLibrary();
  const verified = await unlessRefused(
    answer,
    verifyAuthenticationResponse({
      response: answer,
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: rpID,
      // The counter is compared below.
      credential: { id: answer.id, publicKey: new Uint8Array(publicKey), counter: 0 },
      requireUserVerification,
    }),
  );
  if (verified === null) return null;
  const { newCounter } = verified.authenticationInfo;
  if (newCounter > counter || (newCounter === 0 && counter === 0)) return verified.authenticationInfo;
  const detail = { factorId: id, reason: "counter" };
  await recordAtHome(deps.db, { at: deps.clock(), action: "passkey_refused", personId, requestId, detail });
  return null;
}

export async function readNewPasskey(
  deps: Deps,
  person: BoundPerson,
  { state, response }: Answer,
  requireUserVerification: boolean,
): Promise<{ credentialId: string; publicKey: Uint8Array; counter: number; transports: string[] } | null> {
  const expectedChallenge = await takeChallenge(deps, "add", person, state);
  const answer = parseAnswer<RegistrationResponseJSON>(response);
  if (expectedChallenge === null || answer === null) return null;
  const { rpID, origin } = siteOf(deps);
  const { verifyRegistrationResponse } = await loadLibrary();
  const verified = await unlessRefused(
    answer,
    verifyRegistrationResponse({
      response: answer,
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: rpID,
      supportedAlgorithmIDs,
      requireUserVerification,
    }),
  );
  if (!verified?.verified) return null;
  const { id, publicKey, counter, transports } = verified.registrationInfo.credential;
  const registered = await deps.db.prisma.secondFactor.count({ where: { credentialId: id } });
  return registered > 0 ? null : { credentialId: id, publicKey, counter, transports: knownOf(transports) };
}

const knownTransports = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"];

/** The browser reports them unsigned. */
const knownOf = (transports: unknown): string[] =>
  Array.isArray(transports) ? knownTransports.filter((known) => transports.includes(known)) : [];

const isId = (id: unknown): boolean => typeof id === "string" && /^[\w-]{1,1366}$/.test(id);

export function parseAnswer<Value extends { id: string }>(text: string): Value | null {
  try {
    const value = JSON.parse(text) as Value | null;
    return isId(value?.id) ? value : null;
  } catch {
    return null;
  }
}

/** Returns null for a wrong response, or one from a frame of another site. */
async function unlessRefused<Value extends { verified: boolean }>(
  { response }: { response: { clientDataJSON: string } },
  verifying: Promise<Value>,
): Promise<Value | null> {
  // The library throws for every fault, and leaves frames to its caller.
  const result = await verifying.catch(() => null);
  const { decodeClientDataJSON } = await import("@simplewebauthn/server/helpers");
  return result?.verified === true && decodeClientDataJSON(response.clientDataJSON).crossOrigin !== true
    ? result
    : null;
}
