import { recordAudit } from "../events/index.ts";
import type { Origin } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/ids.ts";
import type { GroupId, PersonId, SchoolId } from "./ids.ts";
import type { PersonRole } from "./person.ts";

/** Makes the person one of the school. */
export async function addAffiliation(
  tx: Queryable,
  { personId, schoolId }: { personId: PersonId; schoolId: SchoolId },
  origin: Origin,
): Promise<void> {
  await tx.query("INSERT INTO affiliation (id, person_id, school_id) VALUES ($1, $2, $3)", [makeUuid(origin.at), personId, schoolId]);
  await recordAudit(tx, { ...origin, action: "affiliation_added", personId, schoolId });
}

export type NewMembership = {
  groupId: GroupId;
  personId: PersonId;
  /** The person's own role unless the group gives them another. */
  role?: PersonRole | undefined;
};

const insertMembership = `
  INSERT INTO membership (group_id, person_id, school_id, role)
  SELECT g.id, p.id, g.school_id, coalesce($3::person_role, p.role)
  FROM "group" g JOIN affiliation a ON a.school_id = g.school_id JOIN person p ON p.id = a.person_id
  WHERE g.id = $1 AND p.id = $2
  RETURNING school_id`;

/** Puts the person into the group; only who is at the group's school can be in it. */
export async function addMembership(tx: Queryable, membership: NewMembership, origin: Origin): Promise<void> {
  const { groupId, personId, role } = membership;
  const { rows } = await tx.query<{ school_id: SchoolId }>(insertMembership, [groupId, personId, role]);
  const added = rows[0];
  if (!added) throw new AppError("invalid", "person_not_at_school", "The person is not at the group's school.");
  await recordAudit(tx, { ...origin, action: "membership_added", personId, schoolId: added.school_id, detail: { groupId } });
}

export async function removeMembership(
  tx: Queryable,
  { groupId, personId }: { groupId: GroupId; personId: PersonId },
  origin: Origin,
): Promise<void> {
  const { rows } = await tx.query<{ school_id: SchoolId }>(
    "DELETE FROM membership WHERE group_id = $1 AND person_id = $2 RETURNING school_id",
    [groupId, personId],
  );
  const removed = rows[0];
  if (!removed) throw new AppError("not_found", "membership_not_found", "The person is not in the group.");
  await recordAudit(tx, { ...origin, action: "membership_removed", personId, schoolId: removed.school_id, detail: { groupId } });
}
