import type { PersonId, SchoolId, Touched } from "../directory/index.ts";
import { appendAppEvents } from "../events/index.ts";
import { withTransaction, type Db, type Queryable } from "../platform/db.ts";
import { makeBulkNotes } from "./bulk-notes.ts";
import type { BulkNotes } from "./bulk-notes.ts";
import { makeSchoolLocks } from "./school-locks.ts";
import { selectDifference } from "./view-difference.ts";
import { selectMet, selectSights, sightColumns } from "./view.ts";
import type { Sight } from "./view.ts";

/** A piece of what apps see; an empty `client` stands for every app. */
export type Subject = { type: Sight["type"]; id: string; client: string };

// Few subjects travel as parameters, so that a small change makes no table.
const few = (first: number) => `unnest($${first}::text[], $${first + 1}::uuid[], $${first + 2}::text[])`;
const valuesOf = (subjects: readonly Subject[]): string[][] => [
  subjects.map(({ type }) => type),
  subjects.map(({ id }) => id),
  subjects.map(({ client }) => client),
];

export const fewSights = selectSights(few(1));
export const fewDifference = selectDifference(
  `(SELECT * FROM jsonb_to_recordset($5::jsonb) AS noted (${sightColumns}))`,
  `(${selectSights(few(2))})`,
);
const tellFew = appendAppEvents(fewDifference);
const notedSights = `SELECT * FROM jsonb_to_recordset($4::jsonb) AS noted (${sightColumns})`;
const fewMet = selectMet(`(SELECT * FROM ${few(1)} AS named (type, id, client_id))`, `(${notedSights})`);

/** Finds what apps see of a few subjects. */
export async function findSights(tx: Queryable, subjects: readonly Subject[]): Promise<Sight[]> {
  const { rows } = await tx.query<Sight>({ name: "access.findSights", text: fewSights, values: valuesOf(subjects) });
  return rows;
}

/** Tells apps how what they see of a few subjects differs from what they saw; answers the number of events. */
export async function tellDifference(tx: Queryable, now: Date, before: readonly Sight[], subjects: readonly Subject[]): Promise<number> {
  const values = [now, ...valuesOf(subjects), JSON.stringify(before)];
  const { rows } = await tx.query<{ events: number }>({ name: "access.tellDifference", text: tellFew, values });
  return rows[0]!.events;
}

/**
 * Makes what remembers, for one change, what every app saw before it.
 *
 * Shape: a subject is noted once, at its first touch. The first touch of a whole school turns to tables, which hold
 *        any number of subjects. `db` is where others see what the change found, and what came since.
 */
export function makeViewNotes(tx: Queryable, db: Pick<Db, "pool">) {
  const locks = makeSchoolLocks(tx);
  const noted = new Map<string, Subject>();
  const before: Sight[] = [];
  const wholeSchools = new Set<SchoolId>();
  let bulk: BulkNotes | null = null;

  const touch = async ({ people = [], groups = [], schools = [], membersOf = [] }: Touched): Promise<void> => {
    await locks.hold({ schools, people, groups: [...groups, ...membersOf], membersOf });
    const members = membersOf.length > 0 ? await findMembers(tx, membersOf) : [];
    const named: Subject[] = [
      ...[...people, ...members].map((id) => ({ type: "person" as const, id, client: "" })),
      ...[...groups, ...membersOf].map((id) => ({ type: "group" as const, id, client: "" })),
      ...schools.map((id) => ({ type: "school" as const, id, client: "" })),
    ];
    const fresh = new Map(named.map((subject) => [`${subject.type} ${subject.id}`, subject] as const).filter(([key]) => !noted.has(key)));
    if (fresh.size === 0) return;
    for (const [key, subject] of fresh) noted.set(key, subject);
    if (bulk) await bulk.note(few(1), valuesOf([...fresh.values()]));
    else before.push(...(await findSights(tx, [...fresh.values()])));
  };

  const touchSchool = async (schoolId: SchoolId, clientId = ""): Promise<void> => {
    await locks.holdLinked(schoolId);
    wholeSchools.add(schoolId);
    bulk ??= await makeBulkNotes(tx, before, { from: few(1), values: valuesOf([...noted.values()]) });
    await bulk.noteSchool(schoolId, clientId);
  };

  const settle = async (now: Date): Promise<number> => {
    if (!bulk && noted.size === 0) return 0;
    // Whoever came to another school brings it with them.
    for (const school of wholeSchools) await locks.holdLinked(school);
    const people = [...noted.values()].filter(({ type }) => type === "person").map(({ id }) => id as PersonId);
    await locks.hold({ people, schools: [], groups: [], membersOf: [] });
    await locks.holdForTelling();
    await noteMet();
    return bulk ? bulk.tell(now) : tellDifference(tx, now, before, [...noted.values()]);
  };

  /** Apps were told of those who signed in for the first time since they were noted: they count as seen before. */
  const noteMet = async (): Promise<void> => {
    const met = bulk ? await bulk.findMet() : await findMet(tx, before, [...noted.values()]);
    if (met.length === 0) return;
    const sights = await withTransaction(db, (other) => findSights(other, met));
    if (bulk) await bulk.noteMet(sights);
    else {
      const seen = new Set(before.map(keyOf));
      before.push(...sights.filter((sight) => !seen.has(keyOf(sight))));
    }
  };

  return { touch, touchSchool, settle };
}

const keyOf = ({ client_id, type, subject_id }: Sight): string => `${type} ${subject_id} ${client_id}`;

async function findMet(tx: Queryable, before: readonly Sight[], subjects: readonly Subject[]): Promise<Subject[]> {
  if (!subjects.some(({ type }) => type === "person")) return [];
  const { rows } = await tx.query<Subject>({ name: "access.findMet", text: fewMet, values: [...valuesOf(subjects), JSON.stringify(before)] });
  return rows;
}

async function findMembers(tx: Queryable, groups: readonly string[]): Promise<PersonId[]> {
  const text = "SELECT DISTINCT person_id FROM membership WHERE group_id = ANY ($1)";
  const { rows } = await tx.query<{ person_id: PersonId }>({ name: "access.findMembers", text, values: [groups] });
  return rows.map(({ person_id }) => person_id);
}
