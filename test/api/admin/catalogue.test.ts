import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { makeLastCalls } from "../../../src/access/index.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, refusalOf, nextPage } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { makeTestClock, startService } from "../../support/service.ts";
import { issueAppToken } from "../../support/token.ts";

type CatalogueApp = components["schemas"]["CatalogueApp"];

const service = await startService();
const make = makeMakers(service.db);
const [school, otherSchool] = [await make.school(), await make.school()];
const [b, a] = [await make.group({ school, name: "5b" }), await make.group({ school, name: "5a" })];
const [zebra, apfel] = [
  await make.app({ name: "Lern-Zebra" }),
  await make.app({ name: "Lern-Äpfel", loginUrl: "https://a.example/" }),
];
const program = await make.app({ name: "Program", scopes: ["admin:read", "admin:write"] });
const withdrawn = await make.app({ name: "Lern-Fort", scopes: [] });
await make.grant({ app: zebra.clientId, school, groups: [b, a], signOn: { kind: "GROUPS", groups: [b] } });
await make.grant({ app: withdrawn.clientId, school });
await make.grant({ app: apfel.clientId, school: otherSchool });
const person = await make.person({ school });
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });

const start = service.clock();
beforeEach(() => service.clock.set(start));

const list = async (query = "") => {
  const { body } = await admin.call("GET", `/schools/${school}/catalogue?search=lern${query}`);
  return body as CatalogueApp[];
};
const names = (apps: CatalogueApp[]) => apps.map(({ name }) => name);

test("a school sees the apps that may ask for data, and those that it gave something, by name and in pages", async () => {
  expect(names(await list())).toEqual(["Lern-Äpfel", "Lern-Fort", "Lern-Zebra"]);
  expect(names(await list("&granted=true"))).toEqual(["Lern-Fort", "Lern-Zebra"]);
  expect(names(await list("&granted=false"))).toEqual(["Lern-Äpfel"]);
  expect(names(await list("-äpf"))).toEqual(["Lern-Äpfel"]);
  const first = await admin.call("GET", `/schools/${school}/catalogue?search=lern&limit=2`);
  expect(names((await admin.call("GET", nextPage(first)!)).body as CatalogueApp[])).toEqual(["Lern-Zebra"]);
});

test("an app comes with its grant in words, the groups by name, and the last sign-in of anybody of the school", async () => {
  await make.signIn({ app: zebra.clientId, person });
  await make.signIn({ app: apfel.clientId, person: await make.person({ school: otherSchool }) });
  const path = `/schools/${school}/catalogue/${zebra.clientId}`;
  const one = await admin.call("GET", path);
  const groups = [
    { id: a, name: "5a" },
    { id: b, name: "5b" },
  ];
  expect(one.body).toMatchObject({
    clientId: zebra.clientId,
    provider: null,
    logoPath: null,
    hasTile: false,
    lastSignInAt: "2026-02-03T08:00:00.000Z",
    grant: {
      signOn: { kind: "GROUPS", roles: [], groupIds: [b] },
      signOnGroups: [{ id: b, name: "5b" }],
      sync: true,
      syncedGroups: groups,
    },
  });
  const listed = await list();
  expect(listed).toContainEqual({ ...(one.body as object), reads: null });
  expect(listed[0]).toMatchObject({ name: "Lern-Äpfel", hasTile: true, grant: null, lastSignInAt: null });
  await service.db.prisma.signIn.updateMany({ data: { lastSignInAt: new Date("2026-02-04T08:00:00Z") } });
  const later = await admin.call("GET", path);
  expect(later.body).toMatchObject({ lastSignInAt: "2026-02-04T08:00:00.000Z" });
  expect(later.headers.get("etag")).toBe(one.headers.get("etag"));
});

test("a program of the staff is in no catalogue, and a partner has none", async () => {
  for (const { clientId } of [program, { clientId: "none" }]) {
    const sent = await admin.call("GET", `/schools/${school}/catalogue/${clientId}`);
    expect(refusalOf(sent)).toEqual([404, "app_not_found"]);
  }
});

test("the last call of an app at a school is kept by a job: calls that name the school, and lists over all once in an hour", async () => {
  const { db, clock, url } = service;
  const app = await make.app();
  const schools = [school, otherSchool];
  for (const one of schools) await make.grant({ app: app.clientId, school: one });
  const off = await make.school();
  await make.grant({ app: app.clientId, school: off, sync: false });
  const call = async (path: string, status = 200) => {
    const token = await issueAppToken(service, app, ["schools:read", "people:read", "groups:read"]);
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status, path).toBe(status);
  };
  const run = () => service.runJob("access.writeLastCalls");
  const minutes = async () => {
    await run();
    const rows = await db.prisma.lastCall.findMany({ where: { clientId: app.clientId } });
    const of = (id: string) => rows.find(({ schoolId }) => schoolId === id)?.at.getTime();
    return [...schools, off].map((id) => (of(id) === undefined ? null : (of(id)! - start) / 60_000));
  };
  const start = clock().getTime();
  const personenInfo = "/idm/schulconnex/v1/personen-info";
  await call(`/idm/ep/v1/schools/${off}/groups`, 404);
  await call(`${personenInfo}?organisation.id=${off}`);
  await call("/idm/ep/v1/changes");
  expect(await minutes()).toEqual([null, null, null]);
  await call(`/idm/ep/v1/schools/${school}/groups`);
  expect(await minutes()).toEqual([0, null, null]);
  clock.forwardSeconds(1800);
  await call(personenInfo);
  expect(await minutes()).toEqual([0, 30, null]);
  await call(`${personenInfo}?organisation.id=${otherSchool}`);
  clock.forwardSeconds(1801);
  await call(`/idm/ep/v1/schools`);
  expect(await minutes()).toEqual([60 + 1 / 60, 30, null]);
  clock.forwardSeconds(59);
  await call(`/idm/ep/v1/schools/${otherSchool}/people`);
  await call(`/idm/ep/v1/schools/${otherSchool}/people`);
  expect(await minutes()).toEqual([60 + 1 / 60, 61, null]);

  const path = `/schools/${otherSchool}/catalogue/${app.clientId}`;
  const { body } = await (await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [otherSchool] })).call("GET", path);
  expect(body).toMatchObject({ lastCallAt: new Date(start + 61 * 60_000).toISOString(), lastSignInAt: null });
});

