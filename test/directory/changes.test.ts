import { expect, test } from "vitest";
import {
  addMembership,
  createPerson,
  deleteGroup,
  deletePerson,
  removeMembership,
  restoreGroup,
  restorePerson,
  softDeletePerson,
} from "../../src/directory/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import { withTransaction } from "../../src/platform/db.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";

const db = await testDatabase();
const make = makeMakers(db);
const school = await make.school();
const origin = { at: new Date("2026-03-01T10:00:00Z"), actorId: "operator" };

const softDelete = (personId: PersonId) => withTransaction(db, (tx) => softDeletePerson(tx, { personId, restoreWindowDays: 30 }, origin));
const restore = (personId: PersonId) => withTransaction(db, (tx) => restorePerson(tx, personId, origin));
const purge = (personId: PersonId) => withTransaction(db, (tx) => deletePerson(tx, personId, origin));
const find = (id: PersonId) => db.prisma.person.findUnique({ where: { id }, include: { affiliations: { include: { memberships: true } } } });

test("a soft-deleted person is kept with their groups until the purge and comes back unchanged", async () => {
  const group = await make.group({ school });
  const id = await make.person({ school, groups: [group] });
  const before = await find(id);
  await softDelete(id);
  expect(await find(id)).toMatchObject({ status: "SOFT_DELETED", softDeletedAt: origin.at, purgeAt: new Date("2026-03-31T10:00:00Z") });
  await restore(id);
  expect(await find(id)).toEqual({ ...before, updatedAt: origin.at });
});

test("a person deleted for good leaves no affiliation, membership or sign-in behind", async () => {
  const id = await make.person({ school, groups: [await make.group({ school })], status: "SOFT_DELETED" });
  await make.signIn({ app: (await make.app()).clientId, person: id });
  await purge(id);
  expect(await find(id)).toBeNull();
  for (const table of ["affiliation", "membership", "sign_in"]) {
    const { rowCount } = await db.pool.query(`SELECT FROM ${table} WHERE person_id = $1`, [id]);
    expect(rowCount, table).toBe(0);
  }
});

test("wrong transitions of a person are refused with the reason", async () => {
  const active = await make.person({ school });
  const gone = await make.person({ school, status: "SOFT_DELETED" });
  const never = "00000000-0000-7000-8000-000000000000" as PersonId;
  await expect(softDelete(gone)).rejects.toMatchObject({ kind: "conflict", code: "person_wrong_status" });
  await expect(restore(active)).rejects.toMatchObject({ kind: "conflict", code: "person_wrong_status" });
  await expect(purge(active)).rejects.toMatchObject({ kind: "conflict", code: "person_wrong_status" });
  await expect(softDelete(never)).rejects.toMatchObject({ kind: "not_found", code: "person_not_found" });
});

test("a deleted group keeps its members for its return", async () => {
  const group = await make.group({ school });
  await make.person({ school, groups: [group] });
  await withTransaction(db, (tx) => deleteGroup(tx, group, origin));
  await expect(withTransaction(db, (tx) => deleteGroup(tx, group, origin))).rejects.toMatchObject({ code: "group_wrong_status" });
  await withTransaction(db, (tx) => restoreGroup(tx, group, origin));
  expect(await db.prisma.membership.count({ where: { groupId: group } })).toBe(1);
});

test("a membership takes the person's role unless the group gives another", async () => {
  const group = await make.group({ school });
  const teacher = await make.person({ school, role: "TEACHER", groups: [group] });
  const learner = await make.person({ school, role: "TEACHER" });
  await make.membership({ group, person: learner, role: "STUDENT" });
  const rows = await db.prisma.membership.findMany({ where: { groupId: group }, select: { personId: true, role: true } });
  expect(rows).toEqual(expect.arrayContaining([{ personId: teacher, role: "TEACHER" }, { personId: learner, role: "STUDENT" }]));
});

test("nobody becomes a member of another school's group", async () => {
  const groupId = await make.group({ school: await make.school() });
  const personId = await make.person({ school });
  const adding = withTransaction(db, (tx) => addMembership(tx, { groupId, personId }, origin));
  await expect(adding).rejects.toMatchObject({ code: "person_not_at_school" });
  const removing = withTransaction(db, (tx) => removeMembership(tx, { groupId, personId }, origin));
  await expect(removing).rejects.toMatchObject({ code: "membership_not_found" });
});

test("names are kept without outer white space; empty and endless ones are refused", async () => {
  const create = (last: string) =>
    withTransaction(db, (tx) => createPerson(tx, { schools: [school], role: "STUDENT", name: { firstFull: " Bo ", firstCall: "Bo", last } }, origin));
  expect(await find(await create("Muster "))).toMatchObject({ firstFull: "Bo", last: "Muster" });
  await expect(create(" ")).rejects.toMatchObject({ code: "text_empty" });
  await expect(create("x".repeat(201))).rejects.toMatchObject({ code: "text_too_long" });
});

test("every change leaves an audit line in its own transaction", async () => {
  const id = await make.person({ school });
  await softDelete(id);
  const refused = withTransaction(db, async (tx) => {
    await restorePerson(tx, id, origin);
    throw new Error("changed our mind");
  });
  await expect(refused).rejects.toThrow("changed our mind");
  const lines = await db.prisma.audit.findMany({ where: { personId: id }, orderBy: { action: "asc" }, select: { action: true, actorId: true } });
  expect(lines).toEqual([
    { action: "affiliation_added", actorId: "test" },
    { action: "person_created", actorId: "test" },
    { action: "person_soft_deleted", actorId: "operator" },
  ]);
});
