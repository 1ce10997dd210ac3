import { beforeEach, expect, test } from "vitest";
import type { ClientId } from "../../../src/access/index.ts";
import { makeHandoverSweep, type GroupId, type PersonId, type SchoolId } from "../../../src/directory/index.ts";
import { makeImporter } from "../../imports/rosters.ts";
import { makeStaff, refusalOf, type AdminClient } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { getUserTokens, giveLogin } from "../../support/token.ts";
import { untilWaiting } from "../../support/waiting.ts";

const service = await startService();
const { db } = service;
const make = makeMakers(db);

let [from, to]: SchoolId[] = [];
let oldClass: GroupId;
let newClass: GroupId;
let pupil: PersonId;
let [sender, receiver]: AdminClient[] = [];

const officeOf = async (school: SchoolId) => (await makeStaff(service, "SECRETARY", { schoolIds: [school] })).call;
const name = (last: string) => ({ firstFull: "Mia Sophie", firstCall: "Mia", last });

beforeEach(async () => {
  [from, to] = [await make.school(), await make.school()];
  [oldClass, newClass] = [
    await make.group({ school: from!, name: "5a" }),
    await make.group({ school: to!, name: "6b" }),
  ];
  pupil = await make.person({
    school: from!,
    groups: [oldClass],
    name: name("Schmidt"),
    sourceSystemIdentifier: "A-number",
  });
  [sender, receiver] = [await officeOf(from!), await officeOf(to!)];
});

type Handover = { id: string; state: string; moved: number | null; pupils: { id: string; classes: string[] }[] };

const offer = (personIds = [pupil], call = sender!, toSchoolId = to!) =>
  call("POST", `/schools/${from!}/handovers`, { body: { toSchoolId, personIds } });
const offered = async (personIds = [pupil]) => (await offer(personIds)).body as Handover;
const accept = (id: string, pupils: object[] = [], call = receiver!) =>
  call("POST", `/handovers/${id}/acceptance`, { body: { pupils } });
const decline = (id: string, call = receiver!) => call("POST", `/handovers/${id}/refusal`);
const withdraw = (id: string, call = sender!) => call("DELETE", `/handovers/${id}`);
const read = async (id: string, call = receiver!) => (await call("GET", `/handovers/${id}`)).body as Handover;
const personNow = (id = pupil) =>
  db.prisma.person.findUniqueOrThrow({ where: { id }, include: { affiliations: { include: { memberships: true } } } });
const schoolsOf = async (id = pupil) => (await personNow(id)).affiliations.map(({ schoolId }) => schoolId);
const linesAt = (schoolId: string) =>
  db.prisma.audit.findMany({ where: { schoolId, action: { startsWith: "handover" } }, orderBy: { action: "asc" } });

test("the receiving school is found by name and place, also one that the caller does not manage", async () => {
  const id = await make.school({
    name: "Gesamtschule Nord",
    address: { address: "Weg 1", city: "Aurich", zipCode: "26603" },
  });
  for (const search of ["gesamtschule nord", "aurich", "Nord Aurich"]) {
    const found = await sender!("GET", `/schools/${from!}/receiving-schools?search=${encodeURIComponent(search)}`);
    expect(found.body).toEqual([{ id, name: "Gesamtschule Nord", city: "Aurich" }]);
  }
  expect((await sender!("GET", `/schools/${from!}/receiving-schools?search=x`)).status).toBe(400);
});

test("an offer changes nothing, and shows the other school names and classes, and nothing else", async () => {
  const made = await offer();
  expect([made.status, made.body]).toMatchObject([201, { state: "OFFERED", offered: 1, moved: null, closedAt: null }]);
  const { id } = made.body as Handover;
  const shown = await read(id);
  expect(shown.pupils).toEqual([{ id: pupil, name: name("Schmidt"), classes: ["5a"] }]);
  expect(JSON.stringify(shown)).not.toContain("A-number");
  expect(refusalOf(await receiver!("GET", `/people/${pupil}`))).toEqual([404, "person_not_found"]);
  expect(await schoolsOf()).toEqual([from]);
  const today = (await receiver!("GET", `/today?school=${to!}`)).body as { atSchools: { handovers: object } };
  expect(today.atSchools.handovers).toMatchObject({
    count: 1,
    first: [{ id, pupils: [{ name: { last: "Schmidt" } }] }],
  });
  expect(((await sender!("GET", `/today?school=${from!}`)).body as typeof today).atSchools.handovers).toMatchObject({
    count: 0,
  });
  for (const call of [sender!, receiver!])
    expect((await call("GET", `/schools/${call === sender ? from! : to!}/handovers`)).body).toMatchObject([{ id }]);
});

