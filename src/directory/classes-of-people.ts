import type { RecordStore } from "../platform/database/db.ts";
import type { GroupId, PersonId, SchoolId } from "./ids.ts";

const mostNamed = 10;

/** What the audit log keeps of an act on many people: how many, and their groups, unless these are too many to name. */
export type ActOnPeople = { count: number; groupIds?: readonly string[] };

/** Describes an act on people of a school. Without the groups that were asked for, their classes are meant. */
export async function describeAct(
  { prisma }: Pick<RecordStore, "prisma">,
  {
    schoolId,
    people,
    groupIds: asked,
  }: { schoolId: SchoolId; people: readonly PersonId[]; groupIds?: readonly string[] | null | undefined },
): Promise<ActOnPeople> {
  const groupIds = asked ?? (await listClasses(prisma, { schoolId, people }));
  return { count: people.length, ...(groupIds.length > 0 && groupIds.length <= mostNamed && { groupIds }) };
}

async function listClasses(
  prisma: RecordStore["prisma"],
  { schoolId, people }: { schoolId: SchoolId; people: readonly PersonId[] },
): Promise<GroupId[]> {
  const found = await prisma.group.findMany({
    where: { schoolId, type: "KLASSE", status: "ACTIVE", memberships: { some: { personId: { in: [...people] } } } },
    select: { id: true },
    orderBy: { naturalKey: "asc" },
    take: mostNamed + 1,
  });
  return found.map(({ id }) => id as GroupId);
}
