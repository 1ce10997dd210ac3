import { randomInt } from "node:crypto";
import type { PersonId } from "../../directory/index.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import { hmac } from "../../platform/crypto/hmac.ts";

const count = 10;
const groups = 3;
const groupLength = 4;
const alphabet = "abcdefghjkmnpqrstuvwxyz23456789";

const makeGroup = () => Array.from({ length: groupLength }, () => alphabet[randomInt(alphabet.length)]).join("");
const makeRecoveryCode = () => Array.from({ length: groups }, makeGroup).join("-");

/** Case and separators do not matter. */
const plainOf = (code: string): string => code.toLowerCase().replace(/[^a-z0-9]/g, "");

const hashOf = (key: Buffer, code: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(hmac(key).update(plainOf(code)).digest());

/** Makes ten new codes in place of all earlier ones. They are shown once and stored as keyed hashes. */
export async function renewRecoveryCodes(
  { prisma }: RecordStore,
  { personId, key }: { personId: PersonId; key: Buffer },
): Promise<string[]> {
  const codes = Array.from({ length: count }, makeRecoveryCode);
  await prisma.recoveryCode.deleteMany({ where: { personId } });
  await prisma.recoveryCode.createMany({ data: codes.map((code) => ({ personId, hash: hashOf(key, code) })) });
  return codes;
}

/** Uses a code up. Returns how many are left; null for an invalid code. */
export async function useRecoveryCode(
  { prisma }: RecordStore,
  { personId, code, key }: { personId: PersonId; code: string; key: Buffer },
): Promise<number | null> {
  if (plainOf(code).length !== groups * groupLength) return null;
  const gone = await prisma.recoveryCode.deleteMany({ where: { personId, hash: hashOf(key, code) } });
  return gone.count === 1 ? prisma.recoveryCode.count({ where: { personId } }) : null;
}
