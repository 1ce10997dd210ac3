import { expect, test } from "vitest";
import { makeStaff, type AdminClient } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { ask, connect as connectSftp, makeClientKey, openSftp, put } from "./sftp-client.ts";
import { makeKelvinUser, replayKelvin } from "./replayed-kelvin.ts";
import { makeSvwsExport, replaySvws } from "./replayed-svws.ts";

const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true", SFTP_PORT: "0" } });
const { db } = service;
const make = makeMakers(db);
const drop = (await service.openRosterDrop())!;

type Run = {
  id: string;
  outcome: string;
  failure: string;
  trigger: string;
  importId: string | null;
  counts: Record<string, number> | null;
};

let schools = 0;
async function makeOffice(officialId: string, name?: string) {
  const school = await make.school({ officialId, ...(name !== undefined && { name }) });
  const call = (await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] })).call;
  return { school, call };
}
async function connect(call: AdminClient, body: object): Promise<string> {
  const sent = await call("POST", "/roster-connections", { body: { applies: "UNLESS_HELD", ...body } });
  expect(sent.status, JSON.stringify(sent.body)).toBe(201);
  return (sent.body as { id: string }).id;
}
const begin = async (call: AdminClient, id: string, what: "runs" | "tests") =>
  (await call("POST", `/roster-connections/${id}/${what}`)).body as Run;
const runsOf = async (call: AdminClient, id: string) =>
  (await call("GET", `/roster-connections/${id}/runs`)).body as Run[];
const switchOn = async (call: AdminClient, id: string) =>
  expect((await call("PATCH", `/roster-connections/${id}`, { body: { state: "ON" } })).status).toBe(204);

/** Each person with role and groups, in one line. */
async function listPeople(school: string): Promise<string[]> {
  const people = await db.prisma.person.findMany({
    where: { homeSchoolId: school, status: "ACTIVE" },
    orderBy: { sourceSystemIdentifier: "asc" },
    include: { affiliations: { include: { memberships: { include: { group: true } } } } },
  });
  return people.map(({ sourceSystemIdentifier: id, last, role, affiliations }) => {
    const groups = affiliations
      .flatMap(({ memberships }) => memberships)
      .map(({ role: inGroup, group }) => `${group.type} ${group.name} as ${inGroup}`)
      .toSorted();
    return [`${id} ${last} ${role}`, ...groups].join(", ");
  });
}

test("SVWS-Server: tested, imported, unchanged, and the next term ends no group", async () => {
  const { school, call } = await makeOffice("100815");
  const exports: Record<number, object> = { 19: makeSvwsExport({ term: 19 }) };
  const { url } = await replaySvws({ exports });
  const id = await connect(call, {
    name: "SVWS",
    kind: "SVWS",
    schoolIds: [school],
    address: url,
    userName: "schultor",
    schema: "gymlinde",
    platform: "4",
    secret: "geheim",
  });
  expect(await begin(call, id, "tests")).toMatchObject({
    outcome: "TESTED",
    counts: { peopleCreated: 5, groupsCreated: 7 },
  });
  expect(await listPeople(school)).toEqual([]);
  expect(await begin(call, id, "runs")).toMatchObject({ outcome: "APPLIED", failure: "NONE" });
  expect(await listPeople(school)).toEqual([
    "pupil:12001 Albrecht STUDENT, KLASSE 5a as STUDENT, KURS 5a D as STUDENT, KURS Chor as STUDENT",
    "pupil:12002 Böhm STUDENT, KLASSE EF as STUDENT, KURS Chor as STUDENT, KURS EF D-GK1 as STUDENT",
    "pupil:12003 Yılmaz STUDENT, KLASSE Q1 as STUDENT, KURS Chor as STUDENT, KURS Q1 D-GK1 as STUDENT",
    "teacher:301 Brandt TEACHER, KLASSE 5a as TEACHER, KURS 5a D as TEACHER, KURS Chor as TEACHER",
    "teacher:302 Özdemir TEACHER, KLASSE Q1 as TEACHER, KURS EF D-GK1 as TEACHER",
  ]);
  exports[19] = makeSvwsExport({ term: 21 });
  expect(await begin(call, id, "runs")).toMatchObject({
    counts: { peopleCreated: 0, peopleChanged: 0, leavers: 0, groupsCreated: 0, groupsRemoved: 0 },
  });
});

