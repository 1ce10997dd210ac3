import { expect, test } from "vitest";
import { changeDirectory, setSync, setSyncedGroups, withdrawGrant } from "../../../src/access/index.ts";
import type { ClientId, ScopeName } from "../../../src/access/index.ts";
import {
  deletePerson,
  restorePerson,
  softDeletePerson,
  updatePerson,
  updateSchool,
} from "../../../src/directory/index.ts";
import type { Change, GroupId, PersonId, SchoolId } from "../../../src/directory/index.ts";
import { sweepEvents } from "../../../src/events/index.ts";
import { readConfig } from "../../../src/config/index.ts";
import { writeChangeCursor } from "../../../src/idm/change-cursor.ts";
import { deriveKeys } from "../../../src/platform/crypto/seal.ts";
import { makeIdmClient } from "../../support/typed-clients.ts";
import { setCredential } from "../../support/sign-ins.ts";
import { idmScopes } from "../../support/api.ts";
import { testDatabase } from "../../support/database.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { issueAppToken, getUserTokens } from "../../support/token.ts";

const service = await startService();
const make = makeMakers(service.db, service.clock());
const behind = await startBehind();

const cursorKeys = deriveKeys(readConfig({ NODE_ENV: "test" }).encryptionKeys, "cursor");
const place = (clientId: string, position: number) =>
  writeChangeCursor(cursorKeys, clientId, { position: String(position), attributes: null });

/** A service whose replica has received nothing yet. */
async function startBehind() {
  const [db, replica] = [await testDatabase(), await testDatabase()];
  const env = { DATABASE_REPLICA_URL: replica.url, DATABASE_REPLICA_MAX_AGE_SECONDS: "3600" };
  const own = await startService({ db, env: { DATABASE_URL: db.url, ...env } });
  // Lists are read there, as after a look that found it fresh enough.
  const { pool, canceller, replica: reads } = own.shares.reads;
  Object.assign(reads!, { take: async () => ({ client: await pool.connect(), canceller }) });
  const app = await makeMakers(own.db).app();
  const client = makeIdmClient({ baseUrl: own.url, accessToken: await issueAppToken(own, app, idmScopes) });
  return {
    service: own,
    app,
    read: (query: { after?: string }) => client.GET("/idm/ep/v1/changes", { params: { query } }),
  };
}

const change = <T>(work: (it: Change) => Promise<T>): Promise<T> =>
  changeDirectory(service.db, { at: service.clock(), actorId: "test" }, work);

async function makeApp(scopes: readonly ScopeName[] = idmScopes) {
  const app = await make.app();
  const school = await make.school();
  const group = await make.group({ school });
  const person = await make.person({ school, groups: [group] });
  await make.grant({ app: app.clientId, school, groups: [group] });
  const accessToken = await issueAppToken(service, app, scopes);
  const client = makeIdmClient({ baseUrl: service.url, accessToken });
  const read = (query: { after?: string; limit?: number } = {}) =>
    client.GET("/idm/ep/v1/changes", { params: { query } });
  const now = async () => (await read()).data!.next;
  return { clientId: app.clientId as ClientId, school, group, person, client, read, now };
}
type Ids = { school: SchoolId; group: GroupId; person: PersonId };

test("without a place to read from there are no changes, only the place of now", async () => {
  const { read } = await makeApp();
  expect((await read()).data).toEqual({ changes: [], next: expect.any(String) as string, more: false });
});

