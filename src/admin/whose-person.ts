import { findPerson, type Person, type PersonId, type SchoolId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import type { OpenApiDocument } from "../platform/http/index.ts";
import { groupsInReach, isGroupReached, type Reach } from "../staff/index.ts";

/** Whether the caller must reach the person's home school, or any of their schools. */
export type PersonNeed = "home" | "member";

export type PersonReach = Reach & { personNeed: PersonNeed };

/** Reads `x-person` of every operation; the default is `home`. */
export function readPersonNeeds({ paths }: OpenApiDocument): (operationId: string) => PersonNeed {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const open = new Set(operations.filter((one) => one["x-person"] === "member").map((one) => one.operationId));
  return (operationId) => (open.has(operationId) ? "member" : "home");
}

/** The schools that a caller reaches with all their groups. */
export const keepingSchools = (reach: Reach): SchoolId[] =>
  [...reach.schoolIds].filter((id) => groupsInReach(reach, id).all);

/** Whether the caller reaches the home school of a record. A person without a home is at no school. */
export const keepsRecord = (reach: Reach, homeSchoolId: SchoolId | null): boolean =>
  homeSchoolId === null ? reach.all : groupsInReach(reach, homeSchoolId).all;

export const personUnknown = () => new AppError("not_found", "person_not_found", "The person does not exist.");
const homeSchoolOnly = () =>
  new AppError(
    "forbidden",
    "home_school_only",
    "The person's home school keeps this. Ask it to do it, or to make your school their home.",
  );

/** A class teacher reaches the students of their groups. */
async function isReachedAt(db: RecordStore, reach: Reach, { role, groups }: Person, schools: readonly SchoolId[]) {
  if (reach.all || schools.some((id) => groupsInReach(reach, id).all)) return true;
  if (role !== "STUDENT") return false;
  const taught = groups.filter(({ status, schoolId }) => status === "ACTIVE" && schools.includes(schoolId));
  for (const group of taught) if (await isGroupReached(db, reach, group)) return true;
  return false;
}

/**
 * A write calls this in its transaction, after it has locked the person. `isGuest`: the caller does not reach the home
 * school. Errors: not_found person_not_found, also if out of reach; forbidden home_school_only.
 */
export async function getReachedPerson(
  db: RecordStore,
  reach: PersonReach,
  personId: PersonId,
): Promise<Person & { isGuest: boolean }> {
  const person = await findPerson(db, personId);
  const schools = person?.schools.map(({ id }) => id) ?? [];
  if (person === null || !(await isReachedAt(db, reach, person, schools))) throw personUnknown();
  const { homeSchoolId } = person;
  const keeping = homeSchoolId === null ? schools : [homeSchoolId];
  const isGuest = !(await isReachedAt(db, reach, person, keeping));
  if (isGuest && reach.personNeed === "home") throw homeSchoolOnly();
  return { ...person, isGuest };
}

/** The people whose home is another school, which makes their passwords and cards. */
export async function listGuests(
  { prisma }: RecordStore,
  { schoolId, personIds }: { schoolId: SchoolId; personIds: readonly PersonId[] },
): Promise<ReadonlySet<PersonId>> {
  const people = await prisma.person.findMany({
    where: { id: { in: [...personIds] }, homeSchoolId: { not: schoolId } },
    select: { id: true },
  });
  return new Set(people.map(({ id }) => id as PersonId));
}
