import { expect, test } from "vitest";
import { makeStaff, readPages, refusalOf, type AdminClient, type Sent } from "../../support/admin.ts";
import { expectDescribed } from "../../support/described.ts";
import { makeMakers } from "../../support/make.ts";
import { csvOf, cut, oneRosterOf, pupilsOf, startSource, status, text, token } from "../../support/roster-source.ts";
import { startService } from "../../support/service.ts";

const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const { db, clock } = service;
const make = makeMakers(db);
const operator = (await makeStaff(service, "OPERATOR")).call;

let schools = 0;
async function makeOffice() {
  const officialId = `DE-${++schools}00`;
  const school = await make.school({ officialId });
  const call = (await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] })).call;
  return { school, officialId, call };
}

type Run = {
  id: string;
  outcome: string;
  failure: string;
  detail: string | null;
  trigger: string;
  importId: string | null;
  replacedImportId: string | null;
  counts: Record<string, number> & { holds: { reason: string }[] };
};
type Shown = {
  id: string;
  nextRunAt: string | null;
  failingSince: string | null;
  lastFailure: string;
  hasSecret: boolean;
  state: string;
};
const shown = ({ body }: Sent) => body as Shown;
const runOf = ({ body }: Sent) => body as Run;

async function connect(call: AdminClient, body: object): Promise<Shown> {
  const sent = await call("POST", "/roster-connections", { body });
  expect(sent.status, JSON.stringify(sent.body)).toBe(201);
  return shown(sent);
}
const at = (id: string) => `/roster-connections/${id}`;
const runNow = async (call: AdminClient, id: string) => runOf(await call("POST", `${at(id)}/runs`));
const testNow = async (call: AdminClient, id: string) => runOf(await call("POST", `${at(id)}/tests`));
const runsOf = async (call: AdminClient, id: string) => (await readPages<Run>(call, `${at(id)}/runs?limit=2`)).flat();
const switchOn = (call: AdminClient, id: string) => call("PATCH", at(id), { body: { state: "ON", times: ["02:30"] } });
const countPeople = (school: string) => db.prisma.person.count({ where: { homeSchoolId: school, status: "ACTIVE" } });
const start = clock();
/** Runs the jobs at a later time, and returns to the time of the tokens of this test. */
async function runAt(time: Date): Promise<void> {
  clock.set(time);
  await service.runJob("connections.run");
  clock.set(start);
}
const findRow = (id: string) => db.prisma.rosterConnection.findUniqueOrThrow({ where: { id } });
/** At the next time of the connection. */
async function nextNight(call: AdminClient, id: string): Promise<Run> {
  await runAt((await findRow(id)).nextRunAt!);
  return (await runsOf(call, id))[0]!;
}

const oneRoster = (address: string, school: string) => ({
  name: "Untis",
  kind: "ONEROSTER",
  schoolIds: [school],
  address: `${address}/ims/oneroster/rostering/v1p2`,
  tokenAddress: `${address}/token`,
  clientId: "us",
  secret: "hush",
});

