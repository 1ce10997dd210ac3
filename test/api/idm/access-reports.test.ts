import { expect, test } from "vitest";
import { changeDirectory, type ClientId, type ScopeName } from "../../../src/access/index.ts";
import { forgetPerson } from "../../../src/accounts/index.ts";
import { deletePerson, softDeletePerson, type PersonId, type SchoolId } from "../../../src/directory/index.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, refusalOf } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { makeTestClock, startService } from "../../support/service.ts";
import { getUserTokens, giveLogin, issueAppToken, issueUserToken, type TestApp } from "../../support/token.ts";

type Counts = components["schemas"]["AccessReportCounts"];
type Seats = components["schemas"]["Seats"];

type Staff = Awaited<ReturnType<typeof makeStaff>>;

const clock = makeTestClock("2026-03-10T08:00:00Z");
const service = await startService({ clock });
const { db } = service;
const make = makeMakers(db);
const at = (time: string) => clock.set(new Date(time));

/** A school whose pupils may sign in to an app, and are synced to it. */
async function makePlace() {
  at("2026-03-10T08:00:00Z");
  const school = await make.school({ name: "A school" });
  const group = await make.group({ school });
  const app = await make.app({ name: "Counted" });
  await make.grant({ app: app.clientId, school, groups: [group] });
  const person = () => make.person({ school, groups: [group] });
  return { school, group, app, person };
}

