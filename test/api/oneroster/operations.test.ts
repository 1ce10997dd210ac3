import { expect, test } from "vitest";
import { listOperations, loadDocument, type Operation } from "../../../src/platform/http/index.ts";
import { getReader, type Read } from "../../support/api.ts";
import { inBatches } from "../../support/in-batches.ts";
import { getUserTokens, giveLogin, issueAppToken, postToken } from "../../support/token.ts";
import { makeRosterWorld, roster, rowsOf, versions, type Row } from "./world.ts";

// Walks every operation of both versions. The proxy of the tests holds each answer against its document.

const world = await makeRosterWorld();
const { service, app, read, school, classId, student, teacher, hidden } = world;
const documents = {
  v1p2: await loadDocument("oneroster", "schultor"),
  v1p1: await loadDocument("oneroster-1.1", "schultor"),
};
type Version = keyof typeof documents;
type Place = { version: Version; path: string; operation: Operation };
const places = (["v1p2", "v1p1"] as const).flatMap((version) =>
  listOperations(documents[version]).map(({ path, operation }): Place => ({ version, path, operation })),
);
const offered = places.filter(({ operation }) => "200" in operation.responses);
const inner = {
  year: await rowsOf(read, `${roster}/academicSessions`),
  courses: await rowsOf(read, `${roster}/courses`),
};
const idOf = (rows: Row[], where: (row: Row) => boolean) => rows.find(where)!.sourcedId;
const term = idOf(inner.year, ({ type }) => type === "term");
const course = idOf(inner.courses, ({ title }) => title === "5a");

type Ids = Record<"school" | "class" | "person" | "course" | "term", string>;
const own: Ids = { school, class: classId, person: student, course, term };
const unknown = "f0000000-0000-4000-8000-000000000001";
const hiddenIds: Ids = {
  school: hidden.school,
  class: hidden.classId,
  person: hidden.person,
  course: unknown,
  term: unknown,
};
const missing: Ids = { school: unknown, class: unknown, person: unknown, course: unknown, term: unknown };

/** The ids of an address, by the folder before each. */
function fill({ path, operation }: Pick<Place, "path" | "operation">, ids: Ids, otherwise?: string): string {
  const isTeacher = /Teacher/.test(operation.operationId);
  const person = ids === own && isTeacher ? teacher : ids.person;
  const byFolder: Record<string, string> = {
    academicSessions: ids.term,
    terms: ids.term,
    gradingPeriods: ids.term,
    orgs: ids.school,
    schools: ids.school,
    classes: ids.class,
    courses: ids.course,
    enrollments: `${ids.class}_${person}`,
    users: person,
    students: person,
    teachers: person,
  };
  return path.replace(
    /(\w+)\/\{\w+\}/g,
    (_all, folder: string) => `${folder}/${otherwise ?? byFolder[folder] ?? "any"}`,
  );
}

const nameOfPlace = ({ version, operation }: Place) => `${version} ${operation.operationId}`;
const minorOf = ({ body }: Read, version: Version): unknown => {
  type Body = { imsx_CodeMinor: { imsx_codeMinorField: { imsx_codeMinorFieldValue: string }[] } };
  return version === "v1p2"
    ? (body as Body).imsx_CodeMinor.imsx_codeMinorField[0]!.imsx_codeMinorFieldValue
    : (body as { statusInfoSet: { imsx_CodeMinor: string }[] }).statusInfoSet[0]!.imsx_CodeMinor;
};

test("the documents have 39 operations each", () => {
  expect([offered.length, places.length]).toEqual([78, 78]);
});

test("each operation returns its records, the same for HEAD, and 304 for their ETag", async () => {
  const headers = await authorization();
  const outcomes = await inBatches(offered, async (place) => {
    const path = fill(place, own);
    const { status, headers: found, body } = await read(path);
    const etag = found.get("etag")!;
    const again = await read(path, { "if-none-match": etag });
    const head = await fetch(service.url + path, { method: "HEAD", headers });
    const rows = Object.values(body as object)[0] as Row | Row[];
    const length = Array.isArray(rows) ? rows.length : 1;
    return [nameOfPlace(place), [status, again.status, head.headers.get("etag") === etag, length]];
  });
  const lengths: Record<string, number> = {
    listAcademicSessions: 2,
    listTerms: 1,
    listTermClasses: 3,
    listTermGradingPeriods: 0,
    listGradingPeriods: 0,
    listDemographics: 0,
    listSchoolClasses: 3,
    listSchoolCourses: 3,
    listSchoolEnrollments: 4,
    listSchoolStudents: 2,
    listSchoolClassEnrollments: 3,
    listSchoolClassStudents: 2,
    listClasses: 3,
    listClassStudents: 2,
    listCourses: 3,
    listUsers: 3,
    listUserClasses: 2,
    listStudents: 2,
    listStudentClasses: 2,
    listEnrollments: 4,
  };
  const expected = offered.map((place) => {
    const length = lengths[place.operation.operationId] ?? 1;
    return [nameOfPlace(place), [200, 304, true, length]];
  });
  expect(outcomes).toEqual(expected);
});