test("a roster comes from OneRoster: tested without a change, run, applied, unchanged, and changed again", async () => {
  const { school, officialId, call } = await makeOffice();
  const source = await startSource({
    "/token": token,
    ...oneRosterOf(pupilsOf(30), { identifier: officialId, pageSize: 7 }),
  });
  const created = await call("POST", "/roster-connections", {
    body: { ...oneRoster(source.address, school), applies: "UNLESS_HELD", daysOff: ["SATURDAY", "SUNDAY"] },
  });
  expectDescribed("createRosterConnection", created);
  const { id } = shown(created);
  expect(created.body).toMatchObject({ state: "OFF", hasSecret: true, nextRunAt: null, lastFailure: "NONE" });

  expect(await testNow(call, id)).toMatchObject({
    outcome: "TESTED",
    trigger: "TEST",
    importId: null,
    counts: { peopleCreated: 30 },
  });
  expect(await countPeople(school)).toBe(0);
  expect(await db.prisma.import.count({ where: { namedSchoolIds: { has: school } } })).toBe(0);
  expect(source.asked[0]).toMatchObject({
    path: "/token",
    authorization: `Basic ${Buffer.from("us:hush").toString("base64")}`,
  });
  expect(source.asked.filter(({ path }) => path !== "/token").every((one) => one.authorization === "Bearer t-1")).toBe(
    true,
  );

  expect((await switchOn(call, id)).status).toBe(204);
  expect(shown(await call("GET", at(id)))).toMatchObject({ state: "ON", nextRunAt: "2026-02-04T01:30:00.000Z" });
  const applied = await nextNight(call, id);
  expect(applied).toMatchObject({
    outcome: "APPLIED",
    trigger: "SCHEDULE",
    counts: { peopleCreated: 30, groupsCreated: 1 },
  });
  expect((await call("GET", `/imports/${applied.importId}`)).body).toMatchObject({ state: "APPLIED" });
  expect(await countPeople(school)).toBe(30);

  expect(await nextNight(call, id)).toMatchObject({ outcome: "UNCHANGED", importId: null });
  Object.assign(
    source.answers,
    oneRosterOf([...pupilsOf(29), ...pupilsOf(2, { from: 50, class: "6b" })], { identifier: officialId }),
  );
  expect(await nextNight(call, id)).toMatchObject({ outcome: "APPLIED", counts: { peopleCreated: 2, leavers: 1 } });
  expect(await countPeople(school)).toBe(31);
  expect((await runsOf(call, id)).map(({ outcome }) => outcome)).toEqual(["APPLIED", "UNCHANGED", "APPLIED", "TESTED"]);
});

test("OneRoster 1.1 is read in the same way, with a token as the secret", async () => {
  const { school, officialId, call } = await makeOffice();
  const source = await startSource(
    oneRosterOf([...pupilsOf(8), { ...pupilsOf(1, { from: 90 })[0]!, role: "teacher" }], {
      version: "1.1",
      identifier: officialId,
    }),
  );
  const body = {
    name: "Old",
    kind: "ONEROSTER",
    schoolIds: [school],
    address: `${source.address}/ims/oneroster/v1p1`,
    secret: "key",
    applies: "UNLESS_HELD",
  };
  const { id } = await connect(call, body);
  expect(await runNow(call, id)).toMatchObject({ outcome: "APPLIED", trigger: "HAND", counts: { peopleCreated: 9 } });
  expect(await db.prisma.person.count({ where: { homeSchoolId: school, role: "TEACHER" } })).toBe(1);
  expect(source.asked[0]).toMatchObject({ authorization: "Bearer key" });
});

test("what is unusual is held, waits, and gives way to a newer roster, which says so", async () => {
  const { school, officialId, call } = await makeOffice();
  const source = await startSource({ "/token": token, ...oneRosterOf(pupilsOf(30), { identifier: officialId }) });
  const { id } = await connect(call, { ...oneRoster(source.address, school), applies: "UNLESS_HELD" });
  await switchOn(call, id);
  await nextNight(call, id);
  Object.assign(source.answers, oneRosterOf(pupilsOf(10), { identifier: officialId }));
  const held = await nextNight(call, id);
  expect(held).toMatchObject({ outcome: "HELD", counts: { leavers: 20 } });
  expect(held.counts.holds.map(({ reason }) => reason)).toContain("LEAVERS");
  expect(await countPeople(school)).toBe(30);
  expect(await nextNight(call, id)).toMatchObject({ outcome: "UNCHANGED" });
  expect((await call("GET", `/imports/${held.importId}`)).body).toMatchObject({ state: "HELD" });
  Object.assign(source.answers, oneRosterOf(pupilsOf(29), { identifier: officialId }));
  expect(await nextNight(call, id)).toMatchObject({ outcome: "APPLIED", replacedImportId: held.importId });
  expect((await call("GET", `/imports/${held.importId}`)).body).toMatchObject({ state: "CANCELLED" });
  expect(await countPeople(school)).toBe(29);
});

