import type { SchoolId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";

export type Schools = {
  find(...names: readonly string[]): SchoolId | undefined;
  readonly only: SchoolId | undefined;
};

/** Leaves out sandboxes. Errors: `find` throws forbidden school_out_of_reach for a school outside `among`. */
export async function loadSchools(
  { prisma }: RecordStore,
  only: SchoolId | undefined,
  among?: ReadonlySet<SchoolId>,
): Promise<Schools> {
  const rows = await prisma.school.findMany({ where: { sandboxId: null }, select: { id: true, officialId: true } });
  const byName = new Map(rows.map(({ id, officialId }) => [officialId, id as SchoolId]));
  for (const { id } of rows) byName.set(id, id as SchoolId);
  return {
    find(...names) {
      for (const name of names) {
        const school = byName.get(name);
        if (school === undefined) continue;
        if (among !== undefined && !among.has(school)) throw outOfReach();
        return school;
      }
      return undefined;
    },
    only,
  };
}

const outOfReach = () =>
  new AppError("forbidden", "school_out_of_reach", "The roster names a school that none of your roles is for.");
