import type { SchoolId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";

export type Schools = Awaited<ReturnType<typeof loadSchools>>;

export const schoolFaults = {
  other_school: "This is another school than the import is for.",
  unknown_school: "No school of the directory has this official id.",
};

/** Leaves out sandboxes. Errors: `find` throws forbidden school_out_of_reach for a school outside `among`. */
export async function loadSchools({ prisma }: RecordStore, only: SchoolId | undefined, among?: ReadonlySet<SchoolId>) {
  const rows = await prisma.school.findMany({ where: { sandboxId: null }, select: { id: true, officialId: true } });
  const byName = new Map(rows.map(({ id, officialId }) => [officialId, id as SchoolId]));
  for (const { id } of rows) byName.set(id, id as SchoolId);
  const find = (...names: readonly string[]): SchoolId | undefined => {
    const school = names.map((name) => byName.get(name)).find((id) => id !== undefined);
    if (school !== undefined && among?.has(school) === false)
      throw new AppError(
        "forbidden",
        "school_out_of_reach",
        "The roster names a school that none of your roles is for.",
      );
    return school;
  };
  return {
    find,
    only,
    /** The named school, or the only one of the import; a fault's code if that is another or unknown one. */
    choose(...names: readonly string[]): { id: SchoolId } | { id: undefined; fault: keyof typeof schoolFaults } {
      const named = find(...names);
      if (named !== undefined && only !== undefined && named !== only) return { id: undefined, fault: "other_school" };
      const id = named ?? only;
      return id === undefined ? { id, fault: "unknown_school" } : { id };
    },
  };
}
