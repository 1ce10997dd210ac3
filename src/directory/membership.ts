import { AppError } from "../platform/errors.ts";
import { auditChange, write, type Change } from "./change.ts";
import { lockGroup } from "./group.ts";
import type { GroupId, PersonId } from "./ids.ts";
import { lockPerson, type PersonRole } from "./person.ts";

type InGroup = { groupId: GroupId; personId: PersonId };

export type NewMembership = InGroup & { role?: PersonRole | undefined };

/** Errors: conflict person_wrong_status, group_wrong_status, person_not_at_school, membership_exists. */
export async function addMembership(change: Change, { groupId, personId, role }: NewMembership): Promise<void> {
  const { person, schoolId } = await lockBoth(change, { groupId, personId });
  const data = { groupId, personId, schoolId, role: role ?? person.before.role };
  await write(change.tx.prisma.membership.create({ data }));
  await auditChange(change, { action: "membership_added", personId, schoolId, detail: { groupId } });
}

export async function removeMembership(change: Change, { groupId, personId }: InGroup): Promise<void> {
  const { schoolId } = await lockBoth(change, { groupId, personId });
  const { count } = await change.tx.prisma.membership.deleteMany({ where: { groupId, personId } });
  if (count === 0) throw notInGroup();
  await auditChange(change, { action: "membership_removed", personId, schoolId, detail: { groupId } });
}

/** Returns false, and writes nothing, if the member has this role. Errors: as `removeMembership`. */
export async function setMembershipRole(change: Change, { groupId, personId, role }: InGroup & { role: PersonRole }) {
  const { schoolId } = await lockBoth(change, { groupId, personId });
  const { membership } = change.tx.prisma;
  const where = { groupId_personId: { groupId, personId } };
  const before = await membership.findUnique({ where, select: { role: true } });
  if (before === null) throw notInGroup();
  if (before.role === role) return false;
  await membership.update({ where, data: { role } });
  await auditChange(change, { action: "membership_role_changed", personId, schoolId, detail: { groupId, role } });
  return true;
}

async function lockBoth(change: Change, { groupId, personId }: InGroup) {
  await change.touch({ people: [personId], groups: [groupId] });
  const person = await lockPerson(change.tx, personId, "change");
  const { schoolId } = await lockGroup(change.tx, groupId, "change");
  return { person, schoolId };
}

const notInGroup = () => new AppError("not_found", "membership_not_found", "The person is not in the group.");
