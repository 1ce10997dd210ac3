import type { RecordStore } from "../platform/database/db.ts";
import type { PersonId } from "./ids.ts";

const highestGrade = 13;
const prefix = String.raw`(?:(?:klassenstufe|klasse|kl|jahrgangsstufe|jahrgang|jgst|jg|stufe|year|grade)[.:\s-]*)?`;
const lower = new RegExp(String.raw`^${prefix}(?:[a-z](?=\d))?0?(\d{1,2})(?!\d)(?:\s*[/-]\s*0?(\d{1,2})(?!\d))?`, "i");
const upper = new RegExp(String.raw`^${prefix}(?:(ef|e)[-\s]?[12]?|(q)[-\s]?([1-4]))(?![a-z\d]{2})`, "i");

/** The grade (1 to 13) in the name of a class, the higher one of "3/4"; E phase is 11, Q1 and Q2 12, Q3 and Q4 13. */
export function gradeOfName(name: string): number | null {
  const trimmed = name.normalize("NFKC").trim();
  const phase = upper.exec(trimmed);
  if (phase !== null) return phase[1] === undefined ? (Number(phase[3]) > 2 ? 13 : 12) : 11;
  const found = lower.exec(trimmed);
  if (found === null) return null;
  const [first, second] = [Number(found[1]), found[2] === undefined ? null : Number(found[2])];
  // "3/4" is a class of two grades; "5/2" is the second class of grade 5.
  const grade = second === first + 1 ? second : first;
  return grade >= 1 && grade <= highestGrade ? grade : null;
}

export function gradeOfNames(names: readonly string[]): number | null {
  const grades = names.map(gradeOfName).filter((grade) => grade !== null);
  return grades.length === 0 ? null : Math.max(...grades);
}

export async function findGrades(
  { prisma }: RecordStore,
  personIds: readonly PersonId[],
): Promise<ReadonlyMap<PersonId, number | null>> {
  const rows = await prisma.membership.findMany({
    where: { personId: { in: [...personIds] }, group: { type: "KLASSE", status: "ACTIVE" } },
    select: { personId: true, group: { select: { name: true } } },
  });
  const names = Map.groupBy(rows, ({ personId }) => personId);
  return new Map(
    personIds.map((personId) => [personId, gradeOfNames((names.get(personId) ?? []).map(({ group }) => group.name))]),
  );
}