test("what a person goes through is told step by step, each once, with its reason", async () => {
  const { read, now, clientId, ...ids } = await makeApp();
  const after = await now();
  const { person, group, school }: Ids = ids;
  const at = service.clock();
  await change((it) =>
    updatePerson(it, { personId: person, name: { firstFull: "Ada", firstCall: "Ada", last: "New" }, role: "TEACHER" }),
  );
  await change((it) => softDeletePerson(it, { personId: person, restoreWindowDays: 30 }));
  await change((it) => restorePerson(it, { personId: person }));
  await change((it) => setSyncedGroups(it, { clientId, schoolId: school, groups: [] }));
  await change((it) => softDeletePerson(it, { personId: person, restoreWindowDays: 30 }));
  await change((it) => deletePerson(it, { personId: person, forget: () => Promise.resolve() }));
  const about = {
    type: "person",
    personId: person,
    schoolId: school,
    at: at.toISOString(),
    cursor: expect.any(String) as string,
  };
  const until = new Date(at.getTime() + 30 * 86_400_000).toISOString();
  const { data } = await read({ after });
  expect(data!.changes).toEqual([
    { ...about, action: "update", updatedProperties: ["name", "role"] },
    { ...about, action: "delete", updatedProperties: ["status"], reason: "soft_deleted", until },
    { ...about, action: "restore", updatedProperties: ["status"] },
    { ...about, action: "update", updatedProperties: ["groups"] },
    {
      cursor: about.cursor,
      type: "group",
      action: "delete",
      at: about.at,
      groupId: group,
      schoolId: school,
      reason: "no_longer_synced",
    },
    { ...about, action: "delete", updatedProperties: ["status"], reason: "soft_deleted", until },
    { ...about, action: "delete", reason: "deleted" },
  ]);
});

test("what a change of a school names can be read in its record", async () => {
  const { client, read, now, school } = await makeApp();
  const after = await now();
  const names = { name: "Renamed school", officialId: `DE-XX-${school}` };
  await change((it) =>
    updateSchool(it, { schoolId: school, ...names, address: { city: "Elsewhere" }, schoolingLevel: "GRUNDSCHULE" }),
  );
  const { data } = await read({ after });
  expect(data!.changes).toMatchObject([
    { type: "school", action: "update", updatedProperties: ["name", "address", "schooling_level", "official_id"] },
  ]);
  const record = async () => (await client.GET("/idm/ep/v1/schools/{id}", { params: { path: { id: school } } })).data!;
  expect(await record()).toMatchObject({ ...names, address: { city: "Elsewhere" }, schoolingLevel: "GRUNDSCHULE" });
  await change((it) => updateSchool(it, { schoolId: school, schoolingLevel: null }));
  expect((await record()).schoolingLevel).toBeNull();
});

test("a school that takes everything back says so, people first and itself last", async () => {
  const { read, now, clientId, school } = await makeApp();
  const after = await now();
  await change((it) => withdrawGrant(it, { clientId, schoolId: school }));
  const { data } = await read({ after });
  expect(data!.changes.map(({ type, action, reason }) => [type, action, reason])).toEqual([
    ["person", "delete", "access_withdrawn"],
    ["group", "delete", "access_withdrawn"],
    ["school", "delete", "access_withdrawn"],
  ]);
});

test("whoever signs in for the first time enters the view of an app that knew nothing of them; later sign-ins say nothing", async () => {
  const app = await make.app();
  const school = await make.school();
  const person = await make.person({ school });
  await make.grant({ app: app.clientId, school, sync: false });
  const login = { username: `first-${person.slice(-6)}`, password: "correct horse battery" };
  await setCredential(service.db.pool, { personId: person, ...login, now: service.clock() });
  const client = makeIdmClient({ baseUrl: service.url, accessToken: await issueAppToken(service, app, idmScopes) });
  const after = (await client.GET("/idm/ep/v1/changes")).data!.next;
  for (let count = 0; count < 2; count++) await getUserTokens(service, app, login);
  const { data } = await client.GET("/idm/ep/v1/changes", { params: { query: { after } } });
  expect(data!.changes).toMatchObject([{ type: "person", action: "create", personId: person, schoolId: null }]);
});

test("a user who stays one though no school of theirs syncs any more is told of without a school", async () => {
  const { read, now, clientId, person, school } = await makeApp();
  await make.signIn({ app: clientId, person });
  const after = await now();
  await change((it) => setSync(it, { clientId, schoolId: school, sync: false }));
  const { data } = await read({ after });
  expect(data!.changes.filter(({ type }) => type === "person")).toMatchObject([
    { action: "update", updatedProperties: ["groups"], personId: person, schoolId: null },
  ]);
});

