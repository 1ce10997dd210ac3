import type { PersonId, SchoolId, Touched } from "../directory/index.ts";
import { appendAppEvents, takeBackAppEvents } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
import { announceFrom, takeAnnounced } from "./announced.ts";
import { makeBulkNotes } from "./bulk-notes.ts";
import type { BulkNotes } from "./bulk-notes.ts";
import { makeSchoolLocks } from "./school-locks.ts";
import { selectDifference } from "./view-difference.ts";
import { selectSights, sightColumns } from "./view.ts";
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
const fewAnnounced = takeAnnounced(few(1));
const announceFew = announceFrom(selectSights(few(2)), "$1");

/** Finds what apps see of a few subjects. */
export async function findSights(tx: Queryable, subjects: readonly Subject[]): Promise<Sight[]> {
  const { rows } = await tx.query<Sight>({ name: "access.findSights", text: fewSights, values: valuesOf(subjects) });
  return rows;
}

/** Tells apps how what they see of a few subjects differs from what they saw; answers the number of events. */
export async function tellDifference(
  tx: Queryable,
  now: Date,
  before: readonly Sight[],
  subjects: readonly Subject[],
): Promise<number> {
  const values = [now, ...valuesOf(subjects), JSON.stringify(before)];
  const { rows } = await tx.query<{ events: number }>({ name: "access.tellDifference", text: tellFew, values });
  return rows[0]!.events;
}

/** Writes down, with a first sign-in, what the app sees of the person now. */
export async function announce(tx: Queryable, now: Date, subjects: readonly Subject[]): Promise<void> {
  await tx.query({ name: "access.announce", text: announceFew, values: [now, ...valuesOf(subjects)] });
}

/**
 * Makes what remembers, for one change, what every app saw before it.
 *
 * Shape: a subject is noted once, at its first touch. The first touch of a whole school turns to tables, which hold
 *        any number of subjects.
 */
export function makeViewNotes(tx: Queryable) {
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
    const fresh = new Map(
      named.map((subject) => [`${subject.type} ${subject.id}`, subject] as const).filter(([key]) => !noted.has(key)),
    );
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

  const settle = async (now: Date): Promise<void> => {
    if (!bulk && noted.size === 0) return;
    // Whoever came to another school brings it with them.
    for (const school of wholeSchools) await locks.holdLinked(school);
    const people = [...noted.values()].filter(({ type }) => type === "person").map(({ id }) => id as PersonId);
    await locks.hold({ people, schools: [], groups: [], membersOf: [] });
    const announced = await findAnnounced();
    if (bulk) await bulk.tell(now, announced);
    else await tellDifference(tx, now, joinSights(announced, before), [...noted.values()]);
    await tellLate(now);
  };

  /** What apps saw of those who signed in for the first time since they were noted; it counts as seen before. */
  const findAnnounced = (): Promise<Sight[]> =>
    bulk ? bulk.takeAnnounced() : findFewAnnounced(tx, [...noted.values()]);

  /** Keeps first sign-ins out only here, so that they never wait for longer than this and the commit. Who came until then is told of anew. */
  const tellLate = async (now: Date): Promise<void> => {
    // Checked now, what is deferred to the commit does not lengthen it.
    await tx.query("SET CONSTRAINTS ALL IMMEDIATE");
    await locks.holdForTelling();
    const late = await findAnnounced();
    if (late.length === 0) return;
    const pairs = late.map(({ type, subject_id: id, client_id: client }) => ({ type, id, client }));
    await takeBackAppEvents(
      tx,
      pairs.map(({ id, client }) => ({ subjectId: id, clientId: client })),
    );
    await tellDifference(tx, now, late, pairs);
  };

  return { touch, touchSchool, settle };
}

/** Both; where both tell of the same, what was noted. */
function joinSights(announced: readonly Sight[], before: readonly Sight[]): Sight[] {
  const keyOf = ({ client_id, type, subject_id }: Sight) => `${type} ${subject_id} ${client_id}`;
  const keys = new Set(before.map(keyOf));
  return [...before, ...announced.filter((sight) => !keys.has(keyOf(sight)))];
}

async function findFewAnnounced(tx: Queryable, subjects: readonly Subject[]): Promise<Sight[]> {
  if (!subjects.some(({ type }) => type === "person")) return [];
  const { rows } = await tx.query<Sight>({
    name: "access.takeAnnounced",
    text: fewAnnounced,
    values: valuesOf(subjects),
  });
  return rows;
}

async function findMembers(tx: Queryable, groups: readonly string[]): Promise<PersonId[]> {
  const text = "SELECT DISTINCT person_id FROM membership WHERE group_id = ANY ($1)";
  const { rows } = await tx.query<{ person_id: PersonId }>({ name: "access.findMembers", text, values: [groups] });
  return rows.map(({ person_id }) => person_id);
}
