import { expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import {
  addMembership,
  createGroup,
  createPerson,
  createSchool,
  deleteGroup,
  deletePerson,
  findPerson,
  findSchool,
  groupTransitions,
  joinSchool,
  leaveSchool,
  movePerson,
  personTransitions,
  removeMembership,
  renameGroup,
  restoreGroup,
  restorePerson,
  setHomeSchool,
  setMembershipRole,
  softDeletePerson,
  updatePerson,
  updateSchool,
} from "../../src/directory/index.ts";
import type {
  Change,
  GroupId,
  GroupStep,
  PersonId,
  PersonStatus,
  PersonStep,
  PersonUpdate,
  SchoolId,
  SchoolUpdate,
} from "../../src/directory/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { asOthers } from "../support/one-connection.ts";

const db = await testDatabase();
const make = makeMakers(db);
const school = await make.school();
const origin = { at: new Date("2026-03-01T10:00:00Z"), actorId: "operator" };
const never = "00000000-0000-7000-8000-000000000000";

const change = <T>(work: (change: Change) => Promise<T>) => changeDirectory(db, origin, work);
const softDelete = (personId: PersonId) => change((it) => softDeletePerson(it, { personId, restoreWindowDays: 30 }));
const restore = (personId: PersonId) => change((it) => restorePerson(it, { personId }));
const deleteForGood = (personId: PersonId) => change((it) => deletePerson(it, { personId, forget: async () => {} }));
const update = (wishes: PersonUpdate) => change((it) => updatePerson(it, wishes));
const find = (id: PersonId) =>
  db.prisma.person.findUnique({ where: { id }, include: { affiliations: { include: { memberships: true } } } });
const auditOf = async (where: { personId?: PersonId; schoolId?: SchoolId }) =>
  (await db.prisma.audit.findMany({ where: { ...where, actorId: "operator" }, orderBy: { id: "asc" } })).map(
    ({ action }) => action,
  );

/** How work ends: its result, or the kind and code of its refusal. */
const outcomeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => {
    const { kind, code } = error as { kind: string; code: string };
    return `${kind} ${code}`;
  });

const wrongStatus = (of: "person" | "group", message: string) => ({
  kind: "conflict",
  code: `${of}_wrong_status`,
  message,
});

test("a soft-deleted person is kept with their groups until the purge and comes back unchanged", async () => {
  const group = await make.group({ school });
  const id = await make.person({ school, groups: [group] });
  const before = await find(id);
  expect(await softDelete(id)).toEqual(new Date("2026-03-31T10:00:00Z"));
  expect(await find(id)).toMatchObject({
    status: "SOFT_DELETED",
    softDeletedAt: origin.at,
    purgeAt: new Date("2026-03-31T10:00:00Z"),
  });
  await restore(id);
  expect(await find(id)).toEqual({ ...before, updatedAt: origin.at, retentionFrom: origin.at });
});

test("a person deleted for good leaves nothing but their id and the date", async () => {
  const id = await make.person({ school, groups: [await make.group({ school })], status: "SOFT_DELETED" });
  await make.signIn({ app: (await make.app()).clientId, person: id });
  await deleteForGood(id);
  expect(await find(id)).toBeNull();
  for (const table of ["affiliation", "membership", "sign_in"]) {
    const { rowCount } = await db.pool.query(`SELECT FROM ${table} WHERE person_id = $1`, [id]);
    expect(rowCount, table).toBe(0);
  }
  expect(await db.prisma.tombstone.findUnique({ where: { personId: id }, omit: { personId: true } })).toEqual({
    deletedAt: origin.at,
  });
});

const personSteps: Record<PersonStep, (personId: PersonId) => Promise<unknown>> = {
  change: (personId) => update({ personId, role: "TEACHER" }),
  softDelete,
  restore,
  delete: deleteForGood,
};

test("people do what the table of their status says, and nobody does anything with one who does not exist", async () => {
  for (const status of Object.keys(personTransitions) as PersonStatus[])
    for (const step of Object.keys(personSteps) as PersonStep[]) {
      const transition = personTransitions[status][step];
      const id = await make.person({ school, status });
      const done = personSteps[step](id);
      if ("refused" in transition) await expect(done).rejects.toMatchObject(wrongStatus("person", transition.refused));
      else await done;
      const now = (await find(id))?.status ?? "GONE";
      expect([status, step, now]).toEqual([status, step, "refused" in transition ? status : transition.to]);
    }
  for (const step of Object.values(personSteps))
    expect(await outcomeOf(step(never as PersonId))).toBe("not_found person_not_found");
});

const groupSteps: Record<GroupStep, (groupId: GroupId) => Promise<unknown>> = {
  change: (groupId) => change((it) => renameGroup(it, { groupId, name: "5b" })),
  delete: (groupId) => change((it) => deleteGroup(it, { groupId })),
  restore: (groupId) => change((it) => restoreGroup(it, { groupId })),
};

