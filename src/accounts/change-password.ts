import { againAfterDeadlock } from "../access/index.ts";
import type { PersonId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import { withPrismaTransaction, type PrismaDb } from "../platform/database/db.ts";
import { endSignIns, lockPersonSignIn } from "./end-sign-ins.ts";
import { hashPassword } from "./login/index.ts";
import { isPasswordOf } from "./login/password.ts";
import { findPasswordFault, findPasswordRule, type PasswordFault } from "./password-rule.ts";
import { recordAtHome } from "./record-at-home.ts";

type Chosen = { personId: PersonId; generation: number; password: string; repeated: string };

/** Ends all sign-ins and returns the new generation; "outdated" if the credential has changed since `generation`. */
export async function changePassword(
  db: PrismaDb,
  chosen: Chosen,
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
