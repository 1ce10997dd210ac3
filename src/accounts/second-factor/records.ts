import { randomInt } from "node:crypto";
import type { SecondFactorKind } from "../../../generated/prisma/enums.ts";
import type { PersonId, SchoolId } from "../../directory/index.ts";
import { type Origin, recordAuditLines } from "../../events/index.ts";
import type { RecordStore, Transaction } from "../../platform/database/db.ts";
import { checkLimit, makeFind, table } from "../../platform/database/sql.ts";
import { AppError } from "../../platform/errors.ts";
import { endSignIns, lockPersonSignIn } from "../end-sign-ins.ts";
import { recordAtHome } from "../record-at-home.ts";
import { uuidPattern } from "../../platform/crypto/ids.ts";
import { holdsAnyRole } from "../../staff/index.ts";
import { hmac } from "../../platform/crypto/seal.ts";

export type SecondFactor = {
  id: string;
  kind: SecondFactorKind;
  label: string;
  createdAt: Date;
  lastUsedAt: Date | null;
};

const factorFields = { id: true, kind: true, label: true, createdAt: true, lastUsedAt: true } as const;

export const listSecondFactors = ({ prisma }: RecordStore, personId: PersonId): Promise<SecondFactor[]> =>
  prisma.secondFactor.findMany({
    where: { personId },
    select: factorFields,
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
  });

export const hasSecondFactors = async ({ prisma }: RecordStore, personId: PersonId): Promise<boolean> =>
  (await prisma.secondFactor.count({ where: { personId } })) > 0;

type New = { id: string; label: string } & (
  | { kind: "TOTP"; secret: Buffer; lastStep: number }
  | {
      kind: "PASSKEY";
      credentialId: string;
      publicKey: Uint8Array;
      counter: number;
      transports: string[];
      isAsked: boolean;
    }
);

/**
 * Returns whether the factor is the person's first. With `generation` nothing is added if their sign-ins have ended
 * since. Errors: conflict second_factors_full.
 */
export async function addSecondFactor(
  tx: Transaction,
  { personId, factor, origin, generation }: { personId: PersonId; factor: New; origin: Origin; generation?: number },
): Promise<{ isFirst: boolean; isAdded: boolean }> {
  await checkLimit({
    lock: () => lockPersonSignIn(tx, personId),
    count: () => tx.prisma.secondFactor.count({ where: { personId, id: { not: factor.id } } }),
    most: 10,
    full: () => new AppError("conflict", "second_factors_full", "The person has ten already."),
  });
  const present = await listSecondFactors(tx, personId);
  const isVoid =
    generation !== undefined && (await tx.prisma.credential.count({ where: { personId, generation } })) === 0;
  if (isVoid || present.some(({ id }) => id === factor.id)) return { isFirst: false, isAdded: false };
  const { kind, id, label } = factor;
  const own =
    factor.kind === "TOTP"
      ? { secret: new Uint8Array(factor.secret), lastStep: factor.lastStep, transports: [] }
      : {
          credentialId: factor.credentialId,
          publicKey: new Uint8Array(factor.publicKey),
          counter: factor.counter,
          transports: factor.transports,
          isAsked: factor.isAsked,
        };
  await tx.prisma.secondFactor.create({ data: { id, personId, kind, label, createdAt: origin.at, ...own } });
  await recordAtHome(tx, { ...origin, action: "second_factor_added", personId, detail: { kind } });
  return { isFirst: present.length === 0, isAdded: true };
}

export const renameSecondFactor = async (
  { prisma }: RecordStore,
  { personId, id, label }: { personId: PersonId; id: string; label: string },
): Promise<void> => {
  if (uuidPattern.test(id)) await prisma.secondFactor.updateMany({ where: { id, personId }, data: { label } });
};

/** The person is not offered a passkey again. */
export const declinePasskey = async ({ prisma }: RecordStore, { personId, at }: { personId: PersonId; at: Date }) => {
  await prisma.credential.updateMany({ where: { personId }, data: { passkeyDeclinedAt: at } });
};

/** Removes a second factor, and recovery codes with the last one. All sign-ins end except the session `sessionUid`. */
export async function removeSecondFactor(
  tx: Transaction,
  { personId, id, sessionUid, origin }: { personId: PersonId; id: string; sessionUid: string; origin: Origin },
): Promise<boolean> {
  await lockPersonSignIn(tx, personId);
  const factor = (await listSecondFactors(tx, personId)).find((one) => one.id === id);
  if (factor === undefined) return false;
  await tx.prisma.secondFactor.delete({ where: { id } });
  if (!(await hasSecondFactors(tx, personId))) await tx.prisma.recoveryCode.deleteMany({ where: { personId } });
  await endSignIns(tx, { personId, at: origin.at, keptUid: sessionUid });
  await recordAtHome(tx, { ...origin, action: "second_factor_removed", personId, detail: { kind: factor.kind } });
  return true;
}

/** Removes all second factors and recovery codes of a person and ends their sign-ins. Returns how many there were. */
export async function revokeSecondFactorsIn(tx: Transaction, personId: PersonId, origin: Origin): Promise<number> {
  const { count } = await tx.prisma.secondFactor.deleteMany({ where: { personId } });
  await tx.prisma.recoveryCode.deleteMany({ where: { personId } });
  if (count === 0) return 0;
  await endSignIns(tx, { personId, at: origin.at });
  await recordAtHome(tx, { ...origin, action: "second_factors_removed", personId, detail: { factors: count } });
  return count;
}

const factor = table("secondFactor", "factor");
const person = table("person");
const code = table("recoveryCode", "code");

type Reset = { personIds: readonly PersonId[]; now: Date };

const deleteUnasked = makeFind<{ personId: PersonId; factors: number }, Reset>("sign-on.deleteUnaskedPasskeys")`
    WITH gone AS (
      DELETE FROM ${factor} USING ${person} WHERE ${factor.personId} = ANY (${"personIds"}::uuid[])
        AND NOT ${factor.isAsked}
        AND ${person.id} = ${factor.personId} AND NOT ${({ now }) => holdsAnyRole(person, now)}
      RETURNING ${factor.id} AS id, ${factor.personId} AS person_id),
    codes AS (
      DELETE FROM ${code} WHERE ${code.personId} IN (SELECT person_id FROM gone) AND NOT EXISTS (
        SELECT FROM ${factor} WHERE ${factor.personId} = ${code.personId} AND ${factor.id} NOT IN (SELECT id
          FROM gone)))
    SELECT person_id AS "personId", count(*)::int AS factors FROM gone GROUP BY person_id`;

/** Removes the passkeys that people without a role made with their password alone: others may have known it. */
export async function dropUnaskedPasskeysIn(
  tx: Transaction,
  personIds: readonly PersonId[],
  origin: Origin & { schoolId?: SchoolId },
): Promise<void> {
  const gone = await deleteUnasked(tx, { personIds, now: origin.at });
  const line = { ...origin, action: "second_factors_removed" as const };
  await recordAuditLines(
    tx,
    gone.map(({ personId, factors }) => ({ ...line, personId, detail: { factors } })),
  );
}

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
