import { beforeEach, describe, expect, test } from "vitest";
import type { ClientId } from "../../src/access/index.ts";
import type { PersonId, SchoolId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import {
  findRoles,
  giveRole,
  groupsInReach,
  isGroupReached,
  isReached,
  joinReach,
  withdrawRole,
  type NewRole,
  type StaffRole,
  type StaffRoleId,
} from "../../src/staff/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";

const db = await testDatabase();
const make = makeMakers(db);
const now = new Date("2026-02-03T08:00:00Z");
const later = (days: number) => new Date(now.getTime() + days * 86_400_000);
const origin = { at: now, actorId: "cli" };

type Giver = readonly StaffRole[] | null;
const give = (given: NewRole, giver: Giver = null) =>
  withPrismaTransaction(db, (tx) => giveRole(tx, given, { giver, origin }));
const withdraw = (id: StaffRoleId, giver: Giver = null) =>
  withPrismaTransaction(db, (tx) => withdrawRole(tx, id, { giver, origin }));
const rolesOf = (personId: PersonId, at = now) => findRoles(db, { personId }, at);
const refused = (code: string) => expect.objectContaining({ code });

let school: SchoolId;
let other: SchoolId;
let person: PersonId;
let colleague: PersonId;
let app: ClientId;

beforeEach(async () => {
  await db.prisma.staffRole.deleteMany();
  [school, other] = [await make.school(), await make.school()];
  [person, colleague] = [await make.person({ school }), await make.person({ school })];
  app = (await make.app()).clientId;
});

const adminOf = async (schoolIds: SchoolId[]) => [
  await give({ role: "SCHOOL_ADMIN", holder: { personId: person }, schoolIds }),
];

describe("groups in reach", () => {
  test("where another role reaches the whole school, all its groups are reached", async () => {
    const group = await make.group({ school });
    const teacher = await give({ role: "CLASS_TEACHER", holder: { personId: person }, schoolIds: [school, other] });
    const secretary = await give({ role: "SECRETARY", holder: { personId: person }, schoolIds: [school] });
    const reach = joinReach([teacher, secretary]);
    expect(groupsInReach(reach, school)).toEqual({ all: true });
    expect(groupsInReach(reach, other)).toEqual({ all: false, taughtBy: person });
    expect(await isGroupReached(db, reach, { id: group, schoolId: school })).toBe(true);
  });
});

describe("holding", () => {
  test("a role counts until it ends", async () => {
    const endsAt = later(2);
    await give({ role: "SUPPORT", holder: { personId: person }, schoolIds: [school], reason: "Ticket 17", endsAt });
    expect(await rolesOf(person, later(1))).toHaveLength(1);
    expect(await rolesOf(person, endsAt)).toEqual([]);
  });

  test("nobody who is blocked or soft-deleted holds a role", async () => {
    await adminOf([school]);
    await db.prisma.person.update({ where: { id: person }, data: { blockedAt: now } });
    expect(await rolesOf(person)).toEqual([]);
    await db.prisma.person.update({
      where: { id: person },
      data: { blockedAt: null, status: "SOFT_DELETED", softDeletedAt: now, purgeAt: later(30) },
    });
    expect(await rolesOf(person)).toEqual([]);
  });
});

describe("what a role needs", () => {
  test("a role that is held for all of that, and as long, is refused; one for more or for longer is given", async () => {
    const to = { role: "SECRETARY", holder: { personId: person } } as const;
    await give({ ...to, schoolIds: [school, other], endsAt: later(5) });
    for (const again of [{ schoolIds: [school] }, { schoolIds: [school, other] }])
      await expect(give({ ...to, ...again, endsAt: later(5) })).rejects.toEqual(refused("staff_role_exists"));
    await give({ ...to, schoolIds: [school] });
    await give({ ...to, role: "SCHOOL_ADMIN", schoolIds: [school] });
    expect(await rolesOf(person)).toHaveLength(3);
  });
});

describe("who gives what", () => {
  const toColleague = (role: NewRole["role"], schoolIds: SchoolId[]): NewRole => ({
    role,
    holder: { personId: colleague },
    schoolIds,
    ...(role === "SUPPORT" && { reason: "Ticket 17", endsAt: later(1) }),
    ...(role === "PARTNER" && { clientIds: [app] }),
  });

  test("an admin gives and takes away the roles up to their own at their school, and no other", async () => {
    const giver = await adminOf([school]);
    for (const role of ["SCHOOL_ADMIN", "SECRETARY", "CLASS_TEACHER"] as const)
      await withdraw((await give(toColleague(role, [school]), giver)).id, giver);
    expect(await rolesOf(colleague)).toEqual([]);
    for (const role of ["OPERATOR", "DISTRICT", "PARTNER", "SUPPORT"] as const) {
      const wanted = toColleague(role, role === "OPERATOR" || role === "PARTNER" ? [] : [school]);
      await expect(give(wanted, giver), role).rejects.toEqual(refused("role_beyond_own"));
      const { id } = await give(wanted);
      if (role !== "SUPPORT") await expect(withdraw(id, giver), role).rejects.toEqual(refused("role_beyond_own"));
    }
  });

  test("an admin ends support at their school, and nowhere else", async () => {
    const giver = await adminOf([school]);
    const { id } = await give(toColleague("SUPPORT", [school, other]));
    await withdraw(id, giver);
    expect(await rolesOf(colleague)).toMatchObject([{ role: "SUPPORT", schoolIds: [other] }]);
    await expect(withdraw(id, giver)).rejects.toEqual(refused("role_beyond_own"));
    await withdraw(id, await adminOf([school, other]));
    expect(await rolesOf(colleague)).toEqual([]);
  });

  test("an admin gives nothing at another school, not even together with their own", async () => {
    const giver = await adminOf([school]);
    for (const schoolIds of [[other], [school, other]])
      await expect(give(toColleague("SECRETARY", schoolIds), giver)).rejects.toEqual(refused("role_beyond_own"));
  });

  test("an app that a partner manages gets a role that goes beyond the partner's from an operator, who confirms it", async () => {
    await give({ role: "PARTNER", holder: { personId: colleague }, clientIds: [app] });
    const role = { role: "SECRETARY", holder: { clientId: app }, schoolIds: [school] } as const;
    await expect(give(role)).rejects.toEqual(refused("partners_not_confirmed"));
    await expect(give({ ...role, confirmPartners: true }, await adminOf([school]))).rejects.toEqual(
      refused("role_beyond_own"),
    );
    const operator = [await give({ role: "OPERATOR", holder: { personId: person } })];
    await expect(give(role, operator)).rejects.toEqual(refused("partners_not_confirmed"));
    await give({ ...role, confirmPartners: true }, operator);
    // What the partner may do without the app needs no confirmation.
    await give({ role: "PARTNER", holder: { clientId: app }, clientIds: [app] }, operator);
    await give({ role: "SECRETARY", holder: { personId: colleague }, schoolIds: [other] });
    await give({ role: "SECRETARY", holder: { clientId: app }, schoolIds: [other] }, operator);
  });

  test("the last operator stays, also when two withdraw each other at the same time", async () => {
    const one = await give({ role: "OPERATOR", holder: { personId: person } });
    await expect(withdraw(one.id)).rejects.toEqual(refused("last_operator"));
    const two = await give({ role: "OPERATOR", holder: { personId: colleague } });
    const outcomes = await Promise.allSettled([withdraw(one.id), withdraw(two.id)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await db.prisma.staffRole.count({ where: { role: "OPERATOR" } })).toBe(1);
  });
});

describe("reach", () => {
  test("an operator reaches everything, others what their roles name", async () => {
    const operator = joinReach([await give({ role: "OPERATOR", holder: { personId: person } })]);
    const admin = joinReach(await adminOf([school]));
    expect(isReached(operator, {})).toBe(true);
    expect(isReached(admin, {})).toBe(false);
    expect(isReached(admin, { schools: [other, school] })).toBe(true);
    expect(isReached(admin, { schools: [other] })).toBe(false);
    expect(isReached(admin, { everySchool: [school, other] })).toBe(false);
    expect(isReached(admin, { everySchool: [] })).toBe(false);
    expect(isReached(admin, { clientId: app })).toBe(false);
  });
});
