import { recordAudit } from "../events/index.ts";
import { AppError } from "../platform/errors.ts";
import { originOf, type Change } from "./change.ts";
import { lockGroup } from "./group.ts";
import type { GroupId, PersonId } from "./ids.ts";
import { lockPerson, type PersonRole } from "./person.ts";
import { write } from "./refusals.ts";

type InGroup = { groupId: GroupId; personId: PersonId };

export type NewMembership = InGroup & {
  /** The person's own role unless the group gives them another. */
  role?: PersonRole | undefined;
};

const insertMembership = `
  INSERT INTO membership (group_id, person_id, school_id, role)
  SELECT $1, a.person_id, a.school_id, $4::person_role FROM affiliation a WHERE a.person_id = $2 AND a.school_id = $3
  RETURNING person_id`;

/** Puts the person into the group; only who is at the group's school can be in it. */
export async function addMembership(change: Change, { groupId, personId, role }: NewMembership): Promise<void> {
  await change.touch({ people: [personId], groups: [groupId] });
  const person = await lockPerson(change.tx, personId, "change");
  const { schoolId } = await lockGroup(change.tx, groupId, "change");
  const added = await write(change.tx, insertMembership, [groupId, personId, schoolId, role ?? person.role]);
  if (added.length === 0)
    throw new AppError("conflict", "person_not_at_school", "The person is not at the group's school.");
  await recordAudit(change.tx, {
    ...originOf(change),
    action: "membership_added",
    personId,
    schoolId,
    detail: { groupId },
  });
}

export async function removeMembership(change: Change, { groupId, personId }: InGroup): Promise<void> {
  await change.touch({ people: [personId], groups: [groupId] });
  await lockPerson(change.tx, personId, "change");
  const { schoolId } = await lockGroup(change.tx, groupId, "change");
  const { rowCount } = await change.tx.query("DELETE FROM membership WHERE group_id = $1 AND person_id = $2", [
    groupId,
    personId,
  ]);
  if (rowCount === 0) throw notInGroup();
  await recordAudit(change.tx, {
    ...originOf(change),
    action: "membership_removed",
    personId,
    schoolId,
    detail: { groupId },
  });
}

/** Makes the member something else in the group, where a teacher may learn. False: it was so already, nothing was written. */
export async function setMembershipRole(
  change: Change,
  { groupId, personId, role }: InGroup & { role: PersonRole },
): Promise<boolean> {
  await change.touch({ people: [personId], groups: [groupId] });
  await lockPerson(change.tx, personId, "change");
  const { schoolId } = await lockGroup(change.tx, groupId, "change");
  const { rows } = await change.tx.query<{ role: PersonRole }>(
    "SELECT role::text FROM membership WHERE group_id = $1 AND person_id = $2",
    [groupId, personId],
  );
  if (rows[0] === undefined) throw notInGroup();
  if (rows[0].role === role) return false;
  await change.tx.query("UPDATE membership SET role = $3 WHERE group_id = $1 AND person_id = $2", [
    groupId,
    personId,
    role,
  ]);
  await recordAudit(change.tx, {
    ...originOf(change),
    action: "membership_role_changed",
    personId,
    schoolId,
    detail: { groupId, role },
  });
  return true;
}

const notInGroup = () => new AppError("not_found", "membership_not_found", "The person is not in the group.");
