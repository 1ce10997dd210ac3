import { existsSync } from "node:fs";
import { readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import { makeTemporaryPath } from "../../../src/platform/temporary-files.ts";
import { plainTemplate } from "../../../src/imports/index.ts";
import { idsOf, makeStaff, refusalOf, type AdminClient, type Sent, readPages } from "../../support/admin.ts";
import { expectDescribed } from "../../support/described.ts";
import { rosterOf as csv, rosterType, untilDone } from "../../support/import-office.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { waitForTest, whileStopped } from "../../support/standstill.ts";
import { listUploads } from "../../support/uploads.ts";
import { zip } from "../../imports/rosters.ts";

const service = await startService();
const { db } = service;
const make = makeMakers(db);
const nowhere = "00000000-0000-4000-8000-00000000dead";

await db.pool.query(`${waitForTest};
    CREATE TRIGGER wait_for_test BEFORE INSERT ON staged_person FOR EACH STATEMENT EXECUTE FUNCTION wait_for_test()`);
const [school, other] = [await make.school({ officialId: "DE-1" }), await make.school({ officialId: "DE-2" })];
const operator = (await makeStaff(service, "OPERATOR")).call;
const office = (await makeStaff(service, "SECRETARY", { schoolIds: [school] })).call;
const support = (await makeStaff(service, "SUPPORT", { schoolIds: [school] })).call;
const foreign = (await makeStaff(service, "SECRETARY", { schoolIds: [other] })).call;

type Shown = {
  id: string;
  state: string;
  leavers: number;
  errorCount: number;
  fileName: string;
  progress: { phase: string; percent: number } | null;
  schools: { id: string; people: Record<string, number>; groups: Record<string, number> }[];
};
type Fault = { file: string; line: number; column: number; code: string; text: string | null; remedy: string };

const header = "id;role;first_name;last_name;classes";
const handIn = (call: AdminClient, file: Buffer, { query = "", headers = {}, at = school as string } = {}) =>
  call("POST", `/imports?school=${at}${query}`, { body: file, headers: { ...rosterType, ...headers } });
const shown = (sent: Sent) => sent.body as Shown;
const read = async (id: string, call = office) => shown(await call("GET", `/imports/${id}`));
const faultsOf = async (id: string, call = office, query = "") =>
  (await call("GET", `/imports/${id}/faults${query}`)).body as Fault[];
const countImports = () => db.prisma.import.count();

test("the template becomes an import that waits, with what it does to the school", async () => {
  const sent = await handIn(office, Buffer.from(plainTemplate()), { query: "&file-name=Sch%C3%BCler.csv" });
  expectDescribed("createImport", sent);
  const made = shown(sent);
  expect(made).toMatchObject({
    state: "READY",
    format: "PLAIN",
    mode: "BULK",
    progress: null,
    fileName: "Schüler.csv",
  });
  expect(made.schools).toMatchObject([{ id: school, leavers: 0, people: { created: 4 }, groups: { created: 6 } }]);
  expect(sent.headers.get("location")).toBe(`/admin/v1/imports/${made.id}`);
  const again = await office("GET", `/imports/${made.id}`);
  expectDescribed("getImport", again);
  expect([again.body, again.headers.get("etag")]).toEqual([made, sent.headers.get("etag")]);
  expect(await db.prisma.person.count({ where: { homeSchoolId: school } })).toBe(0);
  const line = await db.prisma.audit.findFirst({ where: { requestId: sent.headers.get("x-request-id") } });
  expect(line).toMatchObject({ action: "import_handed_in", actorRole: "SECRETARY", detail: { importId: made.id } });
  expect(await faultsOf(made.id)).toEqual([]);
});

test("faults are listed with the line itself and what to do, in pages; the lines go after a week", async () => {
  const file = Buffer.from(
    [header, "7;gäste;Jörg;Müßig;5a", "8;student;Zoë;Ångström;5a", "8;student;Än\u0000ne;Ö;5a", ""].join("\r\n"),
    "latin1",
  );
  const sent = await handIn(office, file, { query: "&file-name=liste.csv" });
  expectDescribed("createImport", sent);
  const { id, state, errorCount, schools } = shown(sent);
  expect([state, errorCount, schools]).toEqual(["BROKEN", 3, []]);
  const listed = await office("GET", `/imports/${id}/faults`);
  expectDescribed("listImportFaults", listed);
  expect(listed.body).toEqual([
    expect.objectContaining({
      line: 2,
      column: 2,
      field: "role",
      code: "unknown_role",
      text: "7;gäste;Jörg;Müßig;5a",
    }),
    expect.objectContaining({ line: 4, column: 1, code: "id_twice", text: "8;student;Än\ufffdne;Ö;5a" }),
    expect.objectContaining({ line: 4, column: 3, code: "value_unreadable" }),
  ]);
  for (const { file: name, remedy } of listed.body as Fault[]) {
    expect(name).toBe("liste.csv");
    expect(remedy).not.toBe("");
  }
  const pages = await readPages(office, `/imports/${id}/faults?limit=2`);
  expect([pages.length, pages.flat()]).toEqual([2, listed.body]);
  const before = service.clock();
  service.clock.forwardSeconds(8 * 86_400);
  await service.runJob("imports.sweep");
  service.clock.set(before);
  expect((await faultsOf(id)).map(({ text }) => text)).toEqual([null, null, null]);
});

test("a file that a killed process left behind is removed after a day, one of another process in use is not", async () => {
  const names = ["old", "new"].map((age) => `schultor-upload-${age}-${process.pid}`);
  const [old, young] = names.map((name) => join(tmpdir(), name)) as [string, string];
  for (const path of [old, young]) await writeFile(path, "1;student;Ada;Beispiel;5a");
  const before = new Date(systemClock().getTime() - 25 * 3_600_000);
  await utimes(old, before, before);
  const now = service.clock();
  service.clock.forwardSeconds(2 * 365 * 86_400);
  await service.runJob("http.sweepUploads");
  service.clock.set(now);
  const left = (await readdir(tmpdir())).filter((name) => names.includes(name));
  await rm(young);
  expect(left).toEqual([names[1]]);
});

test("at its start a process removes the files of killed ones, also of one that had its own number", async () => {
  const mine = makeTemporaryPath();
  const [, start, rest] = /-(\d+)(-\w{8}-\w{4}-\w{4}-\w{4}-\w{12})$/.exec(mine)!;
  const sameNumber = mine.replace(`-${start}${rest}`, `-1${rest}`);
  const ended = mine.replace(`-${process.pid}-${start}`, `-${2 ** 30}-${start}`);
  const otherMachine = ended.replace(/upload-\w{8}/, "upload-00000000");
  const paths = [mine, sameNumber, ended, otherMachine];
  for (const path of paths) await writeFile(path, "1;student;Ada;Beispiel;5a");
  await service.runJob("http.sweepUploads");
  const left = paths.filter((path) => existsSync(path));
  for (const path of left) await rm(path);
  expect(left).toEqual([mine, otherMachine]);
});

test("a file that comes with a wrong parameter leaves nothing behind", async () => {
  const before = await listUploads();
  const query = `&carry-over=${encodeURIComponent("a=c\nb=c")}&school-year=2026`;
  expect(refusalOf(await handIn(office, csv("1;student;Ada;Muster;5a"), { query }))).toEqual([400, "invalid_request"]);
  expect((await listUploads()).filter((name) => !before.includes(name))).toEqual([]);
});

test("the line of a fault in JSON is the part around it, and in an archive that of its file", async () => {
  const person = { pid: "p1", person: { name: { vorname: "Äda", familienname: "Ö" } }, personenkontexte: [] };
  const broken = JSON.stringify([
    { ...person, filler: "x".repeat(5000) },
    { ...person, pid: [7] },
  ]);
  const json = shown(await handIn(office, Buffer.from(broken)));
  expect(json.state).toBe("BROKEN");
  const [fault] = await faultsOf(json.id);
  expect(fault!.text).toContain('"pid":[7]');
  expect(fault!.text!.length).toBeLessThanOrEqual(600);
  const archive = await zip({
    "orgs.csv": "sourcedId,name,type,identifier\no1,A,school,DE-1\n",
    "users.csv": "sourcedId,orgSourcedIds,role,givenName,familyName\nu1,o1,pirate,Änne,Öz\n",
    "classes.csv": "sourcedId,title,classType,schoolSourcedId\n",
    "enrollments.csv": "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\n",
  });
  const zipped = shown(await handIn(office, archive));
  expect(await faultsOf(zipped.id)).toMatchObject([{ file: "users.csv", line: 2, text: "u1,o1,pirate,Änne,Öz" }]);
});

test("a roster that names a school out of reach is refused, and nothing of it is kept", async () => {
  const before = await countImports();
  const archive = await zip({
    "orgs.csv": "sourcedId,name,type,identifier\no1,A,school,DE-1\no2,B,school,DE-2\n",
    "users.csv": "sourcedId,orgSourcedIds,role,givenName,familyName\nu1,o1,student,Ada,B\nu2,o2,student,Cem,D\n",
    "classes.csv": "sourcedId,title,classType,schoolSourcedId\n",
    "enrollments.csv": "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\n",
  });
  const refused = await office("POST", "/imports", { body: archive, headers: rosterType });
  expectDescribed("createImport", refused);
  expect(refusalOf(refused)).toEqual([403, "school_out_of_reach"]);
  expect([await countImports(), await db.prisma.stagedPerson.count({ where: { schoolId: other } })]).toEqual([
    before,
    0,
  ]);
  const whole = shown(await operator("POST", "/imports", { body: archive, headers: rosterType }));
  expect(whole.schools.map(({ id }) => id)).toEqual([school, other].sort());
  for (const call of [office, foreign, support])
    for (const path of [`/imports/${whole.id}`, `/imports/${whole.id}/faults`])
      expect(refusalOf(await call("GET", path))).toEqual([404, "import_not_found"]);
  const late = shown(await office("POST", "/imports?in-background=true", { body: archive, headers: rosterType }));
  expect(await untilDone(office, late.id)).toMatchObject({ state: "BROKEN" });
  expect(await faultsOf(late.id)).toMatchObject([{ code: "school_out_of_reach", line: 1, column: null }]);
  expect(refusalOf(await foreign("GET", `/imports/${late.id}`))).toEqual([404, "import_not_found"]);
});

test("a file goes on being read behind the answer, and is READING until it is compared", async () => {
  let sent!: Sent;
  await whileStopped(db, async () => {
    sent = await handIn(office, csv("1;student;Ada;Ä;5a"), { query: "&in-background=true" });
    expectDescribed("createImport", sent);
    const phase = expect.stringMatching("WAITING|READING") as string;
    const percent = expect.any(Number) as number;
    expect(shown(sent)).toMatchObject({ state: "READING", progress: { phase, percent }, schools: [] });
  });
  const read = await untilDone(office, shown(sent).id);
  expect(read).toMatchObject({ state: "READY", schools: [{ people: { created: 1 } }] });
});

test("an interrupted reading ends with a fault", async () => {
  const { id } = shown(await handIn(office, csv("1;student;Ada;Ä;5a")));
  const progressAt = new Date(service.clock().getTime() - 3_600_000);
  await db.prisma.import.update({ where: { id }, data: { progressPhase: "READING", progressPercent: 1, progressAt } });
  await service.runJob("imports.sweep");
  expect(await read(id)).toMatchObject({ state: "BROKEN", progress: null, errorCount: 1 });
  expect(await faultsOf(id)).toMatchObject([{ code: "import_failed", text: null }]);
});

test("what is no roster, or contradicts the call, is refused and leaves nothing", async () => {
  const before = await countImports();
  const refused: [string, Parameters<AdminClient>[2], string][] = [
    ["/imports", { body: csv("1;student;Ada;Ä;5a") }, "school_missing"],
    [`/imports?school=${school}&format=ONEROSTER`, { body: csv() }, "format_differs"],
    [`/imports?school=${school}`, { body: await zip({ "notes.csv": "a" }) }, "archive_refused"],
    [`/imports?school=${school}`, { body: Buffer.from("PK\x03\x04 but no zip") }, "archive_refused"],
    [`/imports?school=${school}&carry-over=class%3A5a%3Dclass%3A6a`, { body: csv() }, "school_year_missing"],
    [`/imports?school=${school}&school-year=2026&carry-over=a%3Db`, { body: csv() }, "carry_over_unknown"],
    [`/imports?school=${school}`, {}, "file_empty"],
    [`/imports?school=${school}&file-name=a%0Ab`, { body: csv() }, "invalid_request"],
    [`/imports?school=${school}&mode=SOME`, { body: csv() }, "invalid_request"],
  ];
  for (const [path, given, code] of refused) {
    const sent = await office("POST", path, { headers: rosterType, ...given });
    expect([path, ...refusalOf(sent)]).toEqual([path, 400, code]);
    expectDescribed("createImport", sent);
  }
  const asJson = await office("POST", `/imports?school=${school}`, { body: { no: "file" } });
  expect(refusalOf(asJson)[0]).toBe(415);
  expect(await countImports()).toBe(before);
});

test("the same request again gets the import of the first; another file under its key is refused", async () => {
  const headers = { "Idempotency-Key": "import-1" };
  const file = csv("1;student;Ada;Ä;5a");
  const before = await countImports();
  const made = await handIn(office, file, { headers });
  const again = await handIn(office, file, { headers });
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect([again.status, again.body]).toEqual([201, made.body]);
  expect(refusalOf(await handIn(office, csv("2;student;Bo;B;5a"), { headers }))).toEqual([
    422,
    "idempotency_key_reused",
  ]);
  expect(await countImports()).toBe(before + 1);
  const both = { "Idempotency-Key": "import-2" };
  const two = await Promise.all([handIn(office, file, { headers: both }), handIn(office, file, { headers: both })]);
  expect(new Set(two.map((sent) => shown(sent).id)).size).toBe(1);
  expect(await countImports()).toBe(before + 2);
});

test("imports are listed by school and state, in pages, within the reach of the caller", async () => {
  const at = await make.school();
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [at] });
  const ids: string[] = [];
  for (const row of ["1;student;Ada;A;5a", "1;guest;Ada;A;5a", "2;student;Bo;B;5a"]) {
    service.clock.forwardSeconds(1);
    ids.unshift(shown(await handIn(call, csv(row), { at })).id);
  }
  const listed = await call("GET", `/imports?school=${at}`);
  expectDescribed("listImports", listed);
  expect(idsOf(listed)).toEqual(ids);
  expect(idsOf(await call("GET", "/imports"))).toEqual(ids);
  expect(idsOf(await call("GET", `/imports?state=BROKEN`))).toEqual([ids[1]]);
  expect(idsOf(await operator("GET", `/imports?school=${at}&state=READY`))).toEqual([ids[0], ids[2]]);
  expect(idsOf(await foreign("GET", "/imports"))).toEqual([]);
  const pages = await readPages<{ id: string }>(call, "/imports?limit=2");
  expect(pages.map((page) => page.map(({ id }) => id))).toEqual([ids.slice(0, 2), ids.slice(2)]);
  for (const where of [at, nowhere])
    expect(refusalOf(await foreign("GET", `/imports?school=${where}`))).toEqual([404, "school_not_found"]);
});

test("several groups are carried over, also those with a comma in their name", async () => {
  const at = await make.school();
  const { call } = await makeStaff(service, "SECRETARY", { schoolIds: [at] });
  const carry = encodeURIComponent("class:5a=class:6a\nclass:5b=class:6b, c");
  const sent = await handIn(call, csv("1;student;Ada;Ä;6a", "2;student;Bo;B;6b, c"), {
    at,
    query: `&school-year=2026%2F27&carry-over=${carry}`,
  });
  expect([sent.status, shown(sent).state]).toEqual([201, "READY"]);
  const staged = await db.prisma.stagedGroup.findMany({
    where: { importId: shown(sent).id },
    orderBy: { sourceId: "asc" },
    select: { sourceId: true, previousSourceId: true },
  });
  expect(staged).toEqual([
    { sourceId: "class:6a", previousSourceId: "class:5a" },
    { sourceId: "class:6b, c", previousSourceId: "class:5b" },
  ]);
});
