import { createPerson, originOf, type Change, type PersonId, type PersonName } from "../directory/index.ts";
import { giveRole, type NewRole, type StaffRole } from "../staff/index.ts";
import { hashPassword, makePassword } from "./login/index.ts";
import { setLoginIn } from "./person-sign-in.ts";

/** `name` is null for an account that is nobody's own. */
type NewStaffPerson = { name: PersonName | null; username: string; role: Omit<NewRole, "holder"> };

export async function makeStaffPassword(): Promise<{ password: string; passwordHash: string }> {
  const password = makePassword("LETTERS");
  return { password, passwordHash: await hashPassword(password) };
}

/** Creates a member of staff at no school, with a role and a login whose password they replace at first sign-in. */
export async function createStaffPerson(
  change: Change,
  { name, username, passwordHash, role }: NewStaffPerson & { passwordHash: string },
  by: { giver: readonly StaffRole[] | null; supportRoleDays: number },
): Promise<PersonId> {
  const origin = originOf(change);
  const personId = await createPerson(change, { schools: [], role: "OTHER", name });
  await setLoginIn(change.tx, { personId, username, passwordHash, mustChange: true }, origin);
  await giveRole(change.tx, { ...role, holder: { personId } }, { ...by, origin });
  return personId;
}
