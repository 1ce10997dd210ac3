import type { components as Components11 } from "../../../../generated/openapi/oneroster-1.1.ts";
import type { components } from "../../../../generated/openapi/oneroster.ts";

type Schemas = components["schemas"];
type User11 = Components11["schemas"]["OneRosterUser"];

export type Version = "v1p1" | "v1p2";
export type RosterRecord = Readonly<Record<string, unknown>>;
/** `deletedAt` is when the first pupil was deleted, null before. */
export type RosterState = { pupils: number; madeAt: Date; deletedAt: Date | null };

const makeId = (kind: string, place: number): string => `${kind}0000000-0000-4000-8000-${`${place}`.padStart(12, "0")}`;
export const [firstClassId, teacherId] = [makeId("b", 1), makeId("c", 0)] as const;

/** The records of a school with one teacher. Everybody is in the first class; the other class is empty. */
export function makeRecords({ pupils, madeAt, deletedAt }: RosterState, version: Version, base: string) {
  const refer = (type: Schemas["OneRosterReferenceType"], sourcedId: string): Schemas["OneRosterReference"] => {
    return { href: `${base}/${type}${type === "class" ? "es" : "s"}/${sourcedId}`, sourcedId, type };
  };
  const [school, year, term] = [
    refer("org", makeId("a", 1)),
    refer("academicSession", makeId("e", 1)),
    refer("academicSession", makeId("e", 2)),
  ];
  const starts = madeAt.getUTCFullYear() - (madeAt.getUTCMonth() < 7 ? 1 : 0);
  const baseOf = (sourcedId: string, changedAt: Date | null = null) => ({
    sourcedId,
    status: changedAt === null ? ("active" as const) : ("tobedeleted" as const),
    dateLastModified: (changedAt ?? madeAt).toISOString(),
  });
  const makeSession = (type: Schemas["OneRosterSessionType"]): Required<Schemas["OneRosterAcademicSession"]> => ({
    ...baseOf((type === "term" ? term : year).sourcedId),
    title: `${starts}/${starts + 1}`,
    type,
    startDate: `${starts}-08-01`,
    endDate: `${starts + 1}-07-31`,
    schoolYear: `${starts + 1}`,
    parent: type === "term" ? year : null,
    children: type === "term" ? [] : [term],
  });
  const personAt = (place: number) => ({
    id: makeId("c", place),
    role: place === 0 ? ("teacher" as const) : ("student" as const),
    goneAt: place === 1 ? deletedAt : null,
  });
  const makeUser = (place: number): Required<Schemas["OneRosterUser"]> | Required<User11> => {
    const { role, id, goneAt } = personAt(place);
    const names = { username: id, givenName: `Ada ${place}`, familyName: "Beispiel", identifier: `check-${place}` };
    const shared = { ...baseOf(id, goneAt), ...names, agents: [] };
    if (version === "v1p1") return { ...shared, enabledUser: goneAt === null, role, orgs: [school] };
    const enabledUser = goneAt === null ? "true" : "false";
    const roles = [{ roleType: "primary" as const, role, org: school }];
    return { ...shared, enabledUser, preferredFirstName: "Ada", roles, primaryOrg: school };
  };
  const makeEnrollment = (place: number): Required<Schemas["OneRosterEnrollment"]> => {
    const { role, id, goneAt } = personAt(place);
    const of = { user: refer("user", id), class: refer("class", firstClassId), school };
    return { ...baseOf(`${firstClassId}_${id}`, goneAt), role, ...of };
  };
  const makeClass = (place: number): Required<Schemas["OneRosterClass"]> => ({
    ...baseOf(makeId("b", place)),
    title: `Klasse ${place}`,
    classType: "homeroom",
    metadata: { groupType: "KLASSE" },
    course: refer("course", makeId("d", place)),
    school,
    terms: [term],
  });
  const makeCourse = (place: number): Required<Schemas["OneRosterCourse"]> => {
    return { ...baseOf(makeId("d", place)), title: `Klasse ${place}`, schoolYear: year, org: school };
  };
  const org: Required<Schemas["OneRosterOrg"]> = {
    ...baseOf(school.sourcedId),
    name: "Beispielschule",
    type: "school",
    identifier: "DE-XX-100001",
  };
  const places = Array.from({ length: pupils + 1 }, (_, place) => place);
  return {
    academicSessions: (): RosterRecord[] => [makeSession("schoolYear"), makeSession("term")],
    orgs: (): RosterRecord[] => [org],
    courses: (): RosterRecord[] => [1, 2].map(makeCourse),
    classes: (): RosterRecord[] => [1, 2].map(makeClass),
    users: (): RosterRecord[] => places.map(makeUser),
    enrollments: (): RosterRecord[] => places.map(makeEnrollment),
    demographics: (): RosterRecord[] => [],
  };
}
