import { randomBytes } from "node:crypto";
import { HOTP, Secret, TOTP } from "otpauth";
import type { PersonId } from "../../directory/index.ts";
import type { Origin } from "../../events/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { type PrismaDb, withPrismaTransaction } from "../../platform/database/db.ts";
import { type EncryptionKeys, unseal } from "../../platform/crypto/seal.ts";
import { secondsUntil } from "../../platform/database/token-bucket.ts";
import { makeKeyMaker } from "../login/known-devices.ts";
import { forgetTries, secondFactorLimit, takeTry } from "../login/rate-limits.ts";
import { recordAtHome } from "../record-at-home.ts";
import type { SecondMethod } from "./methods.ts";
import { useRecoveryCode } from "./records.ts";

const stepSeconds = 30;
const secretBytes = 20;

export const makeTotpSecret = (): Buffer => randomBytes(secretBytes);

const secretOf = (bytes: Buffer): Secret => new Secret({ buffer: new Uint8Array(bytes).buffer });

export const totpPurpose = (id: string): string => `second factor ${id}`;

export const spellTotpSecret = (bytes: Buffer): string => secretOf(bytes).base32.replace(/(.{4})(?=.)/g, "$1 ");

/** The address in the QR code. Source: the key URI format of Google Authenticator. */
export function makeTotpAddress(bytes: Buffer, { issuer, account }: { issuer: string; account: string }): string {
  return new TOTP({ issuer, label: account, secret: secretOf(bytes), period: stepSeconds }).toString();
}

/** Finds the time step of a code: the present one or a neighbour, because clocks differ. Source: RFC 6238, 5.2. */
export function findTotpStep(bytes: Buffer, code: string, now: Date): number | null {
  const counter = Math.floor(now.getTime() / 1000 / stepSeconds);
  if (!/^\d{6}$/.test(code)) return null;
  const delta = HOTP.validate({ token: code, secret: secretOf(bytes), counter, window: 1 });
  return delta === null ? null : counter + delta;
}

export type SecondFactorCheck =
  { kind: "ok"; method: SecondMethod } | { kind: "refused" } | { kind: "slowed"; retryAfterSeconds: number };

type CheckDeps = {
  db: PrismaDb;
  clock: Clock;
  secrets: { signInTraces: Buffer; recoveryCodes: Buffer };
  encryptionKeys: EncryptionKeys;
};

/** Counts a try as failed before it is made, and forgets failed ones if it succeeds. */
export async function limitedTry(
  { db, clock, secrets }: CheckDeps,
  personId: PersonId,
  attempt: () => Promise<SecondMethod | null>,
): Promise<SecondFactorCheck> {
  // Without the person, because forgetting failed passwords must not forget these.
  const place = { personId: null, everywhere: false };
  const limit = {
    key: makeKeyMaker(secrets.signInTraces)("second factor", personId),
    kind: secondFactorLimit,
    ...place,
  };
  const wait = await takeTry(db.pool, limit, clock());
  if (wait !== null) return { kind: "slowed", retryAfterSeconds: secondsUntil(wait, clock()) };
  const method = await attempt();
  if (method === null) return { kind: "refused" };
  await forgetTries(db.pool, limit);
  return { kind: "ok", method };
}

/** Checks a code of an app or a recovery code; each is valid once. */
export function checkCode(
  deps: CheckDeps,
  { personId, code, requestId }: { personId: PersonId; code: string; requestId: string | undefined },
): Promise<SecondFactorCheck> {
  const origin: Origin = { at: deps.clock(), requestId };
  return limitedTry(deps, personId, async () => {
    const digits = code.replace(/\s/g, "");
    if (/^\d{6}$/.test(digits)) return (await takeTotpCode(deps, personId, digits)) ? "otp" : null;
    return (await takeRecoveryCode(deps, { personId, code, origin })) ? "otp" : null;
  });
}

async function takeTotpCode({ db, clock, encryptionKeys }: CheckDeps, personId: PersonId, code: string) {
  const now = clock();
  for (const { id, secret } of await db.prisma.secondFactor.findMany({ where: { personId, kind: "TOTP" } })) {
    const plain = secret && unseal(encryptionKeys, totpPurpose(id), Buffer.from(secret));
    if (!plain) throw new Error("none of the encryption keys opens a second factor");
    const lastStep = findTotpStep(plain, code, now);
    if (lastStep === null) continue;
    // The condition lets only one of two parallel requests with the same code through.
    const { count } = await db.prisma.secondFactor.updateMany({
      where: { id, OR: [{ lastStep: null }, { lastStep: { lt: lastStep } }] },
      data: { lastStep, lastUsedAt: now },
    });
    if (count === 1) return true;
  }
  return false;
}

function takeRecoveryCode(
  { db, secrets }: CheckDeps,
  { personId, code, origin }: { personId: PersonId; code: string; origin: Origin },
): Promise<boolean> {
  return withPrismaTransaction(db, async (tx) => {
    const left = await useRecoveryCode(tx, { personId, code, key: secrets.recoveryCodes });
    if (left === null) return false;
    await recordAtHome(tx, { ...origin, action: "recovery_code_used", personId, detail: { left } });
    return true;
  });
}