test("an accepted pupil keeps id, login and password, gets a class and the new school's number, and loses cards", async () => {
  const apps = [await make.app({ scopes: ["openid", "school"] }), await make.app({ scopes: ["openid", "school"] })];
  const [old, next] = [apps[0]!.clientId, apps[1]!.clientId];
  await make.grant({ app: old, school: from!, groups: [oldClass] });
  await make.grant({ app: next, school: to!, groups: [newClass] });
  const login = await giveLogin(db, pupil);
  await sender!("PUT", `/schools/${from!}/card-settings`, {
    body: { enabled: true, grades: null, hours: null, networks: [], secondStep: "NONE", printSecondStep: false },
  });
  const cards = { personIds: [pupil], newPasswords: false, withQr: true };
  await sender!("POST", `/schools/${from!}/login-cards`, { body: cards });
  const { id } = await offered();
  const placement = { personId: pupil, groupId: newClass, sourceSystemIdentifier: "B-4" };
  const accepted = await accept(id, [placement]);
  expect([accepted.status, accepted.body]).toMatchObject([200, { state: "ACCEPTED", moved: 1, pupils: [] }]);
  expect(await personNow()).toMatchObject({
    homeSchoolId: to,
    sourceSystemIdentifier: "B-4",
    affiliations: [{ schoolId: to, memberships: [{ groupId: newClass, role: "STUDENT" }] }],
  });
  expect(await db.prisma.loginCard.count({ where: { personId: pupil } })).toBe(0);
  const tokens = await getUserTokens(service, apps[1]!, login, { scopes: ["openid"] });
  expect(tokens.access_token).toBeTypeOf("string");
  const actionsFor = async (clientId: ClientId) =>
    (await db.prisma.appEvent.findMany({ where: { clientId, subjectId: pupil } })).map(({ action }) => action).sort();
  expect([await actionsFor(old), await actionsFor(next)]).toEqual([["create", "delete"], ["create"]]);
  for (const school of [from!, to!])
    expect(await linesAt(school)).toMatchObject([
      { action: "handover_accepted", before: { state: "OFFERED" }, after: { state: "ACCEPTED" } },
      { action: "handover_offered", detail: { handoverId: id, people: 1 }, after: { state: "OFFERED" } },
    ]);
  const about = await db.prisma.audit.findMany({
    where: { personId: pupil, schoolId: { in: [from!, to!] } },
    orderBy: { id: "asc" },
  });
  expect(new Set(about.map(({ action, schoolId }) => `${action} ${schoolId === from ? "from" : "to"}`))).toContain(
    "affiliation_removed from",
  );
  expect(JSON.stringify(about)).not.toContain("A-number");
});

test("the next imports of both schools see no leaver and no double", async () => {
  const { run: importRoster } = makeImporter(db);
  const roster = (...rows: string[]) => ["id;role;first_name;last_name;classes", ...rows, ""].join("\n");
  await importRoster(roster("A-number;student;Mia Sophie;Schmidt;5a", "18;student;Bo;Weber;5a"), { school: from! });
  await accept((await offered()).id, [{ personId: pupil, sourceSystemIdentifier: "B-4" }]);
  await importRoster(roster("18;student;Bo;Weber;5a"), { school: from! });
  await importRoster(roster("B-4;student;Mia Sophie;Schmidt;6b"), { school: to! });
  expect(await personNow()).toMatchObject({
    status: "ACTIVE",
    homeSchoolId: to,
    affiliations: [{ memberships: [{}] }],
  });
  expect(await db.prisma.person.count({ where: { last: "Schmidt", homeSchoolId: { in: [from!, to!] } } })).toBe(1);
});

test("a pupil who is deleted, gone, or staff meanwhile stays, and a blocked one moves and stays blocked", async () => {
  const [gone, moved, staff, blocked] = await Promise.all(
    ["Gone", "Moved", "Staff", "Blocked"].map((last) => make.person({ school: from!, name: name(last) })),
  );
  const third = await make.school();
  const { id } = await offered([pupil, gone!, moved!, staff!, blocked!]);
  await sender!("POST", `/people/${gone!}/soft-deletion`);
  const operator = (await makeStaff(service, "OPERATOR")).call;
  await operator("POST", `/people/${moved!}/move`, { body: { toSchoolId: third } });
  await operator("POST", "/staff-roles", {
    body: { role: "SECRETARY", holder: { personId: staff }, schoolIds: [from] },
  });
  await sender!("POST", `/people/${blocked!}/block`);
  expect((await read(id)).pupils.map((one) => one.id).sort()).toEqual([pupil, blocked!].sort());
  expect((await accept(id)).body).toMatchObject({ moved: 2 });
  expect(await Promise.all([gone!, moved!, staff!, blocked!, pupil].map(schoolsOf))).toEqual([
    ...[[from], [third], [from], [to], [to]],
  ]);
  expect((await personNow(blocked)).blockedAt).not.toBeNull();
  const purged = await make.person({ school: from!, name: name("Purged") });
  const next = await offered([purged]);
  await sender!("POST", `/people/${purged}/soft-deletion`);
  const admin = (await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [from!] })).call;
  expect((await admin("DELETE", `/people/${purged}`)).status).toBeLessThan(300);
  expect((await accept(next.id)).body).toMatchObject({ state: "ACCEPTED", moved: 0 });
});

