import { expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import { findPerson, joinSchool, leaveSchool, movePerson, setHomeSchool } from "../../src/directory/index.ts";
import type { Change, PersonId, SchoolId } from "../../src/directory/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";

const db = await testDatabase();
const make = makeMakers(db);
const [first, second, third] = [
  await make.school({ name: "A" }),
  await make.school({ name: "B" }),
  await make.school({ name: "C" }),
];
const origin = { at: new Date("2026-03-01T10:00:00Z"), actorId: "operator" };
const never = "00000000-0000-7000-8000-000000000000";

type Way = (change: Change, of: { personId: PersonId; schoolId: SchoolId }) => Promise<void>;
const go = (way: Way, personId: PersonId, schoolId: SchoolId) =>
  changeDirectory(db, origin, (change) => way(change, { personId, schoolId }));
const move = (personId: PersonId, to: SchoolId, from?: SchoolId) =>
  changeDirectory(db, origin, (change) => movePerson(change, { personId, to, from }));

async function placesOf(personId: PersonId) {
  const { schools, homeSchoolId, groups } = (await findPerson(db, personId))!;
  return { schools: schools.map(({ id }) => id), home: homeSchoolId, groups: groups.map(({ id }) => id) };
}

test("a person joins a second school and leaves it with its groups alone", async () => {
  const [here, there] = [await make.group({ school: first }), await make.group({ school: second })];
  const personId = await make.person({ school: first, groups: [here] });
  await go(joinSchool, personId, second);
  await make.membership({ group: there, person: personId });
  expect(await placesOf(personId)).toEqual({
    schools: [first, second],
    home: first,
    groups: expect.arrayContaining([here, there]),
  });
  await go(leaveSchool, personId, second);
  expect(await placesOf(personId)).toEqual({ schools: [first], home: first, groups: [here] });
});

test("the home becomes another of the person's schools, and then the old one can be left", async () => {
  const personId = await make.person({ schools: [first, second] });
  await expect(go(leaveSchool, personId, first)).rejects.toMatchObject({ kind: "conflict", code: "home_school_left" });
  await go(setHomeSchool, personId, second);
  await go(leaveSchool, personId, first);
  expect(await placesOf(personId)).toMatchObject({ schools: [second], home: second });
});

test("a move takes the person from home to the new school, which becomes home; groups stay behind", async () => {
  const personId = await make.person({ school: first, groups: [await make.group({ school: first })] });
  await move(personId, second);
  expect(await placesOf(personId)).toEqual({ schools: [second], home: second, groups: [] });
});

test("a move from a school that is not home leaves the home, also to a school where the person is already", async () => {
  const personId = await make.person({ schools: [first, second] });
  await move(personId, third, second);
  expect(await placesOf(personId)).toMatchObject({ schools: [first, third], home: first });
  await move(personId, third);
  expect(await placesOf(personId)).toMatchObject({ schools: [third], home: third });
});

test("a way that does not fit where the person is, is refused and changes nothing", async () => {
  const personId = await make.person({ school: first });
  const ways: [way: Promise<unknown>, refusal: string][] = [
    [go(joinSchool, personId, first), "conflict person_at_school"],
    [go(joinSchool, personId, never as SchoolId), "not_found school_not_found"],
    [go(leaveSchool, personId, second), "not_found affiliation_not_found"],
    [go(setHomeSchool, personId, second), "not_found affiliation_not_found"],
    [move(personId, first), "invalid move_to_same_school"],
    [move(personId, third, second), "not_found affiliation_not_found"],
    [move(personId, never as SchoolId), "not_found school_not_found"],
  ];
  const found = await Promise.all(
    ways.map(async ([way]) => {
      const { kind, code } = (await way.catch((error: unknown) => error)) as { kind: string; code: string };
      return `${kind} ${code}`;
    }),
  );
  expect(found).toEqual(ways.map(([, refusal]) => refusal));
  expect(await placesOf(personId)).toMatchObject({ schools: [first], home: first });
});

test("somebody moved to where their identifier of the source system is taken leaves it behind", async () => {
  await make.person({ school: second, sourceSystemIdentifier: "same" });
  const personId = await make.person({ school: first, sourceSystemIdentifier: "same" });
  await move(personId, second);
  expect(await findPerson(db, personId)).toMatchObject({ homeSchoolId: second, sourceSystemIdentifier: null });
});

test("a soft-deleted or unknown person goes nowhere", async () => {
  const gone = await make.person({ schools: [first, second], status: "SOFT_DELETED" });
  const ways = (id: PersonId) => [
    () => go(joinSchool, id, third),
    () => go(leaveSchool, id, second),
    () => go(setHomeSchool, id, second),
    () => move(id, third),
  ];
  for (const way of ways(gone))
    await expect(way()).rejects.toMatchObject({ kind: "conflict", code: "person_wrong_status" });
  for (const way of ways(never as PersonId))
    await expect(way()).rejects.toMatchObject({ kind: "not_found", code: "person_not_found" });
});

test("a move is told in the audit step by step", async () => {
  const personId = await make.person({ school: first });
  await move(personId, second);
  const lines = await db.prisma.audit.findMany({
    where: { personId, actorId: "operator" },
    orderBy: { action: "asc" },
    select: { action: true, schoolId: true },
  });
  expect(lines).toEqual([
    { action: "affiliation_added", schoolId: second },
    { action: "affiliation_removed", schoolId: first },
    { action: "home_school_changed", schoolId: second },
  ]);
});
