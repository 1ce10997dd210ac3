import { beforeEach, expect, test } from "vitest";
import type { PersonId, SchoolId } from "../../../src/directory/index.ts";
import { makeStaff, refusalOf, type AdminClient } from "../../support/admin.ts";
import { expectDescribed } from "../../support/described.ts";
import { rosterOf, rosterType } from "../../support/import-office.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

const service = await startService();
const { prisma } = service.db;
const make = makeMakers(service.db);

let school: SchoolId;
let office: AdminClient;

beforeEach(async () => {
  school = await make.school();
  office = (await makeStaff(service, "SECRETARY", { schoolIds: [school] })).call;
});

type Part = { isOutdated: boolean; comparedAt: string; leavers: number; people: { created: number } };
type Made = { id: string; state: string; schools: Part[] };

const handIn = async (...rows: string[]) =>
  (await office("POST", `/imports?school=${school}`, { body: rosterOf(...rows), headers: rosterType })).body as Made;
const apply = async ({ id }: Made) =>
  expect((await office("POST", `/imports/${id}/application`, { body: {} })).status).toBe(200);
const read = async ({ id }: Made) => (await office("GET", `/imports/${id}`)).body as Made;
const compare = (made: Made, call = office) => call("POST", `/imports/${made.id}/comparison?school=${school}`);
const numbersOf = ({ state, schools: [part] }: Made) => [state, part!.isOutdated, part!.people.created, part!.leavers];

const three = ["1;student;Ada;A;5a", "2;student;Bo;B;5a", "3;student;Cem;C;5a"];

test("a waiting import says that its numbers are from before, until it is compared again", async () => {
  const waiting = await handIn(...three);
  expect(numbersOf(waiting)).toEqual(["READY", false, 3, 0]);
  await apply(await handIn(...three));
  const outdated = await read(waiting);
  expect(numbersOf(outdated)).toEqual(["READY", true, 3, 0]);
  expect(outdated.schools[0]!.comparedAt).toBe(waiting.schools[0]!.comparedAt);
  const listed = (await office("GET", `/imports?school=${school}`)).body as Made[];
  expect(listed.map(({ id, schools: [part] }) => [id === waiting.id, part!.isOutdated])).toEqual([
    [false, false],
    [true, true],
  ]);
  const compared = await compare(waiting);
  expectDescribed("compareImport", compared);
  expect(numbersOf(compared.body as Made)).toEqual(["READY", false, 0, 0]);
  expect(numbersOf(await read(waiting))).toEqual(["READY", false, 0, 0]);
});

test("what holds an import is found anew, and ends when the reason is gone", async () => {
  await apply(await handIn(...three));
  const held = await handIn(three[0]!);
  expect(numbersOf(held)).toEqual(["HELD", false, 0, 2]);
  const people = await prisma.person.findMany({ where: { homeSchoolId: school, last: { in: ["B", "C"] } } });
  for (const { id } of people) await office("POST", `/people/${id}/soft-deletion`);
  expect(numbersOf(await read(held))).toEqual(["HELD", true, 0, 2]);
  expect(numbersOf((await compare(held)).body as Made)).toEqual(["READY", false, 0, 0]);
  const ready = await handIn(...three);
  await apply(await handIn(...three, "4;student;Di;D;5b", "5;student;Eli;E;5b"));
  expect(numbersOf((await compare(ready)).body as Made)).toEqual(["HELD", false, 0, 2]);
});

test("each change of people, classes and memberships of the school makes numbers old, and nothing else does", async () => {
  await apply(await handIn(...three));
  const { id: personId } = await prisma.person.findFirstOrThrow({ where: { homeSchoolId: school, last: "A" } });
  const { id: groupId } = await prisma.group.findFirstOrThrow({ where: { schoolId: school } });
  const elsewhere = await make.school();
  const operator = (await makeStaff(service, "OPERATOR")).call;
  const tagOf = async (path: string) => ({ "if-match": (await office("GET", path)).headers.get("etag")! });
  const patch = async (path: string, body: object) =>
    expect((await office("PATCH", path, { body, headers: await tagOf(path) })).status).toBe(204);
  const name = { firstFull: "Ada", firstCall: "Ada", last: "Anders" };
  const changes: Record<string, () => Promise<unknown>> = {
    "a person is renamed": () => patch(`/people/${personId}`, { name }),
    "a class is renamed": () => patch(`/groups/${groupId}`, { name: "6a" }),
    "somebody leaves a class": () => office("DELETE", `/groups/${groupId}/members/${personId}`),
    "a person is made": () => make.person({ school }),
    "a class is made": () => make.group({ school }),
    "a guest comes": async () => make.person({ schools: [elsewhere, school] }),
    "somebody signs in": async () => make.signIn({ app: (await make.app()).clientId, person: personId as PersonId }),
    "another school changes": () => make.person({ school: elsewhere }),
    "the school's address changes": async () => {
      const path = `/schools/${school}`;
      const headers = { "if-match": (await operator("GET", path)).headers.get("etag")! };
      return operator("PATCH", path, { body: { city: "Musterstadt" }, headers });
    },
  };
  const found: Record<string, boolean> = {};
  for (const [what, change] of Object.entries(changes)) {
    const waiting = await handIn(...three);
    await change();
    found[what] = (await read(waiting)).schools[0]!.isOutdated;
    await office("POST", `/imports/${waiting.id}/cancellation`);
  }
  expect(found).toEqual({
    "a person is renamed": true,
    "a class is renamed": true,
    "somebody leaves a class": true,
    "a person is made": true,
    "a class is made": true,
    "a guest comes": true,
    "somebody signs in": false,
    "another school changes": false,
    "the school's address changes": false,
  });
});

test("an import that no longer waits is not old, and is not compared", async () => {
  const [applied, cancelled] = [await handIn(...three), await handIn(...three)];
  await apply(applied);
  await office("POST", `/imports/${cancelled.id}/cancellation`);
  await make.group({ school });
  for (const made of [applied, cancelled])
    expect((await read(made)).schools.map(({ isOutdated }) => isOutdated)).not.toContain(true);
  expect(refusalOf(await compare(applied))).toEqual([409, "import_applied"]);
  expect(refusalOf(await compare(cancelled))).toEqual([409, "import_cancelled"]);
  const support = (await makeStaff(service, "SUPPORT", { schoolIds: [school] })).call;
  expect(refusalOf(await compare(applied, support))).toEqual([403, "role_forbids"]);
});
