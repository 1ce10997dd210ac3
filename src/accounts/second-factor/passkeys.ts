import type { AuthenticationResponseJSON, RegistrationResponseJSON, WebAuthnCredential } from "@simplewebauthn/server";
import type { PersonId } from "../../directory/index.ts";
import { takeToken } from "../../platform/database/token-bucket.ts";
import type { Clock } from "../../platform/clock.ts";
import type { PrismaDb } from "../../platform/database/db.ts";
import { makeKeyMaker } from "../login/known-devices.ts";
import { makeSealed, type Sealed } from "../../platform/crypto/seal.ts";

// 300 modules that only passkeys need.
const loadLibrary = () => import("@simplewebauthn/server");

type Deps = { db: PrismaDb; clock: Clock; secrets: { secondFactor: Buffer }; issuerUrl: string };

/** A person, and the browser that the challenge is bound to. */
export type BoundPerson = { personId: PersonId; browser: string };
type Ceremony = "add" | "prove";

/** `options` are for the browser; `state` comes back with the response of the authenticator. */
export type PasskeyQuestion = { options: string; state: string };

const challengeSeconds = 300;

/** EdDSA, ES256 and RS256. Source: the COSE algorithms registry. */
const supportedAlgorithmIDs = [-8, -7, -257];

const sealedChallenge = ({ secrets }: Deps, ceremony: Ceremony): Sealed<BoundPerson & { challenge: string }> =>
  makeSealed(secrets.secondFactor, `passkey ${ceremony}`, challengeSeconds);

const siteOf = ({ issuerUrl }: Deps) => ({ rpID: new URL(issuerUrl).hostname, origin: new URL(issuerUrl).origin });

const listPasskeys = async ({ db }: Deps, personId: PersonId): Promise<{ id: string; transports: string[] }[]> => {
  const found = await db.prisma.secondFactor.findMany({
    where: { personId, kind: "PASSKEY" },
    select: { credentialId: true, transports: true },
  });
  return found.map(({ credentialId, transports }) => ({ id: credentialId!, transports }));
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

export async function askForNewPasskey(deps: Deps, person: BoundPerson, username: string): Promise<PasskeyQuestion> {
  const { rpID } = siteOf(deps);
  const { generateRegistrationOptions } = await loadLibrary();
  const options = await generateRegistrationOptions({
    rpName: rpID,
    rpID,
    userName: username,
    attestationType: "none" as const,
    // The authenticator stores it: it must not identify the person elsewhere.
    userID: new Uint8Array(makeKeyMaker(deps.secrets.secondFactor)("passkey user", person.personId)),
    supportedAlgorithmIDs,
    excludeCredentials: await listPasskeys(deps, person.personId),
    authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
    timeout: challengeSeconds * 1000,
  });
  const state = sealedChallenge(deps, "add").write({ ...person, challenge: options.challenge }, deps.clock());
  return { options: JSON.stringify(options), state };
}

type Answer = { state: string; response: string };

/** Returns null for a challenge that is too old, used, or another person's or browser's. */
async function takeChallenge(
  deps: Deps,
  ceremony: Ceremony,
  person: BoundPerson,
  state: string,
): Promise<string | null> {
  const kept = sealedChallenge(deps, ceremony).read(state, deps.clock());
  if (kept?.personId !== person.personId || kept.browser !== person.browser || kept.browser === "") return null;
  // Single use: the bucket holds one token and refills after the challenge has expired.
  const key = makeKeyMaker(deps.secrets.secondFactor)("passkey challenge", kept.challenge);
  const used = await takeToken(deps.db.pool, { key, capacity: 1, refillSeconds: 2 * challengeSeconds }, deps.clock());
  return used === null ? kept.challenge : null;
}

export async function checkPasskey(deps: Deps, person: BoundPerson, { state, response }: Answer): Promise<boolean> {
  const expectedChallenge = await takeChallenge(deps, "prove", person, state);
  const answer = parse<AuthenticationResponseJSON>(response);
  if (expectedChallenge === null || answer === null) return false;
  const { prisma } = deps.db;
  const factor = await prisma.secondFactor.findFirst({ where: { personId: person.personId, credentialId: answer.id } });
  if (!factor?.credentialId || factor.publicKey === null || factor.counter === null) return false;
  const { rpID, origin } = siteOf(deps);
  const credential = {
    id: factor.credentialId,
    publicKey: factor.publicKey,
    counter: Number(factor.counter),
    transports: factor.transports,
  } as WebAuthnCredential;
  const { verifyAuthenticationResponse } = await loadLibrary();
  const verified = await unlessRefused(
    answer,
    verifyAuthenticationResponse({
      response: answer,
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: rpID,
      credential,
      requireUserVerification: false,
    }),
  );
  if (verified === null) return false;
  const { count } = await prisma.secondFactor.updateMany({
    where: { id: factor.id, counter: factor.counter },
    data: { counter: verified.authenticationInfo.newCounter, lastUsedAt: deps.clock() },
  });
  return count === 1;
}

export async function readNewPasskey(
  deps: Deps,
  person: BoundPerson,
  { state, response }: Answer,
): Promise<{ credentialId: string; publicKey: Uint8Array; counter: number; transports: string[] } | null> {
  const expectedChallenge = await takeChallenge(deps, "add", person, state);
  const answer = parse<RegistrationResponseJSON>(response);
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
      requireUserVerification: false,
    }),
  );
  if (!verified?.verified) return null;
  const { id, publicKey, counter, transports } = verified.registrationInfo.credential;
  const taken = await deps.db.prisma.secondFactor.count({ where: { credentialId: id } });
  return taken > 0 ? null : { credentialId: id, publicKey, counter, transports: knownOf(transports) };
}

const knownTransports = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"];

/** The browser reports them unsigned. */
const knownOf = (transports: unknown): string[] =>
  Array.isArray(transports) ? knownTransports.filter((known) => transports.includes(known)) : [];

const isId = (id: unknown): boolean => typeof id === "string" && /^[\w-]{1,1366}$/.test(id);

function parse<Value extends { id: string }>(text: string): Value | null {
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