test("calls that could not be written are written later, and a later one is not overtaken", async () => {
  const app = await make.app();
  await make.grant({ app: app.clientId, school });
  const clock = makeTestClock("2026-03-01T08:00:00Z");
  let isAway = true;
  const pool = {
    query: (...args: Parameters<typeof service.db.pool.query>) =>
      isAway ? Promise.reject(Object.assign(new Error("away"), { code: "57P01" })) : service.db.pool.query(...args),
  } as unknown as typeof service.db.pool;
  const calls = makeLastCalls({ db: { pool }, clock });
  calls.note({ clientId: app.clientId, kind: "school", id: school });
  calls.note({ clientId: app.clientId, kind: "school", id: "no uuid" });
  await expect(calls.flush()).rejects.toThrow("away");
  isAway = false;
  await calls.flush();
  const at = async () =>
    (await service.db.prisma.lastCall.findMany({ where: { clientId: app.clientId } })).map((one) => one.at);
  expect(await at()).toEqual([clock()]);
  const earlier = makeLastCalls({ db: service.db, clock: () => new Date("2026-02-28T08:00:00Z") });
  earlier.note({ clientId: app.clientId, kind: "school", id: school });
  await earlier.flush();
  expect(await at()).toEqual([clock()]);
});

test("an app that names thousands of schools within a minute leaves the others their place", async () => {
  const [app, noisy] = [await make.app(), await make.app()];
  await make.grant({ app: app.clientId, school });
  const calls = makeLastCalls({ db: service.db, clock: makeTestClock("2026-03-01T08:00:00Z") });
  for (let n = 0; n < 20_000; n++) calls.note({ clientId: noisy.clientId, kind: "school", id: randomUUID() });
  calls.note({ clientId: app.clientId, kind: "school", id: school });
  await calls.flush();
  expect(await service.db.prisma.lastCall.count({ where: { clientId: app.clientId } })).toBe(1);
});

test("every call of an app that reads data of a school, a group or a person of it counts as read", async () => {
  const { url } = service;
  const group = await make.group({ school });
  const reads = (id: string) => [
    `/idm/ep/v1/users/${id}`,
    `/idm/ep/v1/people/${id}`,
    `/idm/ep/v1/groups/${group}`,
    `/idm/ep/v1/schools/${school}`,
    `/idm/ep/v1/schools/${school}/roster`,
    ...["users", "people", "groups"].map((list) => `/idm/ep/v1/schools/${school}/${list}`),
    "/idm/ep/v1/schools",
    ...["", `?pid=${id}`, `?organisation.id=${school}`, `?gruppe.id=${group}`].map(
      (filter) => `/idm/schulconnex/v1/personen-info${filter}`,
    ),
  ];
  const own = await make.person({ school, groups: [group] });
  const outcome: Record<string, boolean> = {};
  for (const path of reads(own)) {
    const app = await make.app({ subjectType: "SHARED" });
    await make.grant({ app: app.clientId, school, groups: [group] });
    const token = await issueAppToken(service, app, ["schools:read", "people:read", "groups:read", "users:read"]);
    const { status } = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
    await service.runJob("access.writeLastCalls");
    const { body } = await (
      await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] })
    ).call("GET", `/schools/${school}/catalogue/${app.clientId}`);
    outcome[`${path} ${status}`] = (body as { lastCallAt: string | null }).lastCallAt !== null;
  }
  expect(outcome).toEqual(Object.fromEntries(reads(own).map((path) => [`${path} 200`, true])));
});

test("an app that a school releases nothing to has read whoever it read one by one", async () => {
  const app = await make.app({ subjectType: "APP" });
  await make.grant({ app: app.clientId, school, sync: false });
  const user = await make.person({ school });
  await make.signIn({ app: app.clientId, person: user });
  const { id } = await service.db.prisma.pairwiseId.findFirstOrThrow({ where: { personId: user, recordId: user } });
  const token = await issueAppToken(service, app, ["users:read"]);
  const answer = await fetch(`${service.url}/idm/ep/v1/users/${id}`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  await service.runJob("access.writeLastCalls");
  const staff = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const { body } = await staff.call("GET", `/schools/${school}/catalogue/${app.clientId}`);
  expect(body).toMatchObject({ lastCallAt: service.clock().toISOString(), reads: { users: 0, otherUsers: 1 } });
});
