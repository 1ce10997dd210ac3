import { beforeEach, expect, test } from "vitest";
import type { PersonId, SchoolId } from "../../../src/directory/index.ts";
import { applyImport, previewImport } from "../../../src/imports/index.ts";
import { type StaffRoleName } from "../../../src/staff/index.ts";
import { rules, writeRoster } from "../../imports/rosters.ts";
import { makeStaff, type AdminClient } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { giveRoleTo } from "../../support/portal.ts";

const service = await startService();
const { db } = service;
const make = makeMakers(db);

let school: SchoolId;
let office: AdminClient;

beforeEach(async () => {
  await db.prisma.staffRole.deleteMany({});
  school = await make.school();
  office = (await makeStaff(service, "SECRETARY", { schoolIds: [school] })).call;
});

const headers = { "content-type": "application/octet-stream" };
const roster = (...names: string[]) =>
  ["id;role;first_name;last_name;classes", ...names.map((name) => `${name};teacher;Kim;${name};`), ""].join("\n");
const everybody = ["Able", "Baker", "Charlie", "Dora", "Emil", "Fritz", "Gero"];

type Shown = { id: string; state: string; leavers: number; schools: { kept: number; people: { removed: number } }[] };

const handIn = async (call: AdminClient, ...names: string[]) =>
  (await call("POST", `/imports?school=${school}`, { body: Buffer.from(roster(...names)), headers })).body as Shown;
const apply = async (call: AdminClient, id: string) => {
  const applied = await call("POST", `/imports/${id}/application`, { body: {} });
  expect(applied.status).toBe(200);
  return applied.body as Shown;
};
const countsOf = ({ leavers, schools: [only] }: Shown) => ({
  leavers,
  removed: only!.people.removed,
  kept: only!.kept,
});

async function startSchool(): Promise<void> {
  await apply(office, (await handIn(office, ...everybody)).id);
}

const find = (last: string) => db.prisma.person.findFirstOrThrow({ where: { homeSchoolId: school, last } });
const statusOf = async (last: string) => (await find(last)).status;

async function give(role: StaffRoleName, last: string): Promise<void> {
  const { id } = await find(last);
  await giveRoleTo(service, id as PersonId, role, role === "OPERATOR" ? {} : { schoolIds: [school] });
}

test("a roster removes nobody whose staff role goes beyond that of who handed it in, and the preview names them", async () => {
  await startSchool();
  await give("SCHOOL_ADMIN", "Able");
  await give("CLASS_TEACHER", "Baker");
  const without = everybody.slice(2);
  const made = await handIn(office, ...without);
  expect([made.state, countsOf(made)]).toEqual(["READY", { leavers: 1, removed: 1, kept: 1 }]);
  const namesAt = async (query: string) =>
    ((await office("GET", `/imports/${made.id}/leavers${query}`)).body as { name: { last: string } }[]).map(
      ({ name }) => name.last,
    );
  expect([await namesAt(""), await namesAt("?kept=true")]).toEqual([["Baker"], ["Able"]]);
  expect(countsOf(await apply(office, made.id))).toEqual({ leavers: 1, removed: 1, kept: 1 });
  expect([await statusOf("Able"), await statusOf("Baker")]).toEqual(["ACTIVE", "SOFT_DELETED"]);
  expect(await db.prisma.affiliation.count({ where: { personId: (await find("Able")).id, schoolId: school } })).toBe(1);

  const again = await apply(office, (await handIn(office, ...without)).id);
  expect(countsOf(again)).toEqual({ leavers: 0, removed: 0, kept: 1 });
  expect(await db.prisma.audit.count({ where: { action: "import_applied", schoolId: school } })).toBe(2);

  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const byAdmin = await apply(call, (await handIn(call, ...without)).id);
  expect([countsOf(byAdmin), await statusOf("Able")]).toEqual([{ leavers: 1, removed: 1, kept: 0 }, "SOFT_DELETED"]);
});

test("who applies the roster of somebody above them removes nobody above them either", async () => {
  await startSchool();
  await give("SCHOOL_ADMIN", "Able");
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const made = await handIn(call, ...everybody.slice(1));
  expect(countsOf(made)).toEqual({ leavers: 1, removed: 1, kept: 0 });
  expect(countsOf(await apply(office, made.id))).toEqual({ leavers: 0, removed: 0, kept: 1 });
  expect(await statusOf("Able")).toBe("ACTIVE");
});

test("no roster removes the last operators, one from the command line neither", async () => {
  await startSchool();
  await give("OPERATOR", "Able");
  await give("OPERATOR", "Baker");
  const origin = { at: service.clock(), actorId: "command-line" };
  const importFile = async (...names: string[]) => {
    const path = await writeRoster(roster(...names));
    const { id } = await previewImport(db, { path, schoolId: school, holdShare: 1 }, origin);
    return (await applyImport(db, id, { ...rules, holdShare: 1 }, origin)).schools[0]!.counts;
  };
  expect(await importFile(...everybody.slice(2))).toMatchObject({ people: { removed: 0 }, kept: 2 });
  expect(await importFile(...everybody.slice(1))).toMatchObject({ people: { removed: 1 }, kept: 0 });
  expect([await statusOf("Able"), await statusOf("Baker")]).toEqual(["SOFT_DELETED", "ACTIVE"]);
  expect(await importFile(...everybody.slice(2))).toMatchObject({ people: { removed: 0 }, kept: 1 });
});