async function send(token: string, body: object) {
  const response = await fetch(`${service.url}/v1/apps/access_report`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const problem = text === "" ? null : (JSON.parse(text) as { code: string; message: string });
  return [response.status, problem?.code ?? null] as const;
}

const tokenOf = (app: TestApp, person: PersonId, scopes: ScopeName[] = []) =>
  issueUserToken(service, app, { person, scopes });
const report = async (app: TestApp, person: PersonId, body: object) => send(await tokenOf(app, person), body);

async function list<Entry>({ call }: Staff, path: string): Promise<Entry[]> {
  return (await call("GET", path)).body as Entry[];
}
// New staff each time, because the tests move the clock.
const reportsOf = async (app: TestApp, month = "2026-03") =>
  list<Counts>(await makeStaff(service, "OPERATOR"), `/access-reports?app=${app.clientId}&month=${month}`);
const seatsOf = async (app: TestApp, month = "2026-03") =>
  list<Seats>(await makeStaff(service, "OPERATOR"), `/seats?app=${app.clientId}&month=${month}`);

const none = { school: 0, group: 0, singleUser: 0, none: 0, trial: 0 };
const numbers = ({ school, group, singleUser, none: without, trial }: Counts) => {
  return { school, group, singleUser, none: without, trial };
};

async function purge(personId: PersonId): Promise<void> {
  const origin = { at: clock(), actorId: "test" };
  await changeDirectory(db, origin, (it) => softDeletePerson(it, { personId, restoreWindowDays: 30 }));
  await changeDirectory(db, origin, (it) => deletePerson(it, { personId, forget: forgetPerson }));
}

test("a report with the token of a sign-on is counted at the school, in the month in which it came", async () => {
  const { school, app, person } = await makePlace();
  const operator = await makeStaff(service, "OPERATOR");
  const personId = await person();
  const { access_token: token } = await getUserTokens(service, app, await giveLogin(db, personId));
  expect(
    await send(token, {
      type: "SCHOOL",
      identifier: "licence-4711",
      since: "2026-08-01T00:00:00+02:00",
      until: "2027-07-31T21:59:59Z",
      trial: true,
    }),
  ).toEqual([204, null]);
  const place = { clientId: app.clientId, appName: "Counted", schoolId: school, schoolName: "A school" };
  expect(await reportsOf(app)).toEqual([{ month: "2026-03", ...place, ...none, school: 1, trial: 1 }]);
  expect(await list(operator, `/access-reports?school=${school}`)).toHaveLength(1);
  expect(await reportsOf(app, "2026-02")).toEqual([]);
  expect(await seatsOf(app)).toEqual([{ month: "2026-03", ...place, signedIn: 1, synced: 0 }]);
});

test("the same report again changes its time alone; of different ones the newest of a month counts, and all are kept", async () => {
  const { app, person } = await makePlace();
  const [ada, bo] = [await person(), await person()];
  await report(app, ada, { type: "SCHOOL", identifier: "a" });
  await report(app, bo, { type: "SCHOOL", identifier: "a" });
  clock.forwardSeconds(60);
  await report(app, ada, { type: "SCHOOL", identifier: "a", trial: false, since: null });
  expect(await db.prisma.accessReport.findMany({ where: { personId: ada }, select: { reportedAt: true } })).toEqual([
    { reportedAt: clock() },
  ]);
  await report(app, ada, { type: "NONE" });
  expect((await reportsOf(app)).map(numbers)).toEqual([{ ...none, school: 1, none: 1 }]);
  await report(app, ada, { type: "SCHOOL", identifier: "a" });
  expect((await reportsOf(app)).map(numbers)).toEqual([{ ...none, school: 2 }]);
  expect(await db.prisma.accessReport.count({ where: { personId: ada } })).toBe(2);
  at("2026-04-01T00:00:00Z");
  await report(app, ada, { type: "GROUP" });
  expect((await reportsOf(app)).map(numbers)).toEqual([{ ...none, school: 2 }]);
  expect((await reportsOf(app, "2026-04")).map(numbers)).toEqual([{ ...none, group: 1 }]);
});

test("equal reports at the same time are one", async () => {
  const { app, person } = await makePlace();
  const personId = await person();
  const token = await tokenOf(app, personId);
  const sent = await Promise.all(Array.from({ length: 8 }, () => send(token, { type: "SINGLE_USER" })));
  expect(new Set(sent.map(([status]) => status))).toEqual(new Set([204]));
  expect(await db.prisma.accessReport.count({ where: { personId } })).toBe(1);
  expect((await reportsOf(app)).map(numbers)).toEqual([{ ...none, singleUser: 1 }]);
});

test("deleting a person for good leaves the numbers, and nothing of the person", async () => {
  const { app, person } = await makePlace();
  const [ada, bo] = [await person(), await person()];
  await getUserTokens(service, app, await giveLogin(db, ada));
  for (const personId of [ada, bo]) {
    await report(app, personId, { type: "NONE" });
    await report(app, personId, { type: "SINGLE_USER", identifier: personId, since: "2026-01-01T00:00:00Z" });
  }
  await service.runJob("access.countSeats");
  const before = [await reportsOf(app), await seatsOf(app)];
  expect(before).toMatchObject([[{ singleUser: 2, none: 0 }], [{ signedIn: 1, synced: 2 }]]);
  await purge(ada);
  await service.runJob("access.countSeats");
  expect([await reportsOf(app), await seatsOf(app)]).toEqual(before);
  const kept = await db.prisma.accessReport.findMany({ where: { clientId: app.clientId, personId: null } });
  expect(kept).toMatchObject([{ reportedAt: null, identifier: null, since: null, until: null, type: "SINGLE_USER" }]);
  expect(await db.prisma.accessReport.count({ where: { clientId: app.clientId } })).toBe(3);
});

test("somebody who signs in several times in a month is one seat, in the next month one more", async () => {
  const { app, person } = await makePlace();
  const [ada, bo] = [await giveLogin(db, await person()), await giveLogin(db, await person())];
  for (const login of [ada, ada, bo]) await getUserTokens(service, app, login);
  at("2026-03-31T23:59:59Z");
  await getUserTokens(service, app, ada);
  await service.runJob("access.countSeats");
  at("2026-04-01T00:00:00Z");
  await getUserTokens(service, app, ada);
  expect(await seatsOf(app)).toMatchObject([{ signedIn: 2 }]);
  expect(await seatsOf(app, "2026-04")).toMatchObject([{ signedIn: 1 }]);
  await service.runJob("access.countSeats");
  await service.runJob("access.countSeats");
  expect(await seatsOf(app)).toMatchObject([{ signedIn: 2, synced: 2 }]);
  expect(await seatsOf(app, "2026-04")).toMatchObject([{ signedIn: 1, synced: 2 }]);
});

test("somebody whom a school synced for a part of the month is counted, and somebody who came after it is not", async () => {
  const { school, group, app, person } = await makePlace();
  const ada = await person();
  await person();
  const origin = { at: clock(), actorId: "test" };
  await changeDirectory(db, origin, (it) => softDeletePerson(it, { personId: ada, restoreWindowDays: 30 }));
  at("2026-04-01T06:00:00Z");
  await changeDirectory(db, { at: clock(), actorId: "test" }, async () => {});
  await makeMakers(db, clock()).person({ school, groups: [group] });
  await service.runJob("access.countSeats");
  expect(await seatsOf(app)).toMatchObject([{ synced: 2 }]);
  expect(await seatsOf(app, "2026-04")).toMatchObject([{ synced: 2 }]);
  at("2026-04-02T06:00:01Z");
  await purge(await makeMakers(db, clock()).person({ school, groups: [group] }));
  await service.runJob("access.countSeats");
  expect(await seatsOf(app)).toMatchObject([{ synced: 2 }]);
});

test("a report counts at the school that the person chose", async () => {
  const { school, app } = await makePlace();
  const other = await make.school({ name: "B school" });
  await make.grant({ app: app.clientId, school: other });
  const ada = await make.person({ school });
  await changeDirectory(db, { at: clock(), actorId: "test" }, async ({ tx }) => {
    await tx.query("INSERT INTO affiliation (id, person_id, school_id) VALUES (gen_random_uuid(), $1, $2)", [
      ada,
      other,
    ]);
  });
  await db.prisma.schoolChoice.create({ data: { clientId: app.clientId, personId: ada, schoolId: other } });
  await report(app, ada, { type: "GROUP" });
  expect((await reportsOf(app)).map(({ schoolId }) => schoolId)).toEqual([other]);
});

const invalid: [body: object, code: string][] = [
  [{}, "invalid_request"],
  [{ type: "school" }, "invalid_request"],
  [{ type: "SCHOOL", licence: "x" }, "invalid_request"],
  [{ type: "SCHOOL", trial: "yes" }, "invalid_request"],
  [{ type: "SCHOOL", since: "yesterday" }, "invalid_request"],
  [{ type: "SCHOOL", since: "2026-02-30T00:00:00Z" }, "invalid_request"],
  [{ type: "SCHOOL", since: "2026-02-02T00:00:00Z", until: "2026-02-01T23:59:59Z" }, "invalid_request"],
  [{ type: "SCHOOL", identifier: "" }, "invalid_request"],
  [{ type: "SCHOOL", identifier: "x".repeat(256) }, "invalid_request"],
  [{ type: "SCHOOL", identifier: "a\u0000b" }, "invalid_request"],
  [{ type: "SCHOOL", identifier: "a\u200eb" }, "text_unprintable"],
];

test("a report against the contract is refused as 400 that says why", async () => {
  const { app, person } = await makePlace();
  const token = await tokenOf(app, await person());
  for (const [body, code] of invalid) expect([body, ...(await send(token, body))]).toEqual([body, 400, code]);
});

test("the lists page through schools, each staff role as far as it reaches", async () => {
  const { school, app, person } = await makePlace();
  const operator = await makeStaff(service, "OPERATOR");
  const second = await make.school({ name: "B school" });
  const other = await make.app({ name: "Other" });
  await make.grant({ app: app.clientId, school: second });
  await make.grant({ app: other.clientId, school });
  for (const [of, personId] of [
    [app, await person()],
    [app, await make.person({ school: second })],
    [other, await person()],
  ] as [TestApp, PersonId][]) {
    await report(of, personId, { type: "SCHOOL" });
    await getUserTokens(service, of, await giveLogin(db, personId));
  }
  const placesOf = async (staff: Staff, path: string) =>
    (await list<{ schoolId: SchoolId; clientId: ClientId }>(staff, path)).map(({ schoolId, clientId }) => [
      schoolId,
      clientId,
    ]);
  const [partner, admin] = [
    await makeStaff(service, "PARTNER", { clientIds: [app.clientId] }),
    await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] }),
  ];
  const ofApp = [
    [school, app.clientId],
    [second, app.clientId],
  ];
  for (const path of ["/seats", "/access-reports"]) {
    expect(await placesOf(partner, path)).toEqual(ofApp);
    expect(await placesOf(operator, `${path}?app=${app.clientId}`)).toEqual(ofApp);
    expect(await placesOf(operator, `${path}?app=${app.clientId}&school=${second}`)).toEqual(ofApp.slice(1));
    const first = await operator.call("GET", `${path}?app=${app.clientId}&limit=1`);
    expect(first.body).toMatchObject([{ schoolId: school }]);
    const [, next] = /<\/admin\/v1([^>]+)>/.exec(first.headers.get("link") ?? "") ?? [];
    expect(await placesOf(operator, next!)).toEqual(ofApp.slice(1));
    expect(refusalOf(await partner.call("GET", `${path}?app=${other.clientId}`))).toEqual([404, "app_not_found"]);
    expect(refusalOf(await operator.call("GET", `${path}?month=2026-13`))).toEqual([400, "invalid_request"]);
  }
  expect((await placesOf(admin, "/seats")).toSorted()).toEqual(
    [
      [school, app.clientId],
      [school, other.clientId],
    ].toSorted(),
  );
  expect(refusalOf(await admin.call("GET", `/seats?school=${second}`))).toEqual([404, "school_not_found"]);
  expect(refusalOf(await admin.call("GET", "/access-reports"))).toEqual([403, "role_forbids"]);
});

test("10,000 reports of a day are counted", async () => {
  const { school, app } = await makePlace();
  await db.pool.query(
    `INSERT INTO access_report (id, client_id, school_id, person_id, month, reported_at, is_newest, type, trial)
     SELECT gen_random_uuid(), $1, $2, gen_random_uuid(), '2026-03-01', $3, n % 2 = 0, 'SCHOOL', false
     FROM generate_series(1, 10000) n`,
    [app.clientId, school, clock()],
  );
  expect((await reportsOf(app)).map(numbers)).toEqual([{ ...none, school: 5000 }]);
});

test("the app's own token is refused, and another app's counts for that app", async () => {
  const { school, app, person } = await makePlace();
  const own = await issueAppToken(service, app, ["users:read"]);
  expect(await send(own, { type: "SCHOOL" })).toEqual([403, "wrong_context"]);
  expect(await send("x".repeat(43), { type: "SCHOOL" })).toEqual([401, "invalid_token"]);
  const other = await make.app();
  await make.grant({ app: other.clientId, school });
  await report(other, await person(), { type: "SCHOOL" });
  expect(await reportsOf(app)).toEqual([]);
});
