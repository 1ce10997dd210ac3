import type { ClientId } from "../access/index.ts";
import type { GroupId, PersonId, SchoolId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { targetOf, type StaffRole } from "./role.ts";

/** `all` for operators; at the schools of `teacherOf` only the groups that this person teaches, and none for an app. */
export type Reach = {
  all: boolean;
  schoolIds: ReadonlySet<SchoolId>;
  clientIds: ReadonlySet<ClientId>;
  teacherOf: { personId: PersonId | null; schoolIds: ReadonlySet<SchoolId> };
};

export const everything: Reach = {
  all: true,
  schoolIds: new Set(),
  clientIds: new Set(),
  teacherOf: { personId: null, schoolIds: new Set() },
};

export function joinReach(roles: readonly StaffRole[]): Reach {
  const isTeacher = ({ role }: StaffRole) => role === "CLASS_TEACHER";
  const teaching = roles.filter(isTeacher);
  const whole = new Set(roles.filter((role) => !isTeacher(role)).flatMap(({ schoolIds }) => schoolIds));
  const [holder] = teaching.map((role) => role.holder);
  return {
    all: roles.some(({ role }) => targetOf(role) === "service"),
    schoolIds: new Set(roles.flatMap(({ schoolIds }) => schoolIds)),
    clientIds: new Set(roles.flatMap(({ clientIds }) => clientIds)),
    teacherOf: {
      personId: holder !== undefined && "personId" in holder ? holder.personId : null,
      schoolIds: new Set(teaching.flatMap(({ schoolIds }) => schoolIds).filter((id) => !whole.has(id))),
    },
  };
}

type GroupsInReach = { all: true } | { all: false; taughtBy: PersonId | null };

export function groupsInReach(reach: Reach, schoolId: SchoolId): GroupsInReach {
  if (reach.all || (reach.schoolIds.has(schoolId) && !reach.teacherOf.schoolIds.has(schoolId))) return { all: true };
  return { all: false, taughtBy: reach.schoolIds.has(schoolId) ? reach.teacherOf.personId : null };
}

export async function isGroupReached(
  { prisma }: RecordStore,
  reach: Reach,
  { id, schoolId }: { id: GroupId; schoolId: SchoolId },
): Promise<boolean> {
  const groups = groupsInReach(reach, schoolId);
  if (groups.all) return true;
  if (groups.taughtBy === null) return false;
  return (await prisma.membership.count({ where: { groupId: id, personId: groups.taughtBy, role: "TEACHER" } })) === 1;
}

/** Any of `schools` is enough; of `everySchool` all are needed. Without schools and app only an operator reaches it. */
export function isReached(
  { all, schoolIds, clientIds }: Reach,
  subject: { schools?: readonly SchoolId[]; everySchool?: readonly SchoolId[]; clientId?: ClientId },
): boolean {
  const { schools = [], everySchool = [], clientId } = subject;
  if (all) return true;
  if (clientId !== undefined && clientIds.has(clientId)) return true;
  if (schools.some((id) => schoolIds.has(id))) return true;
  return everySchool.length > 0 && everySchool.every((id) => schoolIds.has(id));
}
