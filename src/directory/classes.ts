import type { RecordStore } from "../platform/database/db.ts";
import type { PersonId, SchoolId } from "./ids.ts";

const highestGrade = 13;
const prefix = String.raw`(?:(?:klassenstufe|klasse|kl|jahrgangsstufe|jahrgang|jgst|jg|stufe|year|grade)[.:\s-]*)?`;
const lower = new RegExp(String.raw`^${prefix}(?:[a-z](?=\d))?0?(\d{1,2})(?!\d)(?:\s*[/-]\s*0?(\d{1,2})(?!\d))?`, "i");
const upper = new RegExp(String.raw`^${prefix}(?:(ef|e)[-\s]?[12]?|(q)[-\s]?([1-4]))(?![a-z\d]{2})`, "i");

/** The grade (1 to 13) in the name of a class, the higher one of "3/4"; E phase is 11, Q1 and Q2 12, Q3 and Q4 13. */
export function gradeOfName(name: string): number | null {
  const trimmed = name.normalize("NFKC").trim();
  const phase = upper.exec(trimmed);
  if (phase !== null) return phase[1] === undefined ? (Number(phase[3]) > 2 ? 13 : 12) : 11;
  const match = lower.exec(trimmed);
  if (match === null) return null;
  const [first, second] = [Number(match[1]), match[2] === undefined ? null : Number(match[2])];
  // "3/4" is a class of two grades; "5/2" is the second class of grade 5.
  const grade = second === first + 1 ? second : first;
  return grade >= 1 && grade <= highestGrade ? grade : null;
}

export function gradeOfNames(names: readonly string[]): number | null {
  const grades = names.map(gradeOfName).filter((grade) => grade !== null);
  return grades.length === 0 ? null : Math.max(...grades);
}

export const activeClass = { type: "KLASSE", status: "ACTIVE" } as const;

export async function findGrades(
  { prisma }: RecordStore,
  personIds: readonly PersonId[],
): Promise<ReadonlyMap<PersonId, number | null>> {
  const rows = await prisma.membership.findMany({
    where: { personId: { in: [...personIds] }, group: activeClass },
    select: { personId: true, group: { select: { name: true } } },
  });
  const names = Map.groupBy(rows, ({ personId }) => personId);
  return new Map(
    personIds.map((personId) => [personId, gradeOfNames((names.get(personId) ?? []).map(({ group }) => group.name))]),
  );
}

const mostNamed = 10;

/** What the audit log keeps of an act on many people: how many, and their groups or classes if these are few. */
export async function describeAct(
  { prisma }: RecordStore,
  { schoolId, people, groupIds: named }: Act,
): Promise<{ count: number; groupIds?: readonly string[] }> {
  const groupIds = named ?? (await listClasses(prisma, { schoolId, people }));
  return { count: people.length, ...(groupIds.length > 0 && groupIds.length <= mostNamed && { groupIds }) };
}

type Act = { schoolId: SchoolId; people: readonly PersonId[]; groupIds?: readonly string[] | null | undefined };

async function listClasses(prisma: RecordStore["prisma"], { schoolId, people }: Act): Promise<string[]> {
  const classes = await prisma.group.findMany({
    where: { schoolId, ...activeClass, memberships: { some: { personId: { in: [...people] } } } },
    select: { id: true },
    orderBy: { naturalKey: "asc" },
    take: mostNamed + 1,
  });
  return classes.map(({ id }) => id);
}
