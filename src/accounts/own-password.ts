import { findGrades, type PersonId, type PersonRole } from "../directory/index.ts";
import type { PrismaDb } from "../platform/database/db.ts";
import { findMayUsePassword } from "./login/index.ts";
import { findSignInSettingsOf } from "./sign-in-settings.ts";

/**
 * `isUsed`: the home school uses it. `helpText` is what the school says to those who may not change their password.
 */
export type OwnPassword = { isAllowed: boolean; isUsed: boolean; username: string; helpText: string | null };

/**
 * Nobody may whose password the home school does not use. Otherwise staff may always, pupils from a grade that the
 * school chose; null for a person without a password.
 */
export async function findOwnPassword(db: PrismaDb, personId: PersonId, now: Date): Promise<OwnPassword | null> {
  const credential = await db.prisma.credential.findUnique({
    where: { personId, passwordHash: { not: null } },
    select: { username: true, person: { select: { role: true } } },
  });
  const settings = await findSignInSettingsOf(db, personId);
  if (credential === null || settings === null) return null;
  const { username, person } = credential;
  const { ownPasswordFromGrade: from, helpText } = settings;
  const grade = person.role === "STUDENT" && from !== null ? (await findGrades(db, [personId])).get(personId) : null;
  const isUsed = await findMayUsePassword(db.pool, { personId, now });
  return { isAllowed: isUsed && mayChange(person.role, from, grade ?? null), isUsed, username, helpText };
}

const mayChange = (role: PersonRole, from: number | null, grade: number | null): boolean =>
  role !== "STUDENT" || (from !== null && grade !== null && grade >= from);