test("with PREVIEW somebody applies each import", async () => {
  const { school, officialId, call } = await makeOffice();
  const source = await startSource({ "/token": token, ...oneRosterOf(pupilsOf(5), { identifier: officialId }) });
  const { id } = await connect(call, oneRoster(source.address, school));
  const waiting = await runNow(call, id);
  expect(waiting).toMatchObject({ outcome: "WAITING" });
  expect(await countPeople(school)).toBe(0);
  expect((await call("POST", `/imports/${waiting.importId}/application`, { body: {} })).status).toBe(200);
  expect(await countPeople(school)).toBe(5);
});

test("a failing source changes nothing, is tried again soon, is on Today, and works again", async () => {
  const { school, officialId, call } = await makeOffice();
  const good = { "/token": token, ...oneRosterOf(pupilsOf(5), { identifier: officialId }) };
  const source = await startSource({ "/token": token });
  const { id } = await connect(call, { ...oneRoster(source.address, school), applies: "UNLESS_HELD" });
  await switchOn(call, id);
  const today = async () => ((await call("GET", "/today")).body as { rosterConnections: object }).rosterConnections;
  expect(await today()).toEqual({ count: 0, first: [] });
  const path = "/ims/oneroster/rostering/v1p2/orgs";
  source.answers[path] = status(503);
  const failed = await nextNight(call, id);
  expect(failed).toMatchObject({
    outcome: "FAILED",
    failure: "UNREACHABLE",
    detail: `${path} answered 503`,
    importId: null,
  });
  const { failingSince } = await findRow(id);
  const waits: number[] = [];
  for (let tries = 0; tries < 4; tries++) {
    const { nextRunAt } = await findRow(id);
    const { endedAt } = await db.prisma.rosterRun.findFirstOrThrow({
      where: { connectionId: id },
      orderBy: { id: "desc" },
    });
    waits.push((nextRunAt!.getTime() - endedAt!.getTime()) / 60_000);
    await nextNight(call, id);
  }
  expect(waits.slice(0, 3)).toEqual([5, 30, 120]);
  expect(waits[3]).toBeGreaterThan(1000);
  expect(await today()).toMatchObject({
    count: 1,
    first: [{ id, failingSince: failingSince?.toISOString(), lastFailure: "UNREACHABLE", schoolId: school }],
  });
  Object.assign(source.answers, good);
  expect(await nextNight(call, id)).toMatchObject({ outcome: "APPLIED" });
  expect(await today()).toEqual({ count: 0, first: [] });
  expect(shown(await call("GET", at(id)))).toMatchObject({ failingSince: null, lastFailure: "NONE" });
});

test("runs that were missed are made up once", async () => {
  const { school, officialId, call } = await makeOffice();
  const source = await startSource({ "/token": token, ...oneRosterOf(pupilsOf(3), { identifier: officialId }) });
  const { id } = await connect(call, oneRoster(source.address, school));
  await switchOn(call, id);
  const later = new Date(start.getTime() + 9 * 86_400_000);
  await runAt(later);
  expect((await runsOf(call, id)).length).toBe(1);
  expect((await findRow(id)).nextRunAt?.getTime()).toBeGreaterThan(later.getTime());
});

