import fc from "fast-check";
import { expect, test } from "vitest";
import { changeDirectory } from "../../../src/access/index.ts";
import { deleteGroup, softDeletePerson, updatePerson, type GroupId } from "../../../src/directory/index.ts";
import { addDays } from "../../../src/platform/clock.ts";
import { getReader, type Read, type Reader } from "../../support/api.ts";
import { walks } from "../../support/walks.ts";
import { appWithRoster, makeRosterWorld, nameOf, roster, rowsOf, versions, type Row } from "./world.ts";

const world = await makeRosterWorld();
const { service, make, read, school, classId, courseId, club, teacher, student, nameless } = world;
const origin = { at: addDays(service.clock(), 1), actorId: "test" };

const list = (name: string, query: Record<string, string>) =>
  rowsOf(read, `${roster}/${name}?${new URLSearchParams(query).toString()}`);
const idsIn = async (name: string, query: Record<string, string>) =>
  (await list(name, query)).map(({ sourcedId }) => sourcedId);
const filtered = (name: string, filter: string) => idsIn(name, { filter });
const minorOf = ({ status, body }: Read) => {
  const { imsx_CodeMinor: minor } = body as {
    imsx_CodeMinor: { imsx_codeMinorField: { imsx_codeMinorFieldValue: string }[] };
  };
  return `${status} ${minor.imsx_codeMinorField[0]!.imsx_codeMinorFieldValue}`;
};

test("each operator of a filter, AND before OR, and dotted fields", async () => {
  const people = { teacher, student, nameless };
  const named = async (filter: string) => {
    const found = new Set(await filtered("users", filter));
    return Object.entries(people).flatMap(([name, id]) => (found.has(id) ? [name] : []));
  };
  const outcomes = {
    "givenName='bo emil'": ["student"],
    "givenName!='Bo Emil'": ["teacher", "nameless"],
    "familyName>'b'": ["teacher", "student"],
    "familyName>='zander'": ["teacher", "student"],
    "familyName<'zz'": ["teacher"],
    "familyName<='Zander'": ["teacher"],
    "givenName~'MARIE'": ["teacher"],
    "givenName~'%'": [],
    "identifier='s-1'": ["student"],
    "roles.role='student' AND givenName='Bo Emil' OR roles.role='teacher'": ["teacher", "student"],
    [`roles.org.sourcedId='${school}' AND roles.role='teacher'`]: ["teacher"],
    [`primaryOrg.sourcedId!='${school}'`]: [],
    "enabledUser='true' AND status='active'": ["teacher", "student", "nameless"],
    "status='tobedeleted'": [],
    "dateLastModified>='2026-01-01'": ["teacher", "student", "nameless"],
    "dateLastModified>'2100-01-01T00:00:00+02:00'": [],
  };
  const seen: Record<string, string[]> = {};
  for (const filter of Object.keys(outcomes)) seen[filter] = await named(filter);
  expect(seen).toEqual(outcomes);
  expect(await filtered("classes", "classType='homeroom'")).toEqual([classId]);
  expect((await filtered("classes", `classType='scheduled' AND school.sourcedId='${school}'`)).sort()).toEqual(
    [courseId, club].sort(),
  );
  expect(await filtered("enrollments", `user.sourcedId='${teacher}' AND role='teacher'`)).toEqual([
    `${classId}_${teacher}`,
  ]);
  const [term] = await list("terms", {});
  expect(await filtered("classes", `terms.sourcedId='${term!.sourcedId}'`)).toHaveLength(3);
  expect(await filtered("academicSessions", "type='schoolYear'")).toHaveLength(1);
  expect(await filtered("orgs", "identifier='DE-NI-1' AND name~'ord'")).toEqual([school]);
  expect(await filtered("courses", `title='5a' AND org.sourcedId='${school}'`)).toHaveLength(1);
});

test("lists are sorted by any single field, in both directions, and without one by id", async () => {
  const byName = await idsIn("users", { sort: "givenName" });
  expect(byName).toEqual([teacher, student, nameless]);
  expect(await idsIn("users", { sort: "givenName", orderBy: "desc" })).toEqual([student, teacher, nameless]);
  expect(await idsIn("users", {})).toEqual([teacher, student, nameless].sort());
  expect(await idsIn("enrollments", { sort: "role", orderBy: "desc", limit: "1" })).toEqual([`${classId}_${teacher}`]);
  expect(await idsIn("classes", { sort: "title", offset: "1", limit: "1" })).toEqual([courseId]);
});