test("groups do what the table of their status says", async () => {
  for (const status of ["ACTIVE", "DELETED"] as const)
    for (const step of Object.keys(groupSteps) as GroupStep[]) {
      const transition = groupTransitions[status][step];
      const id = await make.group({ school, status });
      const done = groupSteps[step](id);
      if ("refused" in transition) await expect(done).rejects.toMatchObject(wrongStatus("group", transition.refused));
      else await done;
      const group = await db.prisma.group.findUniqueOrThrow({ where: { id } });
      const now = "refused" in transition ? status : transition.to;
      expect([status, step, group.status]).toEqual([status, step, now]);
      expect(group.deletedAt === null).toBe(group.status === "ACTIVE");
    }
  for (const step of Object.values(groupSteps))
    expect(await outcomeOf(step(never as GroupId))).toBe("not_found group_not_found");
});

test("whoever's restore window is over cannot be restored, though the purge is late", async () => {
  const personId = await make.person({ school });
  await change((it) => softDeletePerson(it, { personId, restoreWindowDays: 0 }));
  expect(await outcomeOf(restore(personId))).toBe("conflict restore_window_over");
});

test("an update changes what is given and says what differs; one that changes nothing writes nothing", async () => {
  const personId = await make.person({ school, sourceSystemIdentifier: "s-1" });
  const name = { firstFull: "Bo Emil", firstCall: "Bo", last: "Neu" };
  expect(await update({ personId, name, role: "TEACHER" })).toEqual(["role", "firstFull", "firstCall", "last"]);
  expect(await find(personId)).toMatchObject({
    ...name,
    role: "TEACHER",
    sourceSystemIdentifier: "s-1",
    updatedAt: origin.at,
  });
  expect(await update({ personId, name, role: "TEACHER", sourceSystemIdentifier: "s-1" })).toEqual([]);
  expect(await update({ personId, name: null, sourceSystemIdentifier: null })).toEqual([
    "firstFull",
    "firstCall",
    "last",
    "sourceSystemIdentifier",
  ]);
  expect(await auditOf({ personId })).toEqual(["person_updated", "person_updated"]);
});

test("a new role is the role in the groups too, where the group gave no other", async () => {
  const [own, other] = [await make.group({ school }), await make.group({ school })];
  const personId = await make.person({ school, role: "STUDENT", groups: [own] });
  await make.membership({ group: other, person: personId, role: "OTHER" });
  await update({ personId, role: "TEACHER" });
  const { groups } = (await findPerson(db, personId))!;
  expect(new Map(groups.map(({ id, role }) => [id, role]))).toEqual(
    new Map([
      [own, "TEACHER"],
      [other, "OTHER"],
    ]),
  );
});

test("a school changes its name, address, level and official id; wrong ones are refused with the reason", async () => {
  const schoolId = await make.school({ officialId: "DE-NI-7" });
  const updateIt = (wishes: Omit<SchoolUpdate, "schoolId">) =>
    change((it) => updateSchool(it, { schoolId, ...wishes }));
  const before = (await findSchool(db, schoolId))!;
  expect(await updateIt({ name: "Ärzteschule", address: { city: "Stade" }, schoolingLevel: null })).toEqual([
    "name",
    "city",
    "schoolingLevel",
  ]);
  expect(await findSchool(db, schoolId)).toEqual({
    ...before,
    name: "Ärzteschule",
    schoolingLevel: null,
    address: { ...before.address, city: "Stade" },
  });
  expect(await updateIt({ name: " Ärzteschule " })).toEqual([]);
  await make.school({ officialId: "DE-NI-8" });
  expect([
    await outcomeOf(updateIt({ location: { country: "Germany" } })),
    await outcomeOf(updateIt({ schoolingLevel: "primary school" })),
    await outcomeOf(updateIt({ officialId: "DE-NI-8" })),
    await outcomeOf(change((it) => updateSchool(it, { schoolId: never as SchoolId, name: "X" }))),
  ]).toEqual([
    "invalid text_malformed",
    "invalid text_malformed",
    "conflict official_id_taken",
    "not_found school_not_found",
  ]);
  expect(await auditOf({ schoolId })).toEqual(["school_updated"]);
});

test("nothing is made at a school that does not exist, nor twice under one id", async () => {
  expect([
    await outcomeOf(make.group({ school: never as SchoolId })),
    await outcomeOf(make.person({ school: never as SchoolId })),
    await outcomeOf(make.school({ id: school })),
    await outcomeOf(make.person({ school, id: await make.person({ school }) })),
    await outcomeOf(make.group({ school, id: await make.group({ school }) })),
  ]).toEqual([
    ...["not_found school_not_found", "not_found school_not_found"],
    ...["conflict id_taken", "conflict id_taken", "conflict id_taken"],
  ]);
});