const refused: Record<string, [answers: Record<string, ReturnType<typeof status>>, failure: string]> = {
  "wrong credentials": [{ "/token": status(401) }, "REFUSED_CREDENTIALS"],
  "a token that is refused": [{ "/ims/oneroster/rostering/v1p2/orgs": status(403) }, "REFUSED_CREDENTIALS"],
  "an address with nothing": [{ "/ims/oneroster/rostering/v1p2/orgs": status(404) }, "NOT_FOUND"],
  "a page that is cut off": [{ "/ims/oneroster/rostering/v1p2/users": cut('{"users":[{"sourcedId":"p-1"') }, "HALF"],
  "JSON that ends too early": [{ "/ims/oneroster/rostering/v1p2/users": text('{"users":[{"sourcedId":"p-1"') }, "HALF"],
  "fewer users than it says": [
    { "/ims/oneroster/rostering/v1p2/enrollments": text('{"enrollments":[]}', { "x-total-count": "30" }) },
    "HALF",
  ],
  "a web page": [{ "/ims/oneroster/rostering/v1p2/users": text("<html>Sign in</html>") }, "ANSWERED_BADLY"],
  "another list": [{ "/ims/oneroster/rostering/v1p2/classes": text('{"courses":[]}') }, "ANSWERED_BADLY"],
  "a redirect": [{ "/ims/oneroster/rostering/v1p2/users": status(302, { location: "/elsewhere" }) }, "ANSWERED_BADLY"],
  nobody: [{ "/ims/oneroster/rostering/v1p2/users": text('{"users":[]}') }, "EMPTY"],
  "another school": [oneRosterOf(pupilsOf(30), { identifier: "DE-ELSEWHERE" }), "OTHER_SCHOOL"],
};
for (const [what, [answers, failure]] of Object.entries(refused))
  test(`${what}: ${failure}, and nothing changes`, async () => {
    const { school, officialId, call } = await makeOffice();
    await make.person({ school });
    const source = await startSource({
      "/token": token,
      ...oneRosterOf(pupilsOf(30), { identifier: officialId }),
      ...answers,
    });
    const { id } = await connect(call, { ...oneRoster(source.address, school), applies: "UNLESS_HELD" });
    expect(await runNow(call, id)).toMatchObject({ outcome: "FAILED", failure, importId: null });
    expect(await countPeople(school)).toBe(1);
    expect(await testNow(call, id)).toMatchObject({ outcome: "FAILED", failure });
  });

test("a file at an address is fetched when it has changed, and its faults are listed at its import", async () => {
  const { school, call } = await makeOffice();
  let etag = '"1"';
  let content = csvOf(pupilsOf(6));
  const source = await startSource();
  source.answers["/roster.csv"] = (req, res) => {
    if (req.headers["if-none-match"] === etag) return res.writeHead(304).end();
    return res.writeHead(200, { etag }).end(content);
  };
  const body = {
    name: "File",
    kind: "HTTPS_FILE",
    schoolIds: [school],
    address: `${source.address}/roster.csv`,
    userName: "us",
    secret: "hush",
    applies: "UNLESS_HELD",
  };
  const { id } = await connect(call, body);
  await switchOn(call, id);
  expect(await nextNight(call, id)).toMatchObject({ outcome: "APPLIED", counts: { peopleCreated: 6 } });
  expect(source.asked[0]).toMatchObject({ authorization: `Basic ${Buffer.from("us:hush").toString("base64")}` });
  expect(await nextNight(call, id)).toMatchObject({ outcome: "UNCHANGED" });
  // Another tag of the same content.
  etag = '"2"';
  expect(await nextNight(call, id)).toMatchObject({ outcome: "UNCHANGED" });
  [etag, content] = ['"3"', `${csvOf(pupilsOf(6))}\np-9;NOBODY;A;B;5a`];
  const faulty = await nextNight(call, id);
  expect(faulty).toMatchObject({ outcome: "FAILED", failure: "FAULTS", detail: "unknown_role", counts: { faults: 1 } });
  expect((await call("GET", `/imports/${faulty.importId}/faults`)).body).toMatchObject([{ code: "unknown_role" }]);
  expect(await nextNight(call, id)).toMatchObject({ outcome: "FAILED", failure: "FAULTS", importId: faulty.importId });
  [etag, content] = ['"4"', "Nachname;Vorname;Unbekannt\nA;B;C"];
  expect(await nextNight(call, id)).toMatchObject({ outcome: "FAILED", failure: "COLUMNS_UNKNOWN" });
  [etag, content] = ['"5"', csvOf([])];
  expect(await nextNight(call, id)).toMatchObject({
    outcome: "FAILED",
    failure: "EMPTY",
  });
  [etag, content] = ['"6"', "%PDF-1.7 "];
  expect(await nextNight(call, id)).toMatchObject({
    outcome: "FAILED",
    failure: "FILE_REFUSED",
    detail: "file_is_pdf",
  });
  expect(await countPeople(school)).toBe(6);
});

