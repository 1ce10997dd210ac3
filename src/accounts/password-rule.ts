import type { PersonId } from "../directory/index.ts";
import type { PrismaDb } from "../platform/database/db.ts";
import { findRoles } from "../staff/index.ts";
import { findGuessable, longestPassword } from "./login/index.ts";

const shortest = 8;
const shortestOfStaff = 12;

/** What a password that a person chooses must be; `names` are words that it must not consist of. */
export type PasswordRule = { shortest: number; names: readonly string[] };

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
export function findPasswordFault(
  { shortest: fewest, names }: PasswordRule,
  { password, repeated }: { password: string; repeated: string },
): PasswordFault | null {
  if (password === "") return "missing";
  if (password.length > longestPassword) return "long";
  if (Array.from(password).length < fewest) return "short";
  return findGuessable(password, names) ?? (password === repeated ? null : "differs");
}