test("only the fields that are asked for are returned, of lists and of single records", async () => {
  const [first] = await list("users", { fields: "familyName, givenName", filter: `sourcedId='${student}'` });
  expect(first).toEqual({ familyName: "Ähre", givenName: "Bo Emil" });
  expect((await read(`${roster}/users/${student}?fields=username`)).body).toEqual({ user: { username: student } });
});

test("unknown fields and malformed filters are refused with the standard's codes", async () => {
  const outcomes: Record<string, string> = {
    "filter=shoeSize='4'": "400 invalid_filter_field",
    "filter=givenName": "400 invalid_filter_field",
    "filter=dateLastModified>'yesterday'": "400 invalid_filter_field",
    "filter=dateLastModified>'2026-99-99'": "400 invalid_filter_field",
    "filter=dateLastModified>'0000-01-01'": "400 invalid_filter_field",
    "filter=dateLastModified>'9999-12-31T23:59-23:00'": "400 invalid_filter_field",
    "filter=constructor='4'": "400 invalid_filter_field",
    "filter=__proto__='4'": "400 invalid_filter_field",
    "sort=shoeSize": "400 invalid_sort_field",
    "sort=roles.org.sourcedId": "400 invalid_sort_field",
    "fields=shoeSize": "400 invalid_selection_field",
    "fields=": "400 invaliddata",
    "orderBy=up": "400 invaliddata",
    "limit=0": "400 invaliddata",
    "limit=10001": "400 invaliddata",
    "offset=-1": "400 invaliddata",
    "filter=a='1'&filter=b='2'": "400 invaliddata",
  };
  const seen: Record<string, string> = {};
  for (const query of Object.keys(outcomes)) seen[query] = minorOf(await read(`${roster}/users?${query}`));
  expect(seen).toEqual(outcomes);
});

async function walk(as: Reader, first: string, total: number): Promise<Row[]> {
  const pages: Row[] = [];
  let path: string | undefined = first;
  while (path !== undefined) {
    const { headers, body }: Read = await as(path);
    expect(headers.get("x-total-count")).toBe(String(total));
    pages.push(...Object.values(body as Record<string, Row[]>)[0]!);
    const next: string | undefined = /<([^>]+)>; rel="next"/.exec(headers.get("link")!)?.[1];
    path = next?.slice(service.url.length);
  }
  return pages;
}

test("pages of any size are the whole list, with its length and the addresses of the others", async () => {
  const other = await make.school();
  const group = await make.group({ school: other });
  await make.people({ school: other, groups: [group], count: 25, groupsEach: 1 });
  for (const subjectType of ["SHARED", "APP"] as const) {
    const app = await appWithRoster(make, { subjectType });
    await make.grant({ app: app.clientId, school: other, groups: [group] });
    const as = await getReader(service, app, ["oneroster:read"]);
    for (const name of ["users", "students", "enrollments", `schools/${other}/students`, `classes/${group}/students`]) {
      const whole = await rowsOf(as, `${roster}/${name}?limit=1000`);
      expect(new Set(whole.map(({ sourcedId }) => sourcedId)).size).toBe(25);
      for (const limit of [9, 25]) {
        const pages = await walk(as, `${roster}/${name}?limit=${limit}`, 25);
        expect(pages, `${name} by ${limit}`).toEqual(whole);
      }
    }
    const middle = await as(`${roster}/users?limit=10&offset=20`);
    expect(middle.headers.get("link")!.match(/offset=\d+>; rel="\w+"/g)).toEqual([
      'offset=0>; rel="first"',
      'offset=10>; rel="prev"',
      'offset=20>; rel="last"',
    ]);
    const behind = await as(`${roster}/users?limit=10&offset=1000`);
    expect([behind.headers.get("x-total-count"), behind.body]).toEqual(["25", { users: [] }]);
  }
});