test("settings that do not fit are refused with what to do", async () => {
  const { school, call } = await makeOffice();
  const sends = async (body: object) => refusalOf(await call("POST", "/roster-connections", { body }));
  const base = { name: "X", kind: "ONEROSTER", schoolIds: [school], address: "http://127.0.0.1:9/v1p2" };
  expect(await sends({ ...base, address: undefined })).toEqual([400, "roster_setting_missing"]);
  expect(await sends({ ...base, path: "x.csv" })).toEqual([400, "roster_setting_unused"]);
  expect(await sends({ ...base, version: "2.0" })).toEqual([400, "roster_setting_malformed"]);
  expect(await sends({ ...base, address: "ftp://roster.example" })).toEqual([400, "roster_setting_malformed"]);
  expect(await sends({ ...base, tokenAddress: "http://127.0.0.1:9/token" })).toEqual([400, "roster_setting_missing"]);
  expect(await sends({ ...base, pauseFrom: "2026-07-01" })).toEqual([400, "roster_schedule_malformed"]);
  expect(await sends({ ...base, pauseFrom: "2026-07-01", pauseUntil: "2026-06-30" })).toEqual([
    400,
    "roster_schedule_malformed",
  ]);
  expect(await sends({ ...base, kind: "FOLDER", address: undefined, path: "x" })).toEqual([403, "role_forbids"]);
  expect(
    refusalOf(
      await operator("POST", "/roster-connections", {
        body: { name: "X", kind: "FOLDER", schoolIds: [school], path: "x" },
      }),
    ),
  ).toEqual([400, "roster_setting_malformed"]);
  const { id } = await connect(call, { ...base, secret: undefined });
  expect(refusalOf(await call("PATCH", at(id), { body: { state: "ON" } }))).toEqual([
    409,
    "roster_connection_incomplete",
  ]);
  expect(refusalOf(await call("POST", `${at(id)}/runs`))).toEqual([409, "roster_connection_incomplete"]);
});

test("a school has at most ten, lists are paged and filtered, and a deletion takes everything", async () => {
  const { school, call } = await makeOffice();
  const ids: string[] = [];
  for (let count = 0; count < 10; count++)
    ids.push(
      (
        await connect(call, {
          name: `N${count}`,
          kind: "HTTPS_FILE",
          schoolIds: [school],
          address: "http://127.0.0.1:9/x.csv",
        })
      ).id,
    );
  const eleventh = { name: "N", kind: "HTTPS_FILE", schoolIds: [school], address: "http://127.0.0.1:9/x.csv" };
  expect(refusalOf(await call("POST", "/roster-connections", { body: eleventh }))).toEqual([
    409,
    "roster_connections_full",
  ]);
  const pages = await readPages<Shown>(call, `/roster-connections?school=${school}&failing=false&limit=4`);
  expect(pages.map(({ length }) => length)).toEqual([4, 4, 2]);
  expect(pages.flat().map(({ id }) => id)).toEqual(ids);
  const [first = ""] = ids;
  const tag = (await call("GET", at(first))).headers.get("etag")!;
  expect((await call("PATCH", at(first), { body: { name: "Other" }, headers: { "if-match": tag } })).status).toBe(204);
  expect((await call("PATCH", at(first), { body: { name: "Third" }, headers: { "if-match": tag } })).status).toBe(412);
  expect((await call("DELETE", at(first))).status).toBe(204);
  expect(refusalOf(await call("GET", at(first)))).toEqual([404, "roster_connection_not_found"]);
});

test("the kinds of sources are listed with their settings", async () => {
  const { call } = await makeOffice();
  const [first, ...others] = (await readPages<{ kind: string }>(call, "/roster-sources?limit=1")).flat();
  expect(first).toEqual({
    kind: "ONEROSTER",
    required: ["address"],
    optional: ["tokenAddress", "clientId", "version", "sourceSchool"],
    secret: "REQUIRED",
    serverAddress: null,
    hostKeyFingerprint: null,
  });
  expect(others.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["SCHULCONNEX", "HTTPS_FILE"]));
});
