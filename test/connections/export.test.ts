import fc from "fast-check";
import { expect, test } from "vitest";
import { rosterFormats, type RosterFormat } from "../../src/connections/index.ts";
import type { GroupType, SchoolId } from "../../src/directory/index.ts";
import { admin, makeAdminClient, makeStaff } from "../support/admin.ts";
import { rosterType, untilDone } from "../support/import-office.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { listUploads } from "../support/uploads.ts";
import { issueAppToken } from "../support/token.ts";
import { openArchive } from "../../src/imports/read/zip.ts";
import { writeRoster } from "../imports/rosters.ts";
import { walks, walkTimeoutMs } from "../support/walks.ts";
import { anySchool, makeAnySchool } from "./random-schools.ts";

// A school is exported as a file, and the file is imported again.

const service = await startService();
const { db } = service;
const make = makeMakers(db);
const { app } = await makeStaff(service, "OPERATOR");
const token = await issueAppToken(service, app, ["admin:read", "admin:write"]);
const call = makeAdminClient(service, token);
const formats = Object.keys(rosterFormats) as RosterFormat[];

async function exportSchool(school: SchoolId, format: RosterFormat): Promise<Buffer> {
  const response = await fetch(`${service.url}${admin}/schools/${school}/roster?format=${format}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const file = Buffer.from(await response.arrayBuffer());
  expect(response.status, file.toString()).toBe(200);
  return file;
}

/** The files of an archive, with their names. */
async function unzip(file: Buffer): Promise<string> {
  const archive = await openArchive(await writeRoster(file));
  let text = "";
  for (const one of archive.files.values()) {
    text += `--- ${one.name}\n`;
    for await (const piece of await one.open()) text += String(piece);
  }
  archive.close();
  return text;
}

type Import = {
  id: string;
  state: string;
  schools: { people: object; groups: object; memberships: object }[];
};

async function preview(school: SchoolId, file: Buffer): Promise<Import> {
  const headers = rosterType;
  const sent = await call("POST", `/imports?school=${school}`, { body: new Uint8Array(file), headers });
  expect(sent.status, JSON.stringify(sent.body)).toBe(201);
  const read = await untilDone<Import>(call, (sent.body as Import).id);
  const faults = read.state === "BROKEN" ? (await call("GET", `/imports/${read.id}/faults`)).body : [];
  expect(faults).toEqual([]);
  return read;
}

/** How many of each change there would be; without those that are none. */
const changesOf = ({ schools }: Import): Record<string, number> =>
  Object.fromEntries(
    Object.entries({ people: {}, groups: {}, memberships: {}, ...schools[0] })
      .filter(([kind]) => ["people", "groups", "memberships"].includes(kind))
      .flatMap(([kind, counts]) =>
        Object.entries(counts as object).map(([name, count]) => [`${kind} ${name}`, count as number] as const),
      )
      .filter(([, count]) => count > 0),
  );

test(
  "any school that is exported in any format and imported again is as before",
  () =>
    fc.assert(
      fc.asyncProperty(anySchool, async (wished) => {
        const { school } = await makeAnySchool({ db, make }, wished);
        for (const format of formats) {
          const file = await exportSchool(school, format);
          const read = await preview(school, file);
          expect([format, read.state, changesOf(read)], file.toString()).toEqual([format, "READY", {}]);
          await call("POST", `/imports/${read.id}/cancellation`);
        }
      }),
      walks(60, 3),
    ),
  walkTimeoutMs,
);

/** A school of which each part can change without the others. */
async function makeSchool() {
  const [school, elsewhere] = [await make.school({ name: "Goethe;Schule" }), await make.school()];
  const group = (name: string, type: GroupType, id: string | null) =>
    make.group({ school, name, type, sourceSystemIdentifier: id });
  const [homeroom, course, club, empty, byHand] = [
    await group("5a", "KLASSE", "class:5a"),
    await group("Mathe | 5", "KURS", "k-1"),
    await group("=Schach", "SONSTIG", "s-1"),
    await group("5z", "KLASSE", "class:5z"),
    await group("Chor", "SONSTIG", null),
  ];
  const name = (firstFull: string, last: string) => ({ firstFull, firstCall: firstFull, last });
  const [pupil, teacher] = [
    await make.person({
      school,
      name: { firstFull: "Ada Marie", firstCall: "Ada", last: "=cmd|' /C calc'!A0" },
      sourceSystemIdentifier: "-17",
      groups: [homeroom, course, club, byHand],
    }),
    await make.person({ school, role: "TEACHER", name: name("Dana", 'Öztürk, "D"'), sourceSystemIdentifier: "t|1" }),
  ];
  await make.membership({ group: homeroom, person: teacher, role: "OTHER" });
  await make.membership({ group: club, person: teacher, role: "STUDENT" });
  const madeHere = await make.person({ school, name: name("Cem", "Hier"), groups: [homeroom] });
  const guest = await make.person({
    schools: [elsewhere, school],
    name: name("Gast", "Anderswo"),
    sourceSystemIdentifier: "secret-of-home",
    groups: [homeroom],
  });
  await db.prisma.credential.createMany({
    data: [pupil, guest, teacher, madeHere].map((personId, at) => ({
      personId,
      username: `user.${at}.${school}`,
      updatedAt: new Date(),
    })),
  });
  return { school, elsewhere, pupil, teacher, homeroom, club, empty, madeHere, guest };
}

test.each(formats)("an import of %s changes back what the format can say, and leaves what it lacks", async (format) => {
  const { lacks } = rosterFormats[format];
  const { school, pupil, teacher, club, empty } = await makeSchool();
  const file = await exportSchool(school, format);
  await db.prisma.person.update({ where: { id: teacher }, data: { last: "Neu" } });
  await db.prisma.person.update({ where: { id: pupil }, data: { role: "OTHER" } });
  await db.prisma.membership.update({
    where: { groupId_personId: { groupId: club, personId: teacher } },
    data: { role: "TEACHER" },
  });
  await db.prisma.group.update({ where: { id: empty }, data: { name: "5y" } });
  expect(changesOf(await preview(school, file))).toEqual({
    "people changed": 2,
    ...(!lacks.includes("EMPTY_GROUPS") && { "groups changed": 1 }),
    ...(!lacks.includes("ROLES_IN_GROUPS") && { "memberships changed": 1 }),
  });
  const text = format === "oneroster" ? await unzip(file) : file.toString();
  expect(text.includes(`user.0.${school}`)).toBe(!lacks.includes("USER_NAMES"));
});

test("a file that is applied changes nothing, so that the audit log has no change; people made here and guests are counted", async () => {
  for (const format of formats) {
    const { school } = await makeSchool();
    const { id } = await preview(school, await exportSchool(school, format));
    const countLines = () => db.prisma.audit.count({ where: { NOT: { action: { startsWith: "import_" } } } });
    const lines = await countLines();
    await call("POST", `/imports/${id}/application`, { body: {} });
    const applied = await untilDone<Import & { notes: object }>(call, id);
    expect(applied).toMatchObject({ state: "APPLIED", notes: { made_here: 2 } });
    expect(changesOf(applied)).toEqual({});
    expect(await countLines()).toBe(lines);
  }
});

test("a table without own ids has the headings of the template, and one with them tells its groups apart", async () => {
  const school = await make.school();
  const klass = await make.group({ school, name: "5a", sourceSystemIdentifier: "class:5a" });
  await make.person({
    school,
    name: { firstFull: "Bo", firstCall: "Bo", last: "Muster" },
    sourceSystemIdentifier: "1",
    groups: [klass],
  });
  const table = async () => (await exportSchool(school, "csv")).toString().split("\n");
  expect(await table()).toEqual([
    "\ufeffid;role;first_name;call_name;last_name;username;classes;courses;groups",
    "1;student;Bo;Bo;Muster;;5a;;",
    "",
  ]);
  const twin = await make.group({ school, name: "5a", sourceSystemIdentifier: "k|2" });
  await make.person({
    school,
    name: { firstFull: "Cem", firstCall: "Cem", last: "Nord" },
    sourceSystemIdentifier: "2",
    groups: [twin],
  });
  const [headings, ...rows] = await table();
  expect(headings).toBe("\ufeffid;role;first_name;call_name;last_name;username;classes;class_ids;courses;groups");
  expect(rows).toEqual(["1;student;Bo;Bo;Muster;;5a;class:5a;;", "2;student;Cem;Cem;Nord;;5a;k%7C2;;", ""]);
  const moved = [headings, rows[0], "2;student;Cem;Cem;Nord;;5b;class:5a;;", ""].join("\n");
  const sent = await call("POST", `/imports?school=${school}`, { body: Buffer.from(moved), headers: rosterType });
  const broken = await untilDone<Import>(call, (sent.body as Import).id);
  expect((await call("GET", `/imports/${broken.id}/faults`)).body).toMatchObject([
    { line: 3, field: "classes", code: "group_contradiction" },
  ]);
});

test("OneRoster has the files of version 1.2, which its manifest names, and says what a group is", async () => {
  const { school } = await makeSchool();
  const text = await unzip(await exportSchool(school, "oneroster"));
  expect(text.match(/^--- .*$/gm)).toEqual([
    ...["--- manifest.csv", "--- orgs.csv", "--- academicsessions.csv", "--- courses.csv", "--- users.csv"],
    ...["--- roles.csv", "--- classes.csv", "--- enrollments.csv"],
  ]);
  expect(text.match(/^file\.\w+,bulk$/gm)).toHaveLength(7);
  expect(text).toContain(`${school},,,Goethe;Schule,school,`);
  expect(text).toMatch(/^s-1,,,'=Schach,,course:s-1,,scheduled,,[-\w]+,[-\w]+,,,,SONSTIG$/m);
});

test("an export writes an audit entry, has the same tag for the same school, and leaves no file behind", async () => {
  const { school } = await makeSchool();
  const before = await listUploads();
  const address = `${service.url}${admin}/schools/${school}/roster?format=csv`;
  const headers = { authorization: `Bearer ${token}` };
  const [first, again] = [await fetch(address, { headers }), await fetch(address, { headers })];
  const texts = [Buffer.from(await first.arrayBuffer()), Buffer.from(await again.arrayBuffer())];
  expect(texts[0]).toEqual(texts[1]);
  expect(first.headers.get("etag")).toBe(again.headers.get("etag"));
  expect(Number(first.headers.get("content-length"))).toBe(texts[0]!.length);
  expect(first.headers.get("content-disposition")).toBe('attachment; filename="roster-csv.csv"');
  expect(await listUploads()).toEqual(before);
  const { body } = await call("GET", `/audit?school=${school}&action=roster_exported`);
  expect(body).toMatchObject([{ detail: { format: "csv" } }, { detail: { format: "csv" } }]);
});

test("a school without people, and a format that is unknown or missing", async () => {
  const school = await make.school();
  for (const format of formats) expect((await exportSchool(school, format)).length).toBeGreaterThan(0);
  expect((await exportSchool(school, "schulconnex")).toString()).toBe("[\n]\n");
  for (const query of ["", "?format=xlsx", "?format=CSV"])
    expect((await call("GET", `/schools/${school}/roster${query}`)).status).toBe(400);
});