test("each list is sorted, filtered, cut and shortened, and each record shortened, as asked", async () => {
  const isList = ({ operation }: Place) => operation.operationId.startsWith("list");
  const outcomes = await inBatches(offered, async (place) => {
    const list = "offset=0&sort=dateLastModified&orderBy=desc&filter=sourcedId!='nobody'&";
    const { status, body } = await read(`${fill(place, own)}?${isList(place) ? list : ""}fields=sourcedId`);
    const rows = [Object.values(body as object)[0] as Row | Row[]].flat();
    return [nameOfPlace(place), status, rows.every((row) => Object.keys(row).join() === "sourcedId")];
  });
  expect(outcomes).toEqual(offered.map((place) => [nameOfPlace(place), 200, true]));
});

async function authorization() {
  return { authorization: `Bearer ${await issueAppToken(service, app, ["oneroster:read"])}` };
}

test("each operation refuses in the standard's words what is not for it", async () => {
  const withoutScope = await getReader(service, app);
  const tokens = await getUserTokens(service, app, await giveLogin(service.db, student), {
    scopes: ["openid", "oneroster:read"],
  });
  const asPerson = { authorization: `Bearer ${tokens.access_token}` };
  const spelled = {
    v1p2: { 400: "invaliddata", 401: "unauthorisedrequest", 403: "forbidden", 405: "unsupported" },
    v1p1: { 400: "invalid data", 401: "unauthorized", 403: "forbidden", 405: "unsupported" },
  };
  const headers = await authorization();
  const outcomes = await inBatches(offered, async (place) => {
    const { version } = place;
    const path = fill(place, own);
    const ask = async (init: RequestInit, query = "") => {
      const response = await fetch(service.url + path + query, init);
      return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
    };
    const say = (answer: Read) => `${answer.status} ${String(minorOf(answer, version))}`;
    return [
      nameOfPlace(place),
      say(await ask({})),
      say(await withoutScope(path)),
      say(await ask({ headers: asPerson })),
      say(await ask({ headers }, "?page=2")),
      say(await ask({ method: "POST", headers })),
    ];
  });
  expect(outcomes).toEqual(
    offered.map((place) => {
      const words = spelled[place.version];
      return [
        nameOfPlace(place),
        ...([401, 403, 403, 400, 405] as const).map((status) => `${status} ${words[status]}`),
      ];
    }),
  );
});

test("hidden, missing and malformed ids are the same 404", async () => {
  const outcomes: unknown[] = [];
  const withIds = offered.filter(({ path }) => path.includes("{"));
  for (const place of withIds) {
    const paths = [
      fill(place, hiddenIds),
      fill(place, missing),
      ...["x", "1_2_3", "%27", "a'b"].map((id) => fill(place, own, id)),
    ];
    const answers = await Promise.all(paths.map((path) => read(path)));
    outcomes.push([
      nameOfPlace(place),
      new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size,
      answers[0]!.status,
    ]);
  }
  expect(outcomes).toEqual(withIds.map((place) => [nameOfPlace(place), 1, 404]));
});

test("a grading period, the demographics of somebody and the gradebook are unknown addresses", async () => {
  for (const [version, base] of Object.entries(versions))
    for (const path of [`gradingPeriods/${term}`, `demographics/${student}`, `classes/${classId}/lineItems`]) {
      const other = await read(`${base}/${path}`);
      const code = version === "v1p2" ? "unknownobject" : "unknown object";
      expect([path, other.status, minorOf(other, version as Version)]).toEqual([path, 404, code]);
    }
});

test("the token endpoint gives a token for each name of the scope, to an app that is registered for it", async () => {
  const names = ["v1p1", "v1p2"].flatMap((version) =>
    ["roster", "roster-core"].map((scope) => `https://purl.imsglobal.org/spec/or/${version}/scope/${scope}.readonly`),
  );
  const outcomes: unknown[] = [];
  for (const scope of names) {
    const { status, body } = await postToken(service, app, { grant_type: "client_credentials", scope });
    const response = await fetch(`${service.url}${roster}/users`, {
      headers: { authorization: `Bearer ${body.access_token}` },
    });
    outcomes.push([status, body.scope, response.status]);
  }
  expect(outcomes).toEqual(names.map((scope) => [200, scope, 200]));
  const other = await world.make.app();
  const refused = await postToken(service, other, { grant_type: "client_credentials", scope: names[0]! });
  expect([refused.status, refused.body.error]).toEqual([400, "invalid_scope"]);
});

test("the scopes of OneRoster for other records are ignored, and a misspelled one is refused", async () => {
  const ask = async (...scopes: string[]) => {
    const names = scopes.map((scope) => `https://purl.imsglobal.org/spec/or/v1p1/scope/${scope}`);
    const { body } = await postToken(service, app, { grant_type: "client_credentials", scope: names.join(" ") });
    return body.error ?? body.scope.replace(/.*\//, "");
  };
  const others = [
    "roster-demographics.readonly",
    "resource.readonly",
    "gradebook.createput",
    "gradebook-core.readonly",
  ];
  const refused = ["roster.readonl", "roster.createput", "grades.readonly", "gradebook.Readonly"];
  expect(await ask("roster.readonly", ...others)).toBe("roster.readonly");
  expect(await ask(...others)).toBe("");
  const inHttp = "http://purl.imsglobal.org/spec/or/v1p2/scope/roster.readonly";
  const { body } = await postToken(service, app, { grant_type: "client_credentials", scope: inHttp });
  expect(body.scope).toBe(inHttp);
  for (const scope of refused) expect([scope, await ask("roster.readonly", scope)]).toEqual([scope, "invalid_scope"]);
});
