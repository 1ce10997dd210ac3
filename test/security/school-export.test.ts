import { expect, test } from "vitest";
import { makeClassTeacher, makeStaff, refusalOf, type AdminClient } from "../support/admin.ts";
import { rosterType, untilDone } from "../support/import-office.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { issueAppToken } from "../support/token.ts";

// Who gets a school as a file, and what a file with ids of this service does to people of others.

const service = await startService();
const { db } = service;
const make = makeMakers(db);
const [school, other] = [await make.school(), await make.school()];
const group = await make.group({ school });
const address = (at = school) => `/schools/${at}/roster?format=csv`;
const staff = async (role: Parameters<typeof makeStaff>[1], at = school) =>
  (await makeStaff(service, role, { schoolIds: [at] })).call;
const read = async (token: string | null, at = school) => {
  const response = await fetch(`${service.url}/admin/v1${address(at)}`, {
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
  });
  return { status: response.status, text: await response.text() };
};

test("staff of another school get the same answer for a school as for one that does not exist", async () => {
  for (const role of ["SCHOOL_ADMIN", "SECRETARY", "DISTRICT"] as const) {
    const call = await staff(role, other);
    expect(refusalOf(await call("GET", address()))).toEqual([404, "school_not_found"]);
    expect(refusalOf(await call("GET", "/schools/a0000000-0000-4000-8000-00000000dead/roster?format=csv"))).toEqual([
      404,
      "school_not_found",
    ]);
  }
});

test("class teachers, support and partners get no file of a school that they see", async () => {
  const { call: teacher } = await makeClassTeacher(service, { school, groups: [group] });
  const app = await make.app();
  const partner = (await makeStaff(service, "PARTNER", { clientIds: [app.clientId] })).call;
  for (const call of [teacher, await staff("SUPPORT"), partner])
    expect((await call("GET", address())).status).toBe(403);
  expect(await db.prisma.audit.count({ where: { schoolId: school, action: "roster_exported" } })).toBe(0);
});

test("a token of an app that reads the school gets no file, and neither does no token", async () => {
  const app = await make.app({ scopes: ["schools:read", "people:read", "groups:read", "oneroster:read"] });
  await make.grant({ app: app.clientId, school });
  const token = await issueAppToken(service, app as never, ["schools:read", "people:read"]);
  expect((await read(token)).status).toBe(403);
  expect((await read(null)).status).toBe(401);
});

test("a file of a school where somebody is a guest has neither their source id nor their user name, nor another group", async () => {
  const guest = await make.person({ schools: [other, school], sourceSystemIdentifier: "home-4711", groups: [group] });
  await make.membership({ group: await make.group({ school: other, name: "Elsewhere" }), person: guest });
  await db.prisma.credential.create({ data: { personId: guest, username: "guest.name", updatedAt: service.clock() } });
  const { app } = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
  const token = await issueAppToken(service, app, ["admin:read"]);
  for (const format of ["csv", "schulconnex"]) {
    const response = await fetch(`${service.url}/admin/v1/schools/${school}/roster?format=${format}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const text = await response.text();
    expect(text).toContain(guest);
    expect(text).not.toMatch(/home-4711|guest\.name|Elsewhere/);
    expect(text).not.toContain(other);
  }
});

test("a cell that a spreadsheet would run is escaped in the table and in the archive's files", async () => {
  const last = '=HYPERLINK("http://attacker")';
  await make.person({ school, name: { firstFull: "+1", firstCall: "@SUM(1)", last }, sourceSystemIdentifier: "-2+3" });
  const { app } = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
  const { text } = await read(await issueAppToken(service, app, ["admin:read"]));
  const cells = text.split("\n").flatMap((line) => line.split(";"));
  expect(cells.filter((cell) => /^"?[=+\-@]/.test(cell))).toEqual([]);
  expect(text).toContain("'-2+3;student;'+1;'@SUM(1);");
});

/** Imports a file for the school and returns it when it is read. */
async function preview(call: AdminClient, rows: string[]) {
  const body = Buffer.from(["id;role;first_name;last_name;classes", ...rows, ""].join("\n"));
  const sent = await call("POST", `/imports?school=${school}&mode=DELTA`, { body, headers: rosterType });
  return untilDone<{ notes: Record<string, number>; schools: { people: Record<string, number> }[] }>(
    call,
    (sent.body as { id: string }).id,
  );
}

test("a file that names people of another school by their ids here says nothing of them and does not change them", async () => {
  const foreign = await make.person({ school: other });
  const call = await staff("SECRETARY");
  const unknown = "b0000000-0000-4000-8000-00000000dead";
  for (const id of [foreign, unknown]) {
    const { notes, schools } = await preview(call, [`${id};student;Eve;Evil;5a`]);
    expect([notes, schools[0]?.people["created"]]).toEqual([{}, 1]);
  }
});

test("a file that names a guest, or somebody made here, by their id changes neither name nor role nor groups", async () => {
  const name = { firstFull: "Ada", firstCall: "Ada", last: "Muster" };
  const guest = await make.person({ schools: [other, school], name, sourceSystemIdentifier: "g-1" });
  const madeHere = await make.person({ school, name });
  const { notes, schools } = await preview(await staff("SECRETARY"), [
    `${guest};teacher;Eve;Evil;5a`,
    `${madeHere};teacher;Eve;Evil;5a`,
  ]);
  expect(notes).toEqual({ made_here: 2 });
  expect(Object.values(schools[0]!.people).every((count) => count === 0)).toBe(true);
});