test("a group takes its new name to its place in lists; the same name writes nothing", async () => {
  const groupId = await make.group({ school, name: "5a" });
  const rename = (name: string) => change((it) => renameGroup(it, { groupId, name }));
  expect([await rename("6a"), await rename(" 6a ")]).toEqual([true, false]);
  const { sortKey } = await db.prisma.group.findUniqueOrThrow({
    where: { id: await make.group({ school, name: "6a" }) },
  });
  expect(await db.prisma.group.findUniqueOrThrow({ where: { id: groupId } })).toMatchObject({ name: "6a", sortKey });
  await expect(rename(" ")).rejects.toMatchObject({ code: "text_empty" });
});

test("a membership takes the person's role unless the group gives another", async () => {
  const group = await make.group({ school });
  const teacher = await make.person({ school, role: "TEACHER", groups: [group] });
  const learner = await make.person({ school, role: "TEACHER" });
  await make.membership({ group, person: learner, role: "STUDENT" });
  const rows = await db.prisma.membership.findMany({
    where: { groupId: group },
    select: { personId: true, role: true },
  });
  expect(rows).toEqual(
    expect.arrayContaining([
      { personId: teacher, role: "TEACHER" },
      { personId: learner, role: "STUDENT" },
    ]),
  );
  const setRole = () => change((it) => setMembershipRole(it, { groupId: group, personId: teacher, role: "STUDENT" }));
  expect([await setRole(), await setRole()]).toEqual([true, false]);
});

test("memberships need a person of the school and a group, and both as they are", async () => {
  const [groupId, deleted] = [await make.group({ school }), await make.group({ school, status: "DELETED" })];
  const [member, stranger] = [
    await make.person({ school, groups: [groupId, deleted] }),
    await make.person({ school: await make.school() }),
  ];
  const gone = await make.person({ school, groups: [groupId], status: "SOFT_DELETED" });
  const ways = {
    add: (of: { groupId: GroupId; personId: PersonId }) => change((it) => addMembership(it, of)),
    remove: (of: { groupId: GroupId; personId: PersonId }) => change((it) => removeMembership(it, of)),
    setRole: (of: { groupId: GroupId; personId: PersonId }) =>
      change((it) => setMembershipRole(it, { ...of, role: "TEACHER" })),
  };
  const outcomes = [
    await outcomeOf(ways.add({ groupId, personId: stranger })),
    await outcomeOf(ways.add({ groupId, personId: member })),
    await outcomeOf(ways.remove({ groupId, personId: stranger })),
    await outcomeOf(ways.setRole({ groupId, personId: stranger })),
  ];
  expect(outcomes).toEqual([
    "conflict person_not_at_school",
    "conflict membership_exists",
    "not_found membership_not_found",
    "not_found membership_not_found",
  ]);
  for (const way of Object.values(ways))
    expect([
      await outcomeOf(way({ groupId, personId: gone })),
      await outcomeOf(way({ groupId: deleted, personId: member })),
      await outcomeOf(way({ groupId: never as GroupId, personId: member })),
      await outcomeOf(way({ groupId, personId: never as PersonId })),
    ]).toEqual([
      "conflict person_wrong_status",
      "conflict group_wrong_status",
      "not_found group_not_found",
      "not_found person_not_found",
    ]);
  await ways.remove({ groupId, personId: member });
  expect((await findPerson(db, member))!.groups.map(({ id }) => id)).toEqual([deleted]);
});

test("names are kept without outer white space; empty and endless ones are refused", async () => {
  const create = (last: string) =>
    change((it) =>
      createPerson(it, { schools: [school], role: "STUDENT", name: { firstFull: " Bo ", firstCall: "Bo", last } }),
    );
  expect(await find(await create("Muster "))).toMatchObject({ firstFull: "Bo", last: "Muster" });
  await expect(create(" ")).rejects.toMatchObject({ code: "text_empty" });
  await expect(create("x".repeat(201))).rejects.toMatchObject({ code: "text_too_long" });
  await expect(create("Mu\0ster")).rejects.toMatchObject({ code: "text_unprintable" });
});

test("of several who delete the same person at the same time one does, and the others are told", async () => {
  const id = await make.person({ school });
  const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => softDelete(id)));
  expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const attempt of attempts)
    if (attempt.status === "rejected") expect(attempt.reason).toMatchObject({ code: "person_wrong_status" });
});