test("pages follow each other without gap or repetition, and every cursor leads on", async () => {
  const { read, now, school } = await makeApp();
  const after = await now();
  const people: string[] = [];
  for (let count = 0; count < 5; count++) people.push(await make.person({ school }));
  const first = (await read({ after, limit: 2 })).data!;
  expect([first.changes.map(({ personId }) => personId), first.more]).toEqual([people.slice(0, 2), true]);
  const second = (await read({ after: first.next, limit: 3 })).data!;
  expect([second.changes.map(({ personId }) => personId), second.more]).toEqual([people.slice(2), false]);
  expect((await read({ after: first.changes[0]!.cursor })).data!.changes.map(({ personId }) => personId)).toEqual(
    people.slice(1),
  );
  expect((await read({ after: second.next })).data).toEqual({ changes: [], next: second.next, more: false });
});

test("changes of other apps move the place on, and nothing of them is shown", async () => {
  const one = await makeApp();
  const after = await one.now();
  await makeApp();
  const { changes, next } = (await one.read({ after })).data!;
  expect(changes).toEqual([]);
  expect(next).not.toBe(after);
});

test.each([
  [["schools:read"], ["school"]],
  [["groups:read"], ["group"]],
  [["users:read"], ["person"]],
  [
    ["people:read", "schools:read"],
    ["person", "school"],
  ],
] as [ScopeName[], string[]][])("a token with %j is told of %j", async (scopes, types) => {
  const { read, now, clientId, school } = await makeApp(scopes);
  const after = await now();
  await change((it) => withdrawGrant(it, { clientId, schoolId: school }));
  expect((await read({ after })).data!.changes.map(({ type }) => type)).toEqual(types);
});

test("a place whose changes are no longer kept answers 410, one of today goes on", async () => {
  const { read, now, school } = await makeApp();
  const old = await now();
  await make.person({ school });
  const kept = await now();
  const gone = await sweepEvents(service.db, new Date(service.clock().getTime() + 1), {
    signal: new AbortController().signal,
    batch: 3,
  });
  expect(gone).toBeGreaterThan(3);
  await make.person({ school });
  const { response, error } = await read({ after: old });
  expect([response.status, error]).toMatchObject([
    410,
    { code: "cursor_expired", message: expect.stringContaining("Read everything again") as string },
  ]);
  expect((await read({ after: kept })).data!.changes).toHaveLength(1);
});

test("a cursor that was never written is refused as invalid", async () => {
  const { read } = await makeApp();
  for (const after of ["x", "Y2hhbmdlcyB4", Buffer.from("changes 1").toString("base64url"), "A".repeat(48)])
    expect((await read({ after })).error, after).toMatchObject({ status: 400, code: "invalid_cursor" });
});

test("a place that was never given answers 410, as after a restored backup", async () => {
  const { read, clientId } = await makeApp();
  expect((await read({ after: place(clientId, 999_999_999) })).response.status).toBe(410);
});

test("a place says nothing of how much happened elsewhere, and belongs to the app that was given it", async () => {
  const [one, other] = [await makeApp(), await makeApp()];
  const after = await one.now();
  expect(await one.now()).toBe(after);
  expect(await other.now()).not.toBe(after);
  await make.person({ school: one.school });
  const { data } = await one.read({ after });
  const cursors = [after, data!.next, data!.changes[0]!.cursor];
  expect(data!.next).toBe(data!.changes[0]!.cursor);
  for (const cursor of cursors) {
    expect(cursor).toHaveLength(48);
    expect((await other.read({ after: cursor })).error).toMatchObject({ status: 400, code: "invalid_cursor" });
    const altered = `${cursor.startsWith("A") ? "B" : "A"}${cursor.slice(1)}`;
    expect((await one.read({ after: altered })).error).toMatchObject({ status: 400, code: "invalid_cursor" });
  }
});

test("of a place that a replica has not reached nothing is new there, and the place stays", async () => {
  const { app, read, service: own } = behind;
  const shareSchool = async () =>
    makeMakers(own.db).grant({ app: app.clientId, school: await makeMakers(own.db).school() });
  const last = async () =>
    Number((await own.db.pool.query<{ last: string }>("SELECT last_position AS last FROM event_feed")).rows[0]!.last);
  await shareSchool();
  expect((await read({})).data!.next).toBe(place(app.clientId, 0));
  const reached = place(app.clientId, await last());
  expect(reached).not.toBe(place(app.clientId, 0));
  await shareSchool();
  expect((await read({ after: reached })).data).toEqual({ changes: [], next: reached, more: false });
  expect((await read({ after: place(app.clientId, (await last()) + 1) })).response.status).toBe(410);
});