test("SVWS-Server: a pupil twice is a fault, changed ids and another school change nothing", async () => {
  const { school, call } = await makeOffice("165712");
  const made = makeSvwsExport({ schulnummer: 165712, term: 19 });
  const exports: Record<number, object> = { 19: made };
  const { url } = await replaySvws({ exports });
  const settings = { address: url, userName: "schultor", schema: "gymlinde", platform: "Schultor", secret: "geheim" };
  const id = await connect(call, { name: "SVWS", kind: "SVWS", schoolIds: [school], ...settings });
  expect(await begin(call, id, "runs")).toMatchObject({ outcome: "APPLIED" });
  const before = await listPeople(school);
  exports[19] = { ...made, schueler: [...made.schueler, made.schueler[0]] };
  expect(await begin(call, id, "runs")).toMatchObject({ outcome: "FAILED", failure: "FAULTS" });
  exports[19] = { ...made, schueler: made.schueler.map((pupil) => ({ ...pupil, id: pupil.id + 500 })) };
  expect(await begin(call, id, "runs")).toMatchObject({ outcome: "HELD", counts: { peopleCreated: 3, leavers: 3 } });
  exports[19] = makeSvwsExport({ schulnummer: 100816, term: 19 });
  expect(await begin(call, id, "runs")).toMatchObject({ outcome: "FAILED", failure: "OTHER_SCHOOL" });
  expect(await listPeople(school)).toEqual(before);
});

test("UCS@school: tested, imported, and parents are no people of the school", async () => {
  const { school, call } = await makeOffice("DE-KELVIN-1", "Gymnasium Mitte");
  const users = [
    makeKelvinUser("aydin", { classes: { "GYM-Mitte": ["7a"] }, groups: { "GYM-Mitte": ["Robotik"] } }),
    makeKelvinUser("fischer", { roles: ["staff", "teacher"], classes: { "GYM-Mitte": ["7a"] } }),
    makeKelvinUser("groß", { roles: ["staff"] }),
    makeKelvinUser("iqbal", { roles: ["legal_guardian"] }),
  ];
  const { url } = await replayKelvin({ users, hasPages: true });
  const id = await connect(call, {
    name: "UCS",
    kind: "KELVIN",
    schoolIds: [school],
    address: url,
    userName: "schultor",
    version: "v2",
    sourceSchool: "GYM-Mitte",
    secret: "geheim",
  });
  expect(await begin(call, id, "tests")).toMatchObject({ outcome: "TESTED", counts: { peopleCreated: 3 } });
  expect(await begin(call, id, "runs")).toMatchObject({ outcome: "APPLIED" });
  expect(await listPeople(school)).toEqual([
    "SIS:rec-aydin aydin STUDENT, KLASSE 7a as STUDENT, SONSTIG Robotik as STUDENT",
    "SIS:rec-fischer fischer TEACHER, KLASSE 7a as TEACHER",
    "SIS:rec-groß groß OTHER",
  ]);
});

test("UCS@school: a school with another name there is held", async () => {
  const { school, call } = await makeOffice("DE-KELVIN-2", "Gymnasium am Wall");
  await make.school({ officialId: "DE-KELVIN-3", name: "Gymnasium Mitte" });
  const { url } = await replayKelvin({ users: [makeKelvinUser("aydin")] });
  const settings = { address: url, userName: "schultor", sourceSchool: "GYM-Mitte", secret: "geheim" };
  const id = await connect(call, { name: "UCS", kind: "KELVIN", schoolIds: [school], ...settings });
  const { outcome, failure } = await begin(call, id, "runs");
  expect([outcome, failure]).not.toContain("APPLIED");
  expect(await listPeople(school)).toEqual([]);
});

const table = (count: number) =>
  [
    "id;role;first_name;last_name;classes",
    ...Array.from({ length: count }, (_, at) => `${at};student;Mia;Albrecht${at};5a`),
    "",
  ].join("\n");

