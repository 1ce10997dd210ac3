import type { SchoolId } from "../../../directory/index.ts";
import { allowsLocalPasswords, listWaysIn, type WayIn } from "../../../upstream/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";

/** The logins that a school has elsewhere, at least one, and whether it uses passwords of this service besides. */
export type WaysOfSchool = {
  school: string;
  buttons: readonly Pick<WayIn, "connectionId" | "name">[];
  allowsPasswords: boolean;
};

/** Null for a school without a login of its own. */
export async function findWaysIn({ db, clock }: InteractionDeps, schoolId: SchoolId): Promise<WaysOfSchool | null> {
  const buttons = await listWaysIn(db.pool, schoolId);
  const [first] = buttons;
  if (first === undefined) return null;
  return { school: first.schoolName, buttons, allowsPasswords: allowsLocalPasswords(first, clock()) };
}
