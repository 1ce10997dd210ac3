import type { PrismaDb } from "../platform/database/db.ts";
import type { GroupId, PersonId, SchoolId } from "./ids.ts";
import { nameOf, type PersonName, type PersonRole } from "./person.ts";
import type { GroupStatus, PersonStatus } from "./transitions.ts";

type Records = Pick<PrismaDb, "prisma">;

export async function findSchoolId({ prisma }: Records, officialId: string): Promise<SchoolId | null> {
  const school = await prisma.school.findUnique({ where: { officialId }, select: { id: true } });
  return school === null ? null : (school.id as SchoolId);
}

export type NamedGroup = { id: GroupId; status: GroupStatus; school: { name: string; officialId: string } };

const mostNamedGroups = 20;

/** Groups of this exact name, deleted ones included; at most twenty. */
export async function listGroupsCalled({ prisma }: Records, { name }: { name: string }): Promise<NamedGroup[]> {
  const groups = await prisma.group.findMany({
    where: { name: name.normalize("NFC") },
    select: { id: true, status: true, school: { select: { name: true, officialId: true } } },
    orderBy: [{ school: { sortKey: "asc" } }, { id: "asc" }],
    take: mostNamedGroups,
  });
  return groups.map(({ id, ...group }) => ({ id: id as GroupId, ...group }));
}

export type FoundPerson = {
  id: PersonId;
  role: PersonRole;
  status: PersonStatus;
  name: PersonName | null;
  homeSchool: { id: SchoolId; name: string; officialId: string } | null;
};

export async function findPeople(
  { prisma }: Records,
  { search, limit, after }: { search: string; limit: number; after?: string | undefined },
): Promise<FoundPerson[]> {
  const words = search.normalize("NFC").trim().split(/\s+/);
  const holds = (contains: string) => ({ contains, mode: "insensitive" as const });
  const people = await prisma.person.findMany({
    where: {
      AND: words.map((word) => ({
        OR: [{ firstFull: holds(word) }, { last: holds(word) }, { sourceSystemIdentifier: holds(word) }],
      })),
    },
    select: {
      id: true,
      role: true,
      status: true,
      firstFull: true,
      firstCall: true,
      last: true,
      homeSchool: { select: { id: true, name: true, officialId: true } },
    },
    orderBy: [{ sortKey: "asc" }, { id: "asc" }],
    take: limit,
    ...(after !== undefined && { cursor: { id: after }, skip: 1 }),
  });
  return people.map(({ id, role, status, homeSchool, ...name }) => ({
    id: id as PersonId,
    role,
    status,
    name: nameOf(name),
    homeSchool: homeSchool && { ...homeSchool, id: homeSchool.id as SchoolId },
  }));
}