test("every change leaves an audit line in its own transaction", async () => {
  const id = await make.person({ school });
  await softDelete(id);
  const refused = change(async (it) => {
    await restorePerson(it, { personId: id });
    throw new Error("changed our mind");
  });
  await expect(refused).rejects.toThrow("changed our mind");
  const lines = await db.prisma.audit.findMany({
    where: { personId: id },
    orderBy: { action: "asc" },
    select: { action: true, actorId: true },
  });
  expect(lines).toEqual([
    { action: "person_created", actorId: "test" },
    { action: "person_soft_deleted", actorId: "operator" },
  ]);
});

test("a school and all that is in it can be made in one change", async () => {
  const made = await change(async (it) => {
    const address = { address: "Weg 1", addressAddition: null, city: "Stade", zipCode: "21680" };
    const schoolId = await createSchool(it, {
      name: "Neue Schule",
      officialId: "DE-NI-NEW",
      address,
      location: { country: "DE", state: "NI" },
      schoolingLevel: null,
    });
    const groupId = await createGroup(it, { schoolId, name: "1a", type: "KLASSE" });
    const personId = await createPerson(it, { schools: [schoolId], role: "STUDENT", name: null });
    await addMembership(it, { groupId, personId });
    return { schoolId, groupId, personId };
  });
  expect(await findPerson(db, made.personId)).toMatchObject({
    homeSchoolId: made.schoolId,
    groups: [{ id: made.groupId }],
  });
});

const move = (personId: PersonId, to: SchoolId, from?: SchoolId) =>
  change((it) => movePerson(it, { personId, to, from }));

async function placesOf(personId: PersonId) {
  const { schools, homeSchoolId } = (await findPerson(db, personId))!;
  return { schools: schools.map(({ id }) => id).toSorted(), home: homeSchoolId };
}

test("a move from a school that is not home leaves the home, also to a school where the person is already", async () => {
  const [second, third] = [await make.school(), await make.school()];
  const personId = await make.person({ schools: [school, second] });
  await move(personId, third, second);
  expect(await placesOf(personId)).toEqual({ schools: [school, third].toSorted(), home: school });
  await move(personId, third);
  expect(await placesOf(personId)).toEqual({ schools: [third], home: third });
});

test("a way that does not fit where the person is, is refused and changes nothing", async () => {
  const [second, third] = [await make.school(), await make.school()];
  const personId = await make.person({ school });
  const refusals = [
    await outcomeOf(change((it) => joinSchool(it, { personId, schoolId: school }))),
    await outcomeOf(change((it) => joinSchool(it, { personId, schoolId: never as SchoolId }))),
    await outcomeOf(change((it) => leaveSchool(it, { personId, schoolId: second }))),
    await outcomeOf(change((it) => setHomeSchool(it, { personId, schoolId: second }))),
    await outcomeOf(move(personId, school)),
    await outcomeOf(move(personId, third, second)),
    await outcomeOf(move(personId, never as SchoolId)),
  ];
  expect(refusals).toEqual([
    "conflict person_at_school",
    "not_found school_not_found",
    "not_found affiliation_not_found",
    "not_found affiliation_not_found",
    "invalid move_to_same_school",
    "not_found affiliation_not_found",
    "not_found school_not_found",
  ]);
  expect(await placesOf(personId)).toEqual({ schools: [school], home: school });
});

const renameSchool = (it: Change, id: SchoolId, to: string) =>
  it.tx.prisma.school.update({ where: { id }, data: { name: to } });

test("changes that meet in a deadlock within Prisma Client are run again", async () => {
  const [left, right] = [await make.school(), await make.school()];
  let [attempts, holding] = [0, 0];
  const both = Promise.withResolvers<null>();
  const runs: Promise<void>[] = [];
  const run = (first: SchoolId, then: SchoolId, to: string) =>
    change(async (it) => {
      attempts += 1;
      // The row of the one that failed is free; the other takes it first.
      if (attempts > 2) await Promise.race(runs);
      await renameSchool(it, first, to);
      holding += 1;
      if (holding === 2) both.resolve(null);
      await both.promise;
      await renameSchool(it, then, to);
    });
  runs.push(run(left, right, "one"), run(right, left, "other"));
  await Promise.all(runs);
  expect(attempts).toBe(3);
  const names = await db.prisma.school.findMany({ where: { id: { in: [left, right] } }, select: { name: true } });
  expect(new Set(names.map((row) => row.name)).size).toBe(1);
});

test("a change whose write through Prisma Client waits too long for a lock is refused as busy", async () => {
  const busy = await make.school();
  await change(async (it) => {
    await renameSchool(it, busy, "held");
    const waiting = asOthers(() =>
      change(async (late) => {
        await late.tx.query("SET LOCAL lock_timeout = '50ms'");
        await renameSchool(late, busy, "late");
      }),
    );
    await expect(waiting).rejects.toMatchObject({ kind: "unavailable", code: "school_busy" });
  });
});
