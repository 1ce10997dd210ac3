import type { RecordStore } from "../platform/database/db.ts";
import type { GroupId } from "./ids.ts";
import type { GroupStatus } from "./transitions.ts";

export type NamedGroup = { id: GroupId; status: GroupStatus; school: { name: string; officialId: string } };

const mostNamedGroups = 20;

export async function listGroupsCalled({ prisma }: RecordStore, { name }: { name: string }): Promise<NamedGroup[]> {
  const groups = await prisma.group.findMany({
    where: { name: name.normalize("NFC") },
    select: { id: true, status: true, school: { select: { name: true, officialId: true } } },
    orderBy: [{ school: { sortKey: "asc" } }, { id: "asc" }],
    take: mostNamedGroups,
  });
  return groups.map(({ id, ...group }) => ({ id: id as GroupId, ...group }));
}
