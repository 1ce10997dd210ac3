import { expect, test } from "vitest";
import { makeStaff, refusalOf, type AdminClient } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { oneRosterOf, pupilsOf, startSource, type Answer } from "../support/roster-source.ts";
import { startService } from "../support/service.ts";

// Two processes on one database.

const env = { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" };
const service = await startService({ env });
const { db, clock } = service;
const beside = await startService({ env, db, clock });
const make = makeMakers(db);
const start = clock();
const users = "/ims/oneroster/rostering/v1p2/users";

type Run = { id: string; outcome: string; failure: string; trigger: string };

let schools = 0;
async function makeConnection() {
  const officialId = `DE-LEASE-${++schools}`;
  const school = await make.school({ officialId });
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const source = await startSource(oneRosterOf(pupilsOf(5), { identifier: officialId }));
  const address = `${source.address}/ims/oneroster/rostering/v1p2`;
  const given = { name: "Untis", kind: "ONEROSTER", schoolIds: [school], address, secret: "hush" };
  const sent = await call("POST", "/roster-connections", { body: { ...given, applies: "UNLESS_HELD" } });
  const { id } = sent.body as { id: string };
  await call("PATCH", `/roster-connections/${id}`, { body: { state: "ON", times: ["02:30"] } });
  return { school, call, id, source };
}
const findRow = (id: string) => db.prisma.rosterConnection.findUniqueOrThrow({ where: { id } });
const runsOf = async (call: AdminClient, id: string) =>
  (await call("GET", `/roster-connections/${id}/runs`)).body as Run[];

async function runAt(time: Date, ...of: (typeof service)[]): Promise<void> {
  clock.set(time);
  await Promise.all(of.map((one) => one.runJob("connections.run")));
  clock.set(start);
}

/** The source answers once `goOn` was called; `asked` resolves at its first request. */
function holdUp(answers: Record<string, Answer>) {
  const [held, reached] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const answer = answers[users]!;
  answers[users] = (req, res, url) => {
    reached.resolve(undefined);
    void held.promise.then(() => answer(req, res, url));
  };
  return { asked: reached.promise, goOn: () => held.resolve(undefined) };
}

test("the run of a process that died is named as interrupted, and another process runs the connection again", async () => {
  const { call, id } = await makeConnection();
  const { nextRunAt } = await findRow(id);
  const died = crypto.randomUUID();
  const run = { id: died, connectionId: id, trigger: "SCHEDULE", outcome: "RUNNING", startedAt: start };
  await db.prisma.rosterRun.create({ data: run });
  const renewed = { leaseHolder: died, leaseUntil: new Date("2100-01-01") };
  await db.prisma.rosterConnection.update({ where: { id }, data: renewed });
  await runAt(nextRunAt!, beside);
  expect(await runsOf(call, id)).toMatchObject([{ outcome: "RUNNING" }]);
  expect(refusalOf(await call("POST", `/roster-connections/${id}/runs`))).toEqual([409, "roster_connection_running"]);

  await db.prisma.rosterConnection.update({ where: { id }, data: { leaseUntil: new Date(0) } });
  await runAt(nextRunAt!, beside);
  const runs = await runsOf(call, id);
  expect(runs.map(({ outcome, failure }) => [outcome, failure]).toSorted()).toEqual([
    ["APPLIED", "NONE"],
    ["FAILED", "INTERRUPTED"],
  ]);
  expect(runs.find(({ id: one }) => one === died)).toMatchObject({ outcome: "FAILED" });
  expect(await findRow(id)).toMatchObject({ leaseHolder: null, leaseUntil: null, failures: 0 });
});

test("several connections that are due run in either process, each of them once", async () => {
  const made = await Promise.all(Array.from({ length: 6 }, makeConnection));
  const { nextRunAt } = await findRow(made[0]!.id);
  await runAt(nextRunAt!, service, beside);
  for (const { call, id } of made) expect(await runsOf(call, id)).toMatchObject([{ outcome: "APPLIED" }]);
});

test("a service that stops ends its run as interrupted, and the next one goes on", async () => {
  const { call, id, source } = await makeConnection();
  const stopped = await startService({ env, db, clock });
  const { asked, goOn } = holdUp(source.answers);
  clock.set((await findRow(id)).nextRunAt!);
  const running = stopped.runJob("connections.run");
  await asked;
  await stopped.close();
  await running;
  clock.set(start);
  goOn();
  expect(await runsOf(call, id)).toMatchObject([{ outcome: "FAILED", failure: "INTERRUPTED" }]);
  await runAt((await findRow(id)).nextRunAt!, service);
  expect((await runsOf(call, id))[0]).toMatchObject({ outcome: "APPLIED" });
});

/** As if the process had stood still until its lease was over. */
const loseLease = (id: string) =>
  db.prisma.rosterConnection.update({ where: { id }, data: { leaseUntil: new Date(0) } });
const officialIdOf = async (school: string) =>
  (await db.prisma.school.findUniqueOrThrow({ where: { id: school } })).officialId!;
const stateOf = async (school: string, id: string) => ({
  people: await db.prisma.person.findMany({ where: { homeSchoolId: school }, orderBy: { id: "asc" } }),
  imports: (
    await db.prisma.import.findMany({ where: { namedSchoolIds: { has: school } }, orderBy: { id: "asc" } })
  ).map(({ id: one, state }) => [one, state]),
  audit: await db.prisma.audit.count({ where: { schoolId: school } }),
  runs: await db.prisma.rosterRun.findMany({ where: { connectionId: id }, orderBy: { id: "asc" } }),
  row: await findRow(id),
});

test("a run whose lease was lost changes nothing when it ends after its successor", async () => {
  for (const applies of ["UNLESS_HELD", "PREVIEW"]) {
    const { school, call, id, source } = await makeConnection();
    await call("PATCH", `/roster-connections/${id}`, { body: { applies } });
    await runAt((await findRow(id)).nextRunAt!, service);
    const stale = { ...oneRosterOf(pupilsOf(4), { identifier: await officialIdOf(school) }) };
    Object.assign(source.answers, stale);
    const { asked, goOn } = holdUp(source.answers);
    const { nextRunAt } = await findRow(id);
    clock.set(nextRunAt!);
    const late = service.runJob("connections.run");
    await asked;
    await loseLease(id);
    Object.assign(source.answers, oneRosterOf(pupilsOf(5), { identifier: await officialIdOf(school) }));
    await runAt((await findRow(id)).nextRunAt!, beside);
    const before = await stateOf(school, id);
    expect(before.runs.map(({ outcome }) => outcome)).toEqual([
      applies === "PREVIEW" ? "WAITING" : "APPLIED",
      "FAILED",
      "UNCHANGED",
    ]);
    Object.assign(source.answers, stale);
    goOn();
    await late;
    expect(await stateOf(school, id)).toEqual(before);
  }
});

test("a run that loses its lease while it applies rolls the school back, and its preview is cancelled", async () => {
  const { school, id } = await makeConnection();
  const holder = crypto.randomUUID();
  const steal = `CREATE FUNCTION take_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE roster_connection SET lease_holder = '${holder}' WHERE id = '${id}'; RETURN NULL; END $$`;
  await db.prisma.$executeRawUnsafe(steal);
  await db.prisma.$executeRawUnsafe(
    `CREATE TRIGGER take_lease AFTER INSERT ON person FOR EACH STATEMENT EXECUTE FUNCTION take_lease()`,
  );
  await runAt((await findRow(id)).nextRunAt!, service);
  await db.prisma.$executeRawUnsafe("DROP TRIGGER take_lease ON person");
  const { people, imports, runs } = await stateOf(school, id);
  expect([people, imports.map(([, state]) => state)]).toEqual([[], ["CANCELLED"]]);
  expect(runs).toMatchObject([{ outcome: "FAILED", failure: "INTERRUPTED", importId: null }]);
});