async function makeDrop() {
  const { school, call } = await makeOffice(`DE-SFTP-${++schools}`);
  const key = makeClientKey();
  const { privateKey } = key;
  const publicKeys = `${key.publicKey} export@verwaltung`;
  const id = await connect(call, { name: "Export", kind: "SFTP", schoolIds: [school], publicKeys });
  const open = async () => openSftp(await connectSftp({ port: drop.port, username: id, privateKey }));
  return { school, call, id, key, open };
}

test("SFTP: a file that arrives is imported as any other run, and the same file again is unchanged", async () => {
  const { school, call, id, open } = await makeDrop();
  await switchOn(call, id);
  const sftp = await open();
  expect(await put(sftp, "/Mia Albrecht.csv", table(8))).toBeUndefined();
  expect(await runsOf(call, id)).toMatchObject([
    { trigger: "ARRIVAL", outcome: "APPLIED", counts: { peopleCreated: 8 } },
  ]);
  expect(await listPeople(school)).toHaveLength(8);
  const [{ importId }] = (await runsOf(call, id)) as [Run];
  expect((await call("GET", `/imports/${importId}`)).body).toMatchObject({ fileName: "sftp.csv" });
  expect(await put(sftp, "/b.csv.part", table(8))).toBeUndefined();
  expect(await ask(sftp, "rename", "/b.csv.part", "/b.csv")).toBeUndefined();
  expect((await runsOf(call, id))[0]).toMatchObject({ trigger: "ARRIVAL", outcome: "UNCHANGED" });
});

test("SFTP: half a file, an empty one and one that is no roster are failures with a name, and change nothing", async () => {
  const { school, call, id, open } = await makeDrop();
  await switchOn(call, id);
  const sftp = await open();
  for (const text of [`[{"pid": "1", "person": {`, "", "PK\u0003\u0004 half of an archive"])
    await put(sftp, "/a.json", text);
  expect((await runsOf(call, id)).map(({ failure }) => failure)).toEqual(["HALF", "EMPTY", "HALF"]);
  expect(await begin(call, id, "runs")).toMatchObject({ failure: "NOT_FOUND" });
  expect(await listPeople(school)).toEqual([]);
});

test("SFTP: only a connection that is on takes files, and its keys are checked", async () => {
  const { call, id, key, open } = await makeDrop();
  await expect(open()).rejects.toThrow("All configured authentication methods failed");
  await switchOn(call, id);
  const sftp = await open();
  const other = makeClientKey();
  const change = (body: object) => call("PATCH", `/roster-connections/${id}`, { body });
  expect((await change({ publicKeys: "ssh-rsa AAAA" })).body).toMatchObject({ code: "roster_setting_malformed" });
  expect((await change({ publicKeys: other.publicKey })).status).toBe(204);
  expect(await ask(sftp, "open", "/a.csv", "w")).toBe(3);
  await expect(connectSftp({ port: drop.port, username: id, privateKey: key.privateKey })).rejects.toThrow();
});

test("SFTP: while the connection runs, a file is refused, so that its program sends it again", async () => {
  const { call, id, open } = await makeDrop();
  await switchOn(call, id);
  const sftp = await open();
  const lease = { leaseHolder: crypto.randomUUID(), leaseUntil: new Date("2100-01-01") };
  await db.prisma.rosterConnection.update({ where: { id }, data: lease });
  expect(await put(sftp, "/a.csv", table(1))).toBe(4);
  await db.prisma.rosterConnection.update({ where: { id }, data: { leaseHolder: null, leaseUntil: null } });
  expect(await put(sftp, "/a.csv", table(1))).toBeUndefined();
});

test("SFTP: an address that fails twenty times waits, and those who sign in do not count", async () => {
  const { call, id, key } = await makeDrop();
  await switchOn(call, id);
  const signIn = (privateKey: string) => connectSftp({ port: drop.port, username: id, privateKey });
  for (let at = 0; at < 25; at++) (await signIn(key.privateKey)).end();
  const stranger = makeClientKey();
  let failures = 0;
  for (; failures < 30; failures++) {
    const message = await signIn(stranger.privateKey).catch((error: unknown) => (error as Error).message);
    if (!String(message).startsWith("All configured")) break;
  }
  expect(failures).toBeLessThanOrEqual(20);
  service.clock.forwardSeconds(600);
  (await signIn(key.privateKey)).end();
});
