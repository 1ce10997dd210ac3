import { hasWayToSignIn, personNameOf } from "../directory/index.ts";
import type { GroupId, MergerId, PersonId, PersonName, SchoolId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { fields, lockName, makeFind, pick, sql, table, type Queryable } from "../platform/database/sql.ts";
import { giveRole, type Giver } from "./give-role.ts";
import type { StaffRole } from "./role.ts";

export type ClassTeacherProposal = {
  id: PersonId;
  name: PersonName | null;
  classes: { id: GroupId; name: string }[];
  state: "READY" | "NO_LOGIN" | "BLOCKED";
};

type Proposed = Omit<ClassTeacherProposal, "name"> & { [Part in keyof PersonName]: string | null };

const p = table("person", "p");
const m = table("membership", "m");
const g = table("group", "g");
const s = table("school", "s");
const held = table("staffRole", "held");
const heldAt = table("staffRoleSchool", "held_at");

const listProposed = makeFind<Proposed, { schoolId: SchoolId; now: Date }>()`
  SELECT ${fields<Proposed>({
    ...pick(p, "id", "firstFull", "firstCall", "last"),
    classes: sql`json_agg(json_build_object('id', ${g.id}, 'name', ${g.name}) ORDER BY ${g.naturalKey}, ${g.id})`,
    state: sql`CASE WHEN ${p.blockedAt} IS NOT NULL THEN 'BLOCKED' WHEN ${hasWayToSignIn(p)} THEN 'READY'
      ELSE 'NO_LOGIN' END`,
  })}
  FROM ${m}
  JOIN ${g} ON ${g.id} = ${m.groupId} AND ${g.type} = 'KLASSE' AND ${g.status} = 'ACTIVE'
  JOIN ${p} ON ${p.id} = ${m.personId} AND ${p.status} = 'ACTIVE'
  JOIN ${s} ON ${s.id} = ${m.schoolId} AND ${s.sandboxId} IS NULL
  WHERE ${m.schoolId} = ${"schoolId"} AND ${m.role} = 'TEACHER' AND NOT EXISTS (
    SELECT FROM ${held} LEFT JOIN ${heldAt} ON ${heldAt.roleId} = ${held.id} AND ${heldAt.schoolId} = ${"schoolId"}
    WHERE ${held.personId} = ${p.id} AND (${held.endsAt} IS NULL OR ${held.endsAt} > ${"now"})
      AND (${held.role} = 'OPERATOR'
      OR ${heldAt.roleId} IS NOT NULL AND ${held.role} IN ('DISTRICT', 'SCHOOL_ADMIN', 'SECRETARY', 'CLASS_TEACHER')))
  GROUP BY ${p.id} ORDER BY ${p.sortKey}, ${p.id}`;

/** The active teachers of classes of a school who hold no role that manages these classes, by name. */
export async function listProposedTeachers(
  db: Queryable,
  at: { schoolId: SchoolId; now: Date },
): Promise<ClassTeacherProposal[]> {
  return (await listProposed(db, at)).map(({ firstFull, firstCall, last, ...rest }) => ({
    ...rest,
    name: personNameOf({ firstFull, firstCall, last }),
  }));
}

/** Skips people who are not proposed, or not ready. Errors: forbidden role_beyond_own. */
export async function giveClassTeacherRoles(
  tx: Transaction,
  { schoolId, personIds }: { schoolId: SchoolId; personIds: readonly PersonId[] },
  by: { giver: Giver; origin: Origin },
): Promise<StaffRole[]> {
  // Otherwise two admins could give the same role at the same time.
  await lockName(tx, { name: `staff_role.class_teachers ${schoolId}` });
  const proposed = await listProposedTeachers(tx, { schoolId, now: by.origin.at });
  const roles: StaffRole[] = [];
  for (const { id, state } of proposed)
    if (state === "READY" && personIds.includes(id))
      roles.push(await giveRole(tx, { role: "CLASS_TEACHER", holder: { personId: id }, schoolIds: [schoolId] }, by));
  return roles;
}

type Merger = { id: MergerId; from: SchoolId; into: SchoolId };

/** Gives the class teachers of a merged school their roles at the school it was merged into; returns how many. */
export async function mergeClassTeachers({ prisma }: Transaction, { id, from, into }: Merger): Promise<number> {
  const at = (schoolId: SchoolId) => ({ some: { schoolId } });
  const roles = await prisma.staffRole.findMany({
    where: { role: "CLASS_TEACHER", schools: at(from), NOT: { schools: at(into) } },
    select: { id: true },
  });
  await prisma.staffRoleSchool.createMany({ data: roles.map((role) => ({ roleId: role.id, schoolId: into })) });
  await prisma.mergedStaffRole.createMany({ data: roles.map((role) => ({ roleId: role.id, mergerId: id })) });
  return roles.length;
}

export async function separateClassTeachers({ prisma }: Transaction, { id, into }: Merger): Promise<void> {
  const roles = await prisma.mergedStaffRole.findMany({ where: { mergerId: id }, select: { roleId: true } });
  await prisma.staffRoleSchool.deleteMany({
    where: { schoolId: into, roleId: { in: roles.map(({ roleId }) => roleId) } },
  });
}
