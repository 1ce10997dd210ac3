import type { AccessToken } from "../access/index.ts";
import type { Clock } from "../platform/clock.ts";
import { uuidPattern } from "../platform/crypto/ids.ts";
import { answerText, type JsonText } from "../platform/http/index.ts";
import type { OneRosterHandlers, Version } from "./contract.ts";
import { recordNotFound } from "./failure.ts";
import { makeListMemory, pageHeaders, readPage } from "./read-page.ts";
import { demographics } from "./records/demographics.ts";
import { enrollments } from "./records/enrollments.ts";
import { classes, courses } from "./records/groups.ts";
import type { Params, Resource, Way } from "./records/record.ts";
import { schools } from "./records/schools.ts";
import { sessions } from "./records/sessions.ts";
import { users } from "./records/users.ts";
import { schoolYearAt } from "./school-year.ts";
import { findIds, statementsFor, type Selection, type Values } from "./statements.ts";

const operations = {
  listAcademicSessions: [sessions, {}],
  getAcademicSession: [sessions, { one: true }],
  listTerms: [sessions, { session: "term" }],
  getTerm: [sessions, { session: "term", one: true }],
  listTermClasses: [classes, {}],
  listTermGradingPeriods: [sessions, { session: "gradingPeriod" }],
  listGradingPeriods: [sessions, { session: "gradingPeriod" }],
  listOrgs: [schools, {}],
  getOrg: [schools, { one: true }],
  listSchools: [schools, {}],
  getSchool: [schools, { one: true }],
  listSchoolClasses: [classes, { school: true }],
  listSchoolCourses: [courses, { school: true }],
  listSchoolEnrollments: [enrollments, { school: true }],
  listSchoolStudents: [users, { school: true, role: "STUDENT" }],
  listSchoolTeachers: [users, { school: true, role: "TEACHER" }],
  listSchoolTerms: [sessions, { school: true, session: "term" }],
  listSchoolClassEnrollments: [enrollments, { school: true, group: true }],
  listSchoolClassStudents: [users, { school: true, group: true, role: "STUDENT" }],
  listSchoolClassTeachers: [users, { school: true, group: true, role: "TEACHER" }],
  listClasses: [classes, {}],
  getClass: [classes, { one: true }],
  listClassStudents: [users, { group: true, role: "STUDENT" }],
  listClassTeachers: [users, { group: true, role: "TEACHER" }],
  listCourses: [courses, {}],
  getCourse: [courses, { one: true }],
  listCourseClasses: [classes, { course: true }],
  listUsers: [users, {}],
  getUser: [users, { one: true }],
  listUserClasses: [classes, { person: true }],
  listStudents: [users, { role: "STUDENT" }],
  getStudent: [users, { one: true, role: "STUDENT" }],
  listStudentClasses: [classes, { person: true, role: "STUDENT" }],
  listTeachers: [users, { role: "TEACHER" }],
  getTeacher: [users, { one: true, role: "TEACHER" }],
  listTeacherClasses: [classes, { person: true, role: "TEACHER" }],
  listDemographics: [demographics, {}],
  listEnrollments: [enrollments, {}],
  getEnrollment: [enrollments, { one: true }],
} satisfies { readonly [Id in keyof OneRosterHandlers]: readonly [Resource, Way] };

type Path = Partial<
  Record<"id" | `${"school" | "class" | "course" | "term" | "user" | "student" | "teacher"}Id`, string>
>;
type Request = { caller: AccessToken; path: Path; query: Selection & { limit?: number; offset?: number } };

type Deps = { version: Version; baseUrl: string; clock: Clock };

const folders: Record<Version, string> = {
  v1p1: "/ims/oneroster/v1p1",
  v1p2: "/ims/oneroster/rostering/v1p2",
};

export function makeHandlers({ version, baseUrl, clock }: Deps): OneRosterHandlers {
  const memory = makeListMemory();
  const base = baseUrl.replace(/\/$/, "") + folders[version];
  const makeHandler =
    ([resource, way]: readonly [Resource, Way]) =>
    ({ caller, path, query }: Request): JsonText<never> => {
      const { clientId: client, ids } = caller;
      const { filter, sort, orderBy, fields } = query;
      const statements = statementsFor({ resource, way, ids, version }, { filter, sort, orderBy, fields });
      const [limit, offset] = way.one ? [1, 0] : [query.limit ?? defaultLimit, query.offset ?? 0];
      const year = schoolYearAt(clock());
      const params: Params = { client, base, ...year, ...idsOf(path, resource, way) };
      if (path.termId !== undefined && path.termId !== year.termId) throw recordNotFound();
      const values = { ...params, ...statements.values, limit, offset } satisfies Values;
      const list = JSON.stringify([statements.id, { ...values, limit: null, offset: null }]);
      return answerText({
        version: statements.version as never,
        params: values,
        missing: recordNotFound,
        identity: [list, limit, offset],
        async read(db, tag) {
          const page = await readPage(db, memory, { statements, values, list, version: tag });
          if (!way.one)
            return {
              body: `{"${resource.plural}":[${page.items}]}`,
              headers: (address) => pageHeaders({ total: page.total, limit, offset }, base, address),
            };
          if (page.items === "") throw recordNotFound();
          return { body: `{"${resource.single}":${page.items}}`, headers: () => ({}) };
        },
      });
    };
  const handlers = Object.entries(operations).map(([id, operation]) => [id, makeHandler(operation)]);
  return Object.fromEntries(handlers) as OneRosterHandlers;
}

const defaultLimit = 100;

/** The values that the address names. Errors: not_found unknownobject for an id of another shape. */
function idsOf(path: Path, resource: Resource, { one }: Way): Partial<Params> {
  const { id, schoolId, classId, courseId, userId, studentId, teacherId } = path;
  if (one) return findIds(resource, id!) ?? checkIds({ id: "" });
  return checkIds({ schoolId, groupId: classId, courseId, personId: userId ?? studentId ?? teacherId });
}

function checkIds(ids: Record<string, string | undefined>): Partial<Params> {
  const named = Object.entries(ids).filter(([, id]) => id !== undefined);
  if (named.some(([, id]) => !uuidPattern.test(id!))) throw recordNotFound();
  return Object.fromEntries(named);
}
