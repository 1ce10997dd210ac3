import type { SchoolId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { foldText } from "../platform/text/fold-text.ts";

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

const shortestName = 8;
const shortestNumber = 5;

/** Words between single spaces, with a space at both ends. */
const spaced = (text: string): string =>
  ` ${foldText(text)
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()} `;

/**
 * The school that one of the texts names or numbers, if none of them does so for the school `own`; of several the one
 * with the longest name, which the others may be a part of.
 */
export async function findOtherSchool(
  { prisma }: RecordStore,
  own: SchoolId,
  texts: readonly string[],
): Promise<SchoolId | undefined> {
  const all = texts.map(spaced).join("");
  const rows = await prisma.school.findMany({
    where: { sandboxId: null },
    select: { id: true, name: true, officialId: true },
  });
  const isNamed = ({ name, officialId }: (typeof rows)[number]) =>
    [
      [name, shortestName] as const,
      [officialId, shortestNumber] as const,
      [officialId.replace(/^\D+/, ""), shortestNumber] as const,
    ].some(([text, shortest]) => spaced(text).trim().length >= shortest && all.includes(spaced(text)));
  const named = rows.filter(isNamed).toSorted((a, b) => b.name.length - a.name.length);
  return named.some(({ id }) => id === own) ? undefined : (named[0]?.id as SchoolId | undefined);
}
