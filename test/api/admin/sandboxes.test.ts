import { hash } from "node:crypto";
import { expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import { changeDirectory, deleteApp, type ClientId } from "../../../src/access/index.ts";
import { joinSchool, listPeople, movePerson, type PersonId, type SchoolId } from "../../../src/directory/index.ts";
import { sequenceEvents } from "../../../src/events/index.ts";
import { storeOf } from "../../../src/platform/database/db.ts";
import { takeToken } from "../../../src/platform/database/token-bucket.ts";
import { forgetAppWithSandboxes } from "../../../src/sandbox/index.ts";
import { idsOf, makeStaff, refusalOf, nextPage } from "../../support/admin.ts";
import { getReader } from "../../support/api.ts";
import { allScopes, makeMakers } from "../../support/make.ts";
import { hashAllQuickly } from "../../support/quick-hash.ts";
import { startService } from "../../support/service.ts";
import { issueAppToken } from "../../support/token.ts";

type Schemas = components["schemas"];
type Created = Schemas["CreatedSandbox"];
type Sandbox = Schemas["Sandbox"];

const hashing = hashAllQuickly();
const service = await startService();
const { db } = service;
const make = makeMakers(db);
const school = await make.school();
const [own, foreign] = [await make.app({ name: "Own" }), await make.app({ name: "Foreign" })];
await make.grant({ app: own.clientId, school });
await make.grant({ app: foreign.clientId, school });
const real = await make.person({ school, name: { firstFull: "Real", firstCall: "Real", last: "Person" } });
const operator = await makeStaff(service, "OPERATOR");
const partner = await makeStaff(service, "PARTNER", { clientIds: [own.clientId] });

const create = async (call = partner.call, app = own.clientId) => call("POST", `/apps/${app}/sandboxes`);
const made = await create();
const { sandbox, accounts } = made.body as Created;
const accountOf = (kind: string) => accounts.find((account) => account.kind === kind)!;
const schoolIds = sandbox.schools.map(({ id }) => id as SchoolId);
const mainSchool = accountOf("PUPIL").schoolIds[0] as SchoolId;
const origin = { at: service.clock(), actorId: "test" };

/** What the IDM API answers an app. */
async function read(app: typeof own, path: string): Promise<{ status: number; body: unknown }> {
  const token = await issueAppToken(service, app, ["schools:read", "people:read", "users:read"]);
  const answer = await fetch(`${service.url}/idm/ep/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
  return { status: answer.status, body: await answer.json() };
}
const idsAt = async (path: string, app = own) => (await read(app, path)).body as { id: string }[];
const namesOf = (list: { id: string }[]) => list.map(({ id }) => id);

/** Rows in the tables that a sandbox fills. */
async function countRows() {
  const { person, school: schools, group, affiliation, membership, grant, credential, tombstone } = db.prisma;
  return {
    people: await person.count(),
    schools: await schools.count(),
    groups: await group.count(),
    affiliations: await affiliation.count(),
    memberships: await membership.count(),
    grants: await grant.count(),
    credentials: await credential.count(),
    tokensOfPeople: await db.prisma.oidcArtifact.count({ where: { personId: { not: null } } }),
    tombstones: await tombstone.count(),
    sandboxes: await db.prisma.sandbox.count(),
    steps: await db.prisma.sandboxStep.count(),
  };
}

test("a partner gets two schools with an account of each kind; the passwords are shown once", async () => {
  expect(made.status).toBe(201);
  expect(made.headers.get("location")).toBe(`/admin/v1/sandboxes/${sandbox.id}`);
  expect(sandbox).toMatchObject({ clientId: own.clientId, expiresAt: "2026-03-05T08:00:00.000Z" });
  expect(accounts.map(({ kind }) => kind)).toEqual([
    ...["PUPIL", "TEACHER", "BOTH_SCHOOLS", "WITHOUT_NAME", "SOFT_DELETED", "REFUSED", "OTHER", "UMLAUTS"],
  ]);
  expect(accountOf("BOTH_SCHOOLS").schoolIds.toSorted()).toEqual(schoolIds.toSorted());
  expect([accountOf("WITHOUT_NAME").name, accountOf("UMLAUTS").name!.last]).toEqual([null, "Öztürk-Groß"]);
  const again = await partner.call("GET", `/sandboxes/${sandbox.id}`);
  expect(again.body).toEqual(sandbox);
  expect(JSON.stringify((await partner.call("GET", "/sandboxes")).body)).not.toContain("password");
  const audit = await db.prisma.audit.findMany({ where: { clientId: own.clientId }, orderBy: { id: "asc" } });
  for (const { password } of accounts) expect(JSON.stringify(audit)).not.toContain(password);
});

test("the app sees the sandbox as its accounts say; no other app and no list of real schools has it", async () => {
  expect(namesOf(await idsAt("/schools")).toSorted()).toEqual([school, ...schoolIds].toSorted());
  const people = new Set<string>();
  const users = new Set<string>();
  for (const id of schoolIds) {
    for (const one of await idsAt(`/schools/${id}/people`)) people.add(one.id);
    for (const one of await idsAt(`/schools/${id}/users`)) users.add(one.id);
  }
  const kinds = (ids: Set<string>) => accounts.filter(({ personId }) => ids.has(personId)).map(({ kind }) => kind);
  const both = ["PUPIL", "TEACHER", "BOTH_SCHOOLS", "WITHOUT_NAME"];
  expect(kinds(people)).toEqual([...both, "REFUSED", "UMLAUTS"]);
  expect(kinds(users)).toEqual([...both, "OTHER", "UMLAUTS"]);

  expect(namesOf(await idsAt("/schools", foreign))).toEqual([school]);
  expect((await read(foreign, `/schools/${mainSchool}`)).status).toBe(404);
  expect(idsOf(await operator.call("GET", "/schools"))).toEqual([school]);
  const found = await listPeople(storeOf(db), { limit: 100 });
  expect(found.map(({ id }) => id)).toContain(real);
  expect(found.filter(({ homeSchoolId }) => schoolIds.includes(homeSchoolId!))).toEqual([]);
  expect((await listPeople(storeOf(db), { limit: 100, schoolId: mainSchool })).length).toBeGreaterThan(4);
});

test("sign-on lets each account in or refuses it as it says", async () => {
  const explained = await Promise.all(
    accounts.map(async ({ kind, personId }) => {
      const { body } = await operator.call("GET", `/people/${personId}/sign-in-explanation?app=${own.clientId}`);
      return [kind, (body as Schemas["SignInExplanation"]).isAllowed];
    }),
  );
  const refused = ["SOFT_DELETED", "REFUSED"];
  expect(explained).toEqual(accounts.map(({ kind }) => [kind, !refused.includes(kind)]));
});

test("sandboxes and real schools share no people, no apps, no staff and no imports", async () => {
  const pupil = accountOf("PUPIL").personId as PersonId;
  const inChange = (work: Parameters<typeof changeDirectory<void>>[2]) => changeDirectory(db, origin, work);
  const unknown = { kind: "not_found", code: "school_not_found" };
  const [here, there] = [school, mainSchool];
  await expect(inChange((change) => joinSchool(change, { personId: real, schoolId: there }))).rejects.toMatchObject(
    unknown,
  );
  await expect(inChange((change) => joinSchool(change, { personId: pupil, schoolId: here }))).rejects.toMatchObject(
    unknown,
  );
  await expect(inChange((change) => movePerson(change, { personId: pupil, to: here }))).rejects.toMatchObject(unknown);
  await expect(inChange((change) => movePerson(change, { personId: real, to: there }))).rejects.toMatchObject(unknown);
  const both = { role: "STUDENT", name: null, schoolIds: [here, there] };
  expect(refusalOf(await operator.call("POST", "/people", { body: both }))).toEqual([404, "school_not_found"]);
  expect(refusalOf(await operator.call("PUT", `/people/${real}/schools/${there}`))).toEqual([404, "school_not_found"]);

  const grant = { signOn: { kind: "EVERYBODY" }, sync: true, syncedGroupIds: [] };
  for (const query of ["", "?dry-run=true"]) {
    const given = await operator.call("PUT", `/schools/${there}/grants/${foreign.clientId}${query}`, { body: grant });
    expect(refusalOf(given)).toEqual([404, "app_or_school_not_found"]);
  }
  expect(await db.prisma.grant.count({ where: { schoolId: there } })).toBe(1);

  const role = { role: "SCHOOL_ADMIN", schoolIds: [there], holder: { personId: real } };
  expect(refusalOf(await operator.call("POST", "/staff-roles", { body: role }))).toEqual([404, "school_not_found"]);
  const own = { role: "SCHOOL_ADMIN", schoolIds: [here], holder: { personId: pupil } };
  expect(refusalOf(await operator.call("POST", "/staff-roles", { body: own }))).toEqual([404, "person_not_found"]);
  expect(idsOf(await partner.call("GET", "/sandboxes"))).toEqual([sandbox.id]);
});

test("a sandbox of another app does not exist for a partner; an operator has all", async () => {
  service.clock.forwardSeconds(1);
  const other = (await create(operator.call, foreign.clientId)).body as Created;
  const path = `/sandboxes/${other.sandbox.id}`;
  expect(refusalOf(await partner.call("GET", path))).toEqual([404, "sandbox_not_found"]);
  expect(refusalOf(await partner.call("GET", `/sandboxes?app=${foreign.clientId}`))).toEqual([404, "app_not_found"]);
  const all = idsOf(await operator.call("GET", "/sandboxes"));
  expect(all).toEqual(expect.arrayContaining([sandbox.id, other.sandbox.id]));
  expect(idsOf(await operator.call("GET", `/sandboxes?app=${foreign.clientId}`))).toEqual([other.sandbox.id]);
  const page = await operator.call("GET", "/sandboxes?limit=1");
  expect([...idsOf(page), ...idsOf(await operator.call("GET", nextPage(page)!))]).toEqual(all.slice(0, 2));
  expect((await operator.call("DELETE", path)).status).toBe(204);
});

test("an app has three at most, also when they are asked for at the same time; each is made once for a key", async () => {
  const app = await make.app();
  const headers = { "idempotency-key": "sandbox" };
  const path = `/apps/${app.clientId}/sandboxes`;
  const first = await operator.call("POST", path, { headers });
  const again = await operator.call("POST", path, { headers });
  expect([first.status, again.body]).toEqual([201, first.body]);
  const sent = await Promise.all(Array.from({ length: 3 }, () => create(operator.call, app.clientId)));
  expect(sent.map(({ status }) => status).toSorted()).toEqual([201, 201, 409]);
  expect(refusalOf(sent.find(({ status }) => status === 409)!)).toEqual([409, "too_many_sandboxes"]);
  const hashed = hashing.count;
  expect(refusalOf(await create(operator.call, app.clientId))).toEqual([409, "too_many_sandboxes"]);
  expect(hashing.count).toBe(hashed);
  for (const id of idsOf(await operator.call("GET", `/sandboxes?app=${app.clientId}`)))
    await operator.call("DELETE", `/sandboxes/${id}`);
});

test("an app makes twenty within 24 hours, however fast they are deleted", async () => {
  const app = await make.app();
  const key = hash("sha256", `sandboxes of ${app.clientId}`, "buffer");
  const day = { key, capacity: 20, refillSeconds: 86_400 };
  for (let made = 0; made < 20; made++) await takeToken(db.pool, day, service.clock());
  const hashed = hashing.count;
  const refused = await create(operator.call, app.clientId);
  expect(refusalOf(refused)).toEqual([409, "too_many_sandboxes"]);
  expect((refused.body as Schemas["Problem"]).message).toContain("2026-02-03T09:12:0");
  expect(hashing.count).toBe(hashed);
});

test("deleting one leaves nothing but events and audit lines, and the app is told that all of it went", async () => {
  const app = await make.app();
  const before = await countRows();
  const { sandbox: one, accounts: people } = (await create(operator.call, app.clientId)).body as Created;
  const personId = people[0]!.personId as PersonId;
  await make.signIn({ app: app.clientId, person: personId });
  const session = { kind: "Session", idHash: new Uint8Array(32), payload: {}, expiresAt: service.clock() };
  await db.prisma.oidcArtifact.create({ data: { ...session, personId } });
  await sequenceEvents(db);
  const read = await operator.call("GET", `/sandboxes/${one.id}`);
  const stale = await operator.call("DELETE", `/sandboxes/${one.id}`, { headers: { "if-match": '"old"' } });
  expect(stale.status).toBe(412);
  const headers = { "if-match": read.headers.get("etag")! };
  expect((await operator.call("DELETE", `/sandboxes/${one.id}`, { headers })).status).toBe(204);
  expect(await countRows()).toEqual(before);
  await sequenceEvents(db);
  const events = await db.prisma.appEvent.findMany({
    where: { clientId: app.clientId },
    orderBy: { position: "asc" },
  });
  const left = new Map(events.map(({ type, subjectId, action }) => [`${type} ${subjectId}`, action]));
  expect(new Set(left.values())).toEqual(new Set(["delete"]));
  for (const { id } of one.schools) expect([...left.keys()].join("\n")).toContain(id);
});

test("a sandbox is deleted by itself after 30 days, and with its app at once", async () => {
  const app = await make.app();
  const before = await countRows();
  await db.prisma.sandbox.updateMany({ data: { expiresAt: new Date("2027-01-01") } });
  await create(operator.call, app.clientId);
  const run = () => service.runJob("sandbox.sweep");
  await run();
  expect((await countRows()).sandboxes).toBe(before.sandboxes + 1);
  const now = service.clock();
  service.clock.forwardSeconds(30 * 86_400);
  await run();
  service.clock.set(now);
  await db.prisma.sandbox.updateMany({ where: { id: sandbox.id }, data: { expiresAt: sandbox.expiresAt } });
  expect(await countRows()).toEqual(before);

  await create(operator.call, app.clientId);
  await deleteApp(db, app.clientId as ClientId, { origin, forget: forgetAppWithSandboxes });
  expect(await countRows()).toEqual(before);
});

const play = (upTo: string, id: string) => operator.call("POST", `/sandboxes/${id}/steps`, { body: { upTo } });
const doneIn = ({ steps }: Sandbox) => steps.flatMap(({ step, doneAt }) => (doneAt === null ? [] : [step]));

test("an app that reads OneRoster sees the schools of its sandbox there, and their school year", async () => {
  const app = await make.app({ scopes: [...allScopes, "oneroster:read"] });
  const { sandbox: one } = (await create(operator.call, app.clientId)).body as Created;
  const readRoster = await getReader(service, app, ["oneroster:read"]);
  type Rows = Record<string, { sourcedId: string; status: string }[]>;
  const list = async (path: string) =>
    Object.values((await readRoster(`/ims/oneroster/rostering/v1p2/${path}&limit=5000`)).body as Rows)[0]!;
  const orgs = async () => (await list("orgs?sort=name")).map(({ sourcedId }) => sourcedId).toSorted();
  const all = one.schools.map(({ id }) => id).toSorted();
  expect(await orgs()).toEqual(all);
  const gone = async () => (await list("users?filter=status='tobedeleted'")).map(({ sourcedId }) => sourcedId);
  const before = await gone();
  await play("LEAVE", one.id);
  const left = (await gone()).filter((id) => !before.includes(id));
  expect(left).toHaveLength(1);
  await play("RESTORE", one.id);
  expect(await gone()).toEqual(before);
  expect(await list(`users?filter=sourcedId='${left[0]}'`)).toMatchObject([{ status: "active" }]);
  await play("SYNC_OFF", one.id);
  expect((await orgs()).length).toBe(all.length - 1);
});

test("the school year is played step by step, each once, also by two at a time", async () => {
  const app = await make.app();
  const { sandbox: one, accounts: made } = (await create(operator.call, app.clientId)).body as Created;
  const at = made.find(({ kind }) => kind === "PUPIL")!.schoolIds[0]!;
  const people = async () => (await idsAt(`/schools/${at}/people?limit=1000`, app)).length;
  const count = await people();
  const first = await play("JOIN", one.id);
  expect([first.status, doneIn(first.body as Sandbox)]).toEqual([200, ["JOIN"]]);
  expect(await people()).toBe(count + 3);
  expect((await play("JOIN", one.id)).body).toEqual(first.body);
  expect(await people()).toBe(count + 3);
  const both = await Promise.all(["RESTORE", "LEAVE", "RESTORE"].map((step) => play(step, one.id)));
  expect(both.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(doneIn((await operator.call("GET", `/sandboxes/${one.id}`)).body as Sandbox)).toEqual([
    ...["JOIN", "MOVE", "LEAVE", "RESTORE"],
  ]);
  expect(await people()).toBe(count + 3);
  expect((await play("SYNC_OFF", one.id)).status).toBe(200);
  expect((await read(app, `/schools/${at}`)).status).toBe(404);
  const last = await play("ERASE", one.id);
  expect(doneIn(last.body as Sandbox)).toHaveLength(9);
  expect(await db.prisma.person.count({ where: { homeSchoolId: at } })).toBeGreaterThan(1000);
  // Who left with the class that ended in the new year may still come back.
  const leavers = await db.prisma.person.findMany({ where: { homeSchoolId: at, last: "Abgang" } });
  expect(leavers.map(({ status }) => status)).toEqual(["SOFT_DELETED", "SOFT_DELETED"]);
  const lines = await db.prisma.audit.findMany({
    where: { action: "sandbox_step_played", clientId: app.clientId },
    orderBy: { id: "asc" },
  });
  expect(lines).toHaveLength(9);
  expect(refusalOf(await play("none", one.id))[0]).toBe(400);
});

test("a step that cannot be done says so, and is not done by half", async () => {
  const { sandbox: one } = (await create()).body as Created;
  await play("LEAVE", one.id);
  await db.prisma.person.updateMany({
    where: { sourceSystemIdentifier: "joiner-2", homeSchool: { sandboxId: one.id } },
    data: { sourceSystemIdentifier: "other" },
  });
  expect(refusalOf(await play("RESTORE", one.id))).toEqual([409, "sandbox_changed"]);
  expect(doneIn((await partner.call("GET", `/sandboxes/${one.id}`)).body as Sandbox)).toEqual([
    "JOIN",
    "MOVE",
    "LEAVE",
  ]);
  expect((await partner.call("DELETE", `/sandboxes/${one.id}`)).status).toBe(204);
});
