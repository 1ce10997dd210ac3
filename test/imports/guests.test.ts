import { expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import { joinSchool, type PersonId, type SchoolId } from "../../src/directory/index.ts";
import { makeStaff, refusalOf } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { getAppToken } from "../support/token.ts";
import { makeImporter, origin, zip } from "./rosters.ts";

const service = await startService();
const { db } = service;
const make = makeMakers(db);
const { run } = makeImporter(db);
const header = "id;role;first_name;last_name;classes;status\n";
const filler = [1, 2, 3, 4].map((n) => `f${n};student;Fill;Er;5x;\n`).join("");

let schools = 0;
const makeSchool = async () => {
  const officialId = `DE-GU-${++schools}`;
  return { id: await make.school({ officialId }), officialId };
};

type School = { id: SchoolId; officialId: string };

/** A teacher of the home school, with the id 7 in its roster, who is a guest at another school. */
async function makeGuest(): Promise<{ home: School; guest: School; tom: PersonId }> {
  const [home, guest] = [await makeSchool(), await makeSchool()];
  await run(`${header}7;teacher;Tom;Test;5x;\n${filler}`, { school: home.id });
  const { id } = await db.prisma.person.findFirstOrThrow({
    where: { homeSchoolId: home.id, sourceSystemIdentifier: "7" },
  });
  const tom = id as PersonId;
  await changeDirectory(db, origin, (change) => joinSchool(change, { personId: tom, schoolId: guest.id }));
  return { home, guest, tom };
}

const recordOf = (personId: PersonId) =>
  db.prisma.person.findUnique({ where: { id: personId }, include: { affiliations: true, credential: true } });
const membershipsOf = (personId: PersonId) => db.prisma.membership.findMany({ where: { personId } });

test.each([
  ["a whole roster with the same id", "BULK", `7;student;Other;Name;5y;\n${filler}`],
  ["a whole roster without the id", "BULK", filler],
  ["changes that delete the id", "DELTA", "7;teacher;Tom;Test;;deleted\n"],
  ["changes that rename the id", "DELTA", "7;student;Other;Name;5y;\n"],
] as const)("%s of a guest school leaves what the home school keeps as it is", async (_what, mode, rows) => {
  const { guest, tom } = await makeGuest();
  await run(header + filler, { school: guest.id });
  const before = [await recordOf(tom), await membershipsOf(tom)];
  await run(header + rows, { school: guest.id, mode });
  expect([await recordOf(tom), await membershipsOf(tom)]).toEqual(before);
});

/** OneRoster 1.1 of several schools. */
const roster = (of: School[], users: string) =>
  zip({
    "manifest.csv": `propertyName,value\noneroster.version,1.1\n${["orgs", "users", "classes", "enrollments"].map((file) => `file.${file},bulk\n`).join("")}`,
    "orgs.csv": `sourcedId,type,identifier\n${of.map(({ officialId }) => `${officialId},school,${officialId}\n`).join("")}`,
    "users.csv": `sourcedId,status,orgSourcedIds,role,givenName,familyName\n${users}`,
    "classes.csv": "sourcedId,title,classType,schoolSourcedId\n",
    "enrollments.csv": "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\n",
  });

test("staff of the guest school import no file that names the home school", async () => {
  const { home, guest, tom } = await makeGuest();
  const { app } = await makeStaff(service, "SECRETARY", { schoolIds: [guest.id] });
  const file = await roster([guest, home], `7,,"${guest.officialId},${home.officialId}",student,Other,Name\n`);
  const before = await recordOf(tom);
  const token = await getAppToken(service, app, ["admin:write"]);
  const response = await fetch(`${service.url}/admin/v1/imports`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/octet-stream" },
    body: new Uint8Array(file),
  });
  const sent = { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
  expect(refusalOf(sent)).toEqual([403, "school_out_of_reach"]);
  expect(await recordOf(tom)).toEqual(before);
});
