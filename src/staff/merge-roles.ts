import type { MergerId, SchoolId } from "../directory/index.ts";
import type { Transaction } from "../platform/database/db.ts";

type Merger = { id: MergerId; from: SchoolId; into: SchoolId };

/** Holds the roles of class teachers of a school for the one that it was merged into too; returns how many. */
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
