import { findGrades, type PersonId } from "../directory/index.ts";
import { type PrismaDb, withPrismaTransaction } from "../platform/database/db.ts";
import { findGuessable } from "./login/guessable.ts";
import { findMayUsePassword } from "./login/local-passwords.ts";
import { isFromGrade } from "./grades.ts";
import { findSignInSettingsOf } from "./sign-in-settings.ts";
import { againAfterDeadlock } from "../access/index.ts";
import type { Origin } from "../events/index.ts";
import { endSignIns, lockPersonSignIn } from "./end-sign-ins.ts";
import { hashPassword, isPasswordOf, longestPassword } from "./login/password.ts";
import { recordAtHome } from "./record-at-home.ts";
import { findRoles } from "../staff/index.ts";

const shortest = 8;
const shortestOfStaff = 12;

/** What a password that a person chooses must be; `names` are words that it must not consist of. */
type PasswordRule = { shortest: number; names: readonly string[] };

export type PasswordFault = "missing" | "short" | "long" | "differs" | "common" | "name" | "same";

/** Staff are teachers, other personnel and people with a role; with a passkey, a shorter password is enough. */
export async function findPasswordRule(db: PrismaDb, personId: PersonId, now: Date): Promise<PasswordRule> {
  const { role, firstFull, firstCall, last, credential, affiliations, secondFactors } =
    await db.prisma.person.findUniqueOrThrow({
      where: { id: personId },
      select: {
        role: true,
        firstFull: true,
        firstCall: true,
        last: true,
        credential: { select: { username: true } },
        affiliations: { select: { school: { select: { name: true } } } },
        secondFactors: { where: { kind: "PASSKEY" }, select: { id: true }, take: 1 },
      },
    });
  const isStaff = role !== "STUDENT" || (await findRoles(db, { personId }, now)).length > 0;
  const schools = affiliations.map(({ school }) => school.name);
  const names = [firstFull, firstCall, last, credential?.username, ...schools, "Schultor"];
  return {
    shortest: isStaff && secondFactors.length === 0 ? shortestOfStaff : shortest,
    names: names.filter((name) => typeof name === "string"),
  };
}

/** The rule of every password that people choose. */
function findPasswordFault(
  { shortest: fewest, names }: PasswordRule,
  { password, repeated }: { password: string; repeated: string },
): PasswordFault | null {
  if (password === "") return "missing";
  if (password.length > longestPassword) return "long";
  if (Array.from(password).length < fewest) return "short";
  return findGuessable(password, names) ?? (password === repeated ? null : "differs");
}

/** `isUsed`: the home school uses passwords. `helpText`: for people who may not change theirs. */
export type OwnPassword = { isAllowed: boolean; isUsed: boolean; username: string; helpText: string | null };

/**
 * Staff may always change their password, pupils from the grade that their home school chose, and nobody whose home
 * school uses no passwords. Null for a person without a password.
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
  return { isAllowed: isUsed && isFromGrade(person.role, from, grade ?? null), isUsed, username, helpText };
}

/** Ends all sign-ins and returns the new generation; "outdated" if the credential has changed since `generation`. */
export async function changePassword(
  db: PrismaDb,
  chosen: { personId: PersonId; generation: number; password: string; repeated: string },
  origin: Origin,
): Promise<{ kind: "done"; generation: number } | { kind: "fault"; fault: PasswordFault } | { kind: "outdated" }> {
  const { personId, generation, password } = chosen;
  const before = await db.prisma.credential.findUnique({ where: { personId } });
  if (before === null || before.passwordHash === null || before.generation !== generation) return { kind: "outdated" };
  const fault = findPasswordFault(await findPasswordRule(db, personId, origin.at), chosen);
  if (fault !== null) return { kind: "fault", fault };
  if (await isPasswordOf(before.passwordHash, password)) return { kind: "fault", fault: "same" };
  const passwordHash = await hashPassword(password);
  return againAfterDeadlock(() =>
    withPrismaTransaction(db, async (tx) => {
      await lockPersonSignIn(tx, personId);
      const changed = await tx.prisma.credential.updateMany({
        where: { personId, generation },
        data: { passwordHash, mustChange: false, updatedAt: origin.at },
      });
      if (changed.count === 0) return { kind: "outdated" };
      await endSignIns(tx, { personId, at: origin.at });
      await recordAtHome(tx, { ...origin, action: "password_changed", personId });
      return { kind: "done", generation: generation + 1 };
    }),
  );
}