test.each(["SHARED", "APP"] as const)(
  "lists of groups, and of several groups, are walked whole, with %s ids",
  async (subjectType) => {
    const other = await make.school();
    const groups: GroupId[] = [];
    for (let n = 0; n < 5; n++) groups.push(await make.group({ school: other }));
    await make.people({ school: other, groups, count: 7, groupsEach: 3 });
    const app = await appWithRoster(make, { subjectType });
    await make.grant({ app: app.clientId, school: other, groups });
    const as = await getReader(service, app, ["oneroster:read"]);
    for (const [name, total] of Object.entries({ classes: 5, courses: 5, users: 7, enrollments: 21 })) {
      const whole = await rowsOf(as, `${roster}/${name}?limit=1000`);
      expect(new Set(whole.map(({ sourcedId }) => sourcedId)).size, name).toBe(total);
      expect(await walk(as, `${roster}/${name}?limit=2`, total), name).toEqual(whole);
      const filtered = await walk(as, `${roster}/${name}?limit=2&filter=status='active'`, total);
      expect(filtered, name).toEqual(whole);
    }
  },
);

test("a random page of a sorted or unsorted list is the same part of the whole list", async () => {
  const whole = { "": await idsIn("users", {}), familyName: await idsIn("users", { sort: "familyName" }) };
  await fc.assert(
    fc.asyncProperty(
      fc.nat(4),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom("", "familyName"),
      async (offset, limit, sort) => {
        const page = await idsIn("users", {
          offset: String(offset),
          limit: String(limit),
          ...(sort !== "" && { sort }),
        });
        expect(page).toEqual(whole[sort as ""].slice(offset, offset + limit));
      },
    ),
    walks(200),
  );
});

test("version 1.1 has one role and organisations, version 1.2 roles", async () => {
  const [one] = await rowsOf(read, `${versions.v1p1}/users?filter=role='teacher'`);
  expect(one).toMatchObject({
    sourcedId: teacher,
    enabledUser: true,
    role: "teacher",
    orgs: [{ sourcedId: school, type: "org", href: `${service.url}${versions.v1p1}/orgs/${school}` }],
  });
  const [two] = await list("users", { filter: "roles.role='teacher'" });
  expect(two).toMatchObject({
    enabledUser: "true",
    roles: [{ roleType: "primary", role: "teacher", org: { sourcedId: school } }],
  });
  expect(await rowsOf(read, `${versions.v1p1}/users?filter=orgs.sourcedId='${school}'`)).toHaveLength(3);
});

test("what changed since a time is found, and what was deleted is said to be", async () => {
  const leaver = await make.person({ school, groups: [courseId], name: nameOf("Cem", "Fort") });
  const since = new Date(service.clock().getTime() + 60_000).toISOString();
  const filter = `dateLastModified>'${since}'`;
  expect(await filtered("users", filter)).toEqual([]);
  await changeDirectory(service.db, origin, async (change) => {
    await softDeletePerson(change, { personId: leaver, restoreWindowDays: 30 });
    await deleteGroup(change, { groupId: club });
    await updatePerson(change, { personId: student, name: nameOf("Bo", "Neu") });
  });
  const statusOf = async (name: string) =>
    Object.fromEntries((await list(name, { filter })).map(({ sourcedId, status }) => [sourcedId, status]));
  expect(await statusOf("users")).toEqual({ [leaver]: "tobedeleted", [student]: "active" });
  expect(await statusOf("classes")).toEqual({ [club]: "tobedeleted" });
  expect(await statusOf("enrollments")).toEqual({
    [`${courseId}_${leaver}`]: "tobedeleted",
    [`${classId}_${student}`]: "active",
    [`${courseId}_${student}`]: "active",
  });
  expect(await filtered("users", "status='active'")).not.toContain(leaver);
});

test("an app with ids of its own reads times of full minutes that are not too early", async () => {
  const app = await appWithRoster(make, { subjectType: "APP" });
  await make.grant({ app: app.clientId, school, groups: [classId] });
  const as = await getReader(service, app, ["oneroster:read"]);
  const users = await rowsOf(as, `${roster}/users`);
  expect(users.map(({ dateLastModified }) => String(dateLastModified).slice(17))).toEqual(users.map(() => "00.000Z"));
  const told = await service.db.prisma.appEvent.findMany({ where: { clientId: app.clientId, type: "person" } });
  const latest = Math.max(...told.map(({ at }) => at.getTime()));
  expect(users.every(({ dateLastModified }) => Date.parse(String(dateLastModified)) >= latest)).toBe(true);
});
