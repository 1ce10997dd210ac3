import { beforeEach, expect, test } from "vitest";
import type { GroupId, PersonId, SchoolId } from "../../../src/directory/index.ts";
import { type StaffRoleName } from "../../../src/staff/index.ts";
import { idsOf, makeStaff, type AdminClient } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { giveLogin } from "../../support/token.ts";
import { giveRoleTo } from "../../support/portal.ts";

const service = await startService();
const { db } = service;
const make = makeMakers(db);

let school: SchoolId;
let classes: GroupId[];
let admin: AdminClient;

beforeEach(async () => {
  school = await make.school();
  classes = [await make.group({ school, name: "10a" }), await make.group({ school, name: "5a" })];
  admin = (await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] })).call;
});

async function teacher(last: string, { groups = [classes[0]!], login = true, at = school } = {}): Promise<PersonId> {
  const name = { firstFull: "Kim", firstCall: "Kim", last };
  const person = await make.person({ schools: [at, school], role: "TEACHER", name });
  for (const group of groups) await make.membership({ group, person, role: "TEACHER" });
  if (login) await giveLogin(db, person);
  return person;
}
const hold = (personId: PersonId, role: StaffRoleName, schoolIds: SchoolId[]) =>
  giveRoleTo(service, personId, role, { schoolIds });
const list = (call = admin) => call("GET", `/schools/${school}/class-teacher-proposals`);
const give = (personIds: string[], call = admin, headers = {}) =>
  call("POST", `/schools/${school}/class-teachers`, { body: { personIds }, headers });
const rolesOf = (personId: string) => db.prisma.staffRole.findMany({ where: { personId }, include: { schools: true } });
const linesAbout = (personId: string) =>
  db.prisma.audit.findMany({ where: { personId, action: "staff_role_given" }, orderBy: { id: "asc" } });

test("teachers with a class are listed by name, with their classes in order and what keeps them from the role", async () => {
  const both = await teacher("Alt", { groups: classes });
  const blocked = await teacher("Blau");
  await db.prisma.person.update({ where: { id: blocked }, data: { blockedAt: service.clock() } });
  const without = await teacher("Celan", { login: false });
  const guest = await teacher("Dorn", { at: await make.school() });
  expect((await list()).body).toMatchObject([
    { id: both, name: { last: "Alt" }, classes: [{ name: "5a" }, { name: "10a" }], state: "READY" },
    { id: blocked, state: "BLOCKED" },
    { id: without, state: "NO_LOGIN" },
    { id: guest, state: "READY" },
  ]);
  const first = await admin("GET", `/schools/${school}/class-teacher-proposals?limit=3`);
  const next = new URL(/<([^>]+)>/.exec(first.headers.get("link")!)![1]!, service.url);
  const rest = await admin("GET", `${next.pathname.replace("/admin/v1", "")}${next.search}`);
  expect([...idsOf(first), ...idsOf(rest)]).toEqual([both, blocked, without, guest]);
});

test("nobody is listed who teaches no class, learns in one, has left, or manages the classes already", async () => {
  const other = await make.school();
  await teacher("Kurs", { groups: [await make.group({ school, type: "KURS" })] });
  const pupil = await make.person({ school, role: "STUDENT" });
  await make.membership({ group: classes[0]!, person: pupil, role: "STUDENT" });
  const gone = await teacher("Gone");
  await admin("POST", `/people/${gone}/soft-deletion`);
  const ended = await make.group({ school });
  await teacher("Ende", { groups: [ended] });
  await admin("DELETE", `/groups/${ended}`);
  for (const role of ["DISTRICT", "SCHOOL_ADMIN", "SECRETARY", "CLASS_TEACHER"] as const)
    await hold(await teacher(role), role, [school]);
  await hold(await teacher("Operator"), "OPERATOR", []);
  const elsewhere = await teacher("Elsewhere");
  await hold(elsewhere, "CLASS_TEACHER", [other]);
  expect(idsOf(await list())).toEqual([elsewhere]);
});

test("one confirmation gives each teacher the role as by hand, with an audit line for each", async () => {
  const [one, two, unticked] = [await teacher("Alt"), await teacher("Blau"), await teacher("Celan")];
  const given = await give([one, two]);
  expect([given.status, given.body]).toMatchObject([
    200,
    [
      { holder: { personId: one }, role: "CLASS_TEACHER", schoolIds: [school], endsAt: null },
      { holder: { personId: two }, role: "CLASS_TEACHER" },
    ],
  ]);
  for (const [index, id] of [one, two].entries())
    expect(await linesAbout(id)).toMatchObject([
      { actorRole: "SCHOOL_ADMIN", schoolId: school, before: null, after: (given.body as object[])[index] },
    ]);
  expect(await rolesOf(unticked)).toEqual([]);
  expect(idsOf(await list())).toEqual([unticked]);
  expect((await give([one, two])).body).toEqual([]);
});

test("a person who is blocked, cannot sign in, or is of another school gets nothing, and the others get theirs", async () => {
  const blocked = await teacher("Blau");
  await db.prisma.person.update({ where: { id: blocked }, data: { blockedAt: service.clock() } });
  const without = await teacher("Celan", { login: false });
  const stranger = await make.person({ school: await make.school(), role: "TEACHER" });
  const ready = await teacher("Dorn");
  expect((await give([blocked, without, stranger, ready])).body).toMatchObject([{ holder: { personId: ready } }]);
  for (const id of [blocked, without, stranger]) expect(await rolesOf(id)).toEqual([]);
});

test("many confirmations at once, by several admins, give one role", async () => {
  const id = await teacher("Alt");
  const second = (await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] })).call;
  const sent = await Promise.all([admin, second, admin, second].map((call) => give([id], call)));
  expect(sent.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(sent.flatMap(({ body }) => body as object[])).toHaveLength(1);
  expect([await rolesOf(id), await linesAbout(id)].map(({ length }) => length)).toEqual([1, 1]);
});