test("an import of the old school meanwhile that leaves the pupil out keeps them from moving", async () => {
  const { run: importRoster } = makeImporter(db);
  const head = "id;role;first_name;last_name;classes\n";
  const rows = Array.from({ length: 6 }, (_, n) => `${20 + n};student;Kim;Nr${n};5a\n`).join("");
  await importRoster(`${head}A-number;student;Mia Sophie;Schmidt;5a\n${rows}`, { school: from! });
  const { id } = await offered();
  await importRoster(head + rows, { school: from! });
  expect((await personNow()).status).toBe("SOFT_DELETED");
  expect((await read(id)).pupils).toEqual([]);
  expect((await accept(id)).body).toMatchObject({ moved: 0 });
  expect(await schoolsOf()).toEqual([from]);
});

test("of two admins who accept at once one does, and the other is told", async () => {
  const { id } = await offered();
  const second = await officeOf(to!);
  const sent = await Promise.all([accept(id), accept(id, [], second), decline(id), withdraw(id)]);
  expect(sent.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  expect(sent.filter(({ status }) => status === 409).map((one) => refusalOf(one)[1])).toEqual(
    Array(3).fill("handover_closed"),
  );
  expect((await linesAt(to!)).length).toBe(2);
});

test("an acceptance whose connection is killed changes nothing, and can be made again", async () => {
  const { id } = await offered();
  const holder = await db.pool.connect();
  try {
    await holder.query("BEGIN");
    await holder.query("SELECT FROM handover WHERE id = $1 FOR UPDATE", [id]);
    const sent = accept(id);
    const kill = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()`;
    await untilWaiting(db);
    await db.pool.query(kill);
    expect((await sent).status).toBeGreaterThanOrEqual(500);
    await holder.query("ROLLBACK");
  } finally {
    holder.release();
  }
  expect([await schoolsOf(), (await read(id)).state]).toEqual([[from], "OFFERED"]);
  expect((await accept(id)).body).toMatchObject({ moved: 1 });
});

test("a taken number or an unknown class moves nobody", async () => {
  await make.person({ school: to!, sourceSystemIdentifier: "B-4" });
  const { id } = await offered();
  const refused = await accept(id, [{ personId: pupil, sourceSystemIdentifier: "B-4" }]);
  expect(refusalOf(refused)).toEqual([409, "source_system_identifier_taken"]);
  const foreign = await accept(id, [{ personId: pupil, groupId: oldClass }]);
  expect(refusalOf(foreign)).toEqual([404, "group_not_found"]);
  expect([await schoolsOf(), (await read(id)).state]).toEqual([[from], "OFFERED"]);
});

test("a declined, withdrawn or expired offer names nobody, and the pupil can be offered again", async () => {
  for (const close of [decline, withdraw]) {
    const { id } = await offered();
    expect((await close(id)).body).toMatchObject({ state: close === decline ? "DECLINED" : "WITHDRAWN", pupils: [] });
    expect(refusalOf(await accept(id))).toEqual([409, "handover_closed"]);
  }
  const { id } = await offered();
  await db.prisma.handover.update({ where: { id }, data: { expiresAt: service.clock() } });
  expect(await read(id)).toMatchObject({ state: "EXPIRED", pupils: [] });
  expect(refusalOf(await accept(id))).toEqual([409, "handover_closed"]);
  expect((await offered()).state).toBe("OFFERED");
  const late = new Date(service.clock().getTime() + 61 * 86_400_000);
  await makeHandoverSweep({ db, clock: () => late }).run(new AbortController().signal);
  expect(refusalOf(await receiver!("GET", `/handovers/${id}`))).toEqual([404, "handover_not_found"]);
  expect(await db.prisma.handoverPerson.count({ where: { handoverId: id } })).toBe(0);
});

test("only own active pupils are offered, once, to another school of the service", async () => {
  const teacher = await make.person({ school: from!, role: "TEACHER" });
  const guest = await make.person({ schools: [to!, from!] });
  const stranger = await make.person({ school: to! });
  expect(refusalOf(await offer([teacher]))).toEqual([409, "person_not_movable"]);
  expect(refusalOf(await offer([guest]))).toEqual([403, "home_school_only"]);
  expect(refusalOf(await offer([stranger]))).toEqual([404, "person_not_found"]);
  expect(refusalOf(await offer([pupil], sender!, from!))).toEqual([400, "move_to_same_school"]);
  expect(refusalOf(await offer([pupil], sender!, pupil as never))).toEqual([404, "school_not_found"]);
  const sent = await Promise.all([offer(), offer()]);
  expect(sent.map(({ status }) => status).sort()).toEqual([201, 409]);
  expect(sent.map((one) => refusalOf(one)[1])).toContain("person_already_offered");
});
