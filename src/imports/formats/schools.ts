import type { SchoolId } from "../../directory/index.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { foldText } from "../../platform/text/likeness.ts";

export type Schools = Awaited<ReturnType<typeof loadSchools>>;

type Named = { texts: readonly string[]; numbers?: readonly string[] };
/** A school of this service, or the name of an unknown one in the file. */
export type OtherSchool = { id: SchoolId } | { name: string };

export const schoolFaults = {
  other_school: "This is another school than the import is for.",
  unknown_school: "No school of the directory has this official id.",
};

/** Leaves out sandboxes. Errors: `find` throws forbidden school_out_of_reach for a school outside `among`. */
export async function loadSchools({ prisma }: RecordStore, only: SchoolId | undefined, among?: ReadonlySet<SchoolId>) {
  const rows = await prisma.school.findMany({
    where: { sandboxId: null },
    select: { id: true, name: true, officialId: true },
  });
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
  const own = rows.find(({ id }) => id === only);
  let other: OtherSchool | undefined;
  let noted = "";
  return {
    find,
    only,
    noteNames(named: Named): void {
      const key = JSON.stringify(named);
      if (own === undefined || other !== undefined || key === noted) return;
      noted = key;
      other = findOther(rows, own, named);
    },
    /** The other school than that of the import that the file names. */
    get other() {
      return other;
    },
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

type Row = { id: string; name: string; officialId: string };

/** A number of at least five digits, which schools of the same authority have in the same form. */
const formOf = (number: string): string | undefined =>
  number.replace(/\D/g, "").length >= shortestNumber ? number.toUpperCase().replace(/\d/g, "9") : undefined;
const tailOf = (officialId: string): string => officialId.replace(/^\D+/, "");

/**
 * The school that one of the texts names or numbers, if none of them does so for the school `own`; of several the one
 * with the longest name, which the others may be a part of. A number in the form of the own one is another school's,
 * even if it is not known here.
 */
function findOther(rows: readonly Row[], own: Row, { texts, numbers = [] }: Named): OtherSchool | undefined {
  if (numbers.includes(own.officialId) || numbers.includes(own.id)) return undefined;
  const all = [...texts, ...numbers].map(spaced).join("");
  const isNamed = ({ name, officialId }: Row) =>
    [
      [name, shortestName] as const,
      [officialId, shortestNumber] as const,
      [tailOf(officialId), shortestNumber] as const,
    ].some(([text, shortest]) => spaced(text).trim().length >= shortest && all.includes(spaced(text)));
  const named = rows.filter(isNamed).toSorted((a, b) => b.name.length - a.name.length);
  if (named.some(({ id }) => id === own.id)) return undefined;
  if (named[0] !== undefined) return { id: named[0].id as SchoolId };
  const forms = [own.officialId, tailOf(own.officialId)].map(formOf).filter((form) => form !== undefined);
  const other = numbers.find((number) => forms.includes(formOf(number) ?? ""));
  return other === undefined ? undefined : { name: texts.find((text) => text.trim() !== "") ?? other };
}
