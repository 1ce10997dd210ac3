import { expect, test } from "vitest";
import {
  changeDirectory,
  deleteApp,
  setGrant,
  setSync,
  setWithheld,
  updateApp,
  withdrawGrant,
  type AppAttribute,
  type ClientId,
} from "../../../src/access/index.ts";
import { joinSchool, type PersonId } from "../../../src/directory/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, makeAdminClient, refusalOf } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { makeTestClock, startService } from "../../support/service.ts";
import { issueAppToken, getUserTokens, giveLogin } from "../../support/token.ts";

type Disclosure = components["schemas"]["Disclosure"];

const began = "2026-02-01T00:00:00.000Z";
const clock = makeTestClock("2026-02-03T08:00:00Z");
const service = await startService({ clock });
const { db } = service;
const make = makeMakers(db);
await db.pool.query("UPDATE event_feed SET history_began_at = $1", [began]);
const [school, other] = [await make.school({ name: "Here" }), await make.school({ name: "There" })];
const group = await make.group({ school, name: "5a" });
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const support = await makeStaff(service, "SUPPORT", { schoolIds: [school] });
const guestSchool = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [other] });
const classTeacher = await makeStaff(service, "CLASS_TEACHER", { schoolIds: [school] });

const day = (n: number) => new Date(Date.parse("2026-02-03T08:00:00Z") + n * 86_400_000);
const originOn = (n: number) => ({ at: day(n), actorId: "test", allowLoopbackHttp: true });

async function read(personId: PersonId, { call } = admin): Promise<Disclosure[]> {
  const { status, body } = await call("GET", `/people/${personId}/disclosures`);
  expect(status).toBe(200);
  return body as Disclosure[];
}
const readOne = async (personId: PersonId, clientId: ClientId): Promise<Disclosure | undefined> =>
  (await read(personId)).find((one) => one.clientId === clientId);

const grantOn = (n: number, clientId: ClientId) =>
  changeDirectory(db, originOn(n), (change) =>
    setGrant(change, { clientId, schoolId: school, signOn: { kind: "NOBODY" }, sync: true, syncedGroups: [group] }),
  );

test("a grant, fewer scopes, the end of the sync and the deletion of the app are the ends of periods", async () => {
  const personId = await make.person({ school, groups: [group] });
  const { clientId } = await make.app({ name: "Alpha", profile: { provider: "Alpha GmbH" } });
  await grantOn(1, clientId);
  await withPrismaTransaction(db, (tx) => updateApp(tx, { clientId, scopes: ["groups:read"] }, originOn(2)));
  await changeDirectory(db, originOn(3), (change) => setSync(change, { clientId, schoolId: school, sync: false }));
  await grantOn(4, clientId);
  const schools = [{ id: school, name: "Here" }];
  const all = ["name", "role", "status", "groups", "schools", "sourceSystemIdentifier"];
  const few = ["name", "role", "groups", "schools"];
  const period = (since: number, until: number | null, attributes: string[]) => ({
    since: day(since).toISOString(),
    until: until === null ? null : day(until).toISOString(),
    attributes,
    schools,
    agreements: [],
  });
  const known = { clientId, name: "Alpha", provider: "Alpha GmbH", signIn: null, lastReadAt: null, lastSentAt: null };
  const periods = [period(1, 2, all), period(2, 3, few)];
  const before = { ...known, recordedSince: began, deletedAt: null, periods: [...periods, period(4, null, few)] };
  expect(await readOne(personId, clientId)).toEqual(before);
  await deleteApp(db, clientId, { origin: originOn(5), forget: () => Promise.resolve() });
  const deletedAt = day(5).toISOString();
  expect(await readOne(personId, clientId)).toEqual({ ...before, deletedAt, periods: [...periods, period(4, 5, few)] });
});

test("an app that was changed by two processes exists, also if the clock of the later one is behind", async () => {
  const personId = await make.person({ school, groups: [group] });
  const { clientId } = await make.app({ name: "First" });
  await grantOn(1, clientId);
  const rename = (name: string, n: number) =>
    withPrismaTransaction(db, (tx) => updateApp(tx, { clientId, name }, originOn(n)));
  await rename("Second", 3);
  await rename("Third", 2);
  expect(await readOne(personId, clientId)).toMatchObject({ name: "Third", deletedAt: null });
});

test("what a school withholds and the agreements that it accepts begin and end periods", async () => {
  const personId = await make.person({ school, groups: [group] });
  const { clientId } = await make.app({ scopes: ["users:read", "people:read"] });
  await grantOn(1, clientId);
  const agreement = { id: crypto.randomUUID(), clientId, version: "2.1", createdAt: day(0) };
  await db.prisma.agreement.create({ data: agreement });
  const accepted = { acceptedAt: day(2), withdrawnAt: day(4) };
  await db.prisma.agreementAcceptance.create({
    data: { id: crypto.randomUUID(), agreementId: agreement.id, clientId, schoolId: school, ...accepted },
  });
  const withhold = (n: number, attributes: AppAttribute[]) =>
    changeDirectory(db, originOn(n), (change) => setWithheld(change, { clientId, schoolId: school, attributes }));
  await withhold(3, ["PERSON_NAME"]);
  await withhold(5, []);
  const periods = (await readOne(personId, clientId))!.periods.map(({ since, until, attributes, agreements }) => [
    ...[since, until].map((time) => time && (Date.parse(time) - day(0).getTime()) / 86_400_000),
    attributes.includes("name"),
    agreements.map(({ version, school: { name } }) => `${version} ${name}`).join(),
  ]);
  expect(periods).toEqual([
    [1, 2, true, ""],
    [2, 3, true, "2.1 Here"],
    [3, 4, false, "2.1 Here"],
    [4, 5, false, ""],
    [5, null, true, ""],
  ]);
});

test("what could be read before recording began has no beginning, also when it ends", async () => {
  const personId = await make.person({ school, groups: [group] });
  const { clientId } = await make.app();
  await grantOn(1, clientId);
  await db.prisma.disclosurePeriod.deleteMany({ where: { personId } });
  await db.prisma.registrationPeriod.updateMany({ where: { clientId }, data: { since: began } });
  expect((await readOne(personId, clientId))?.periods).toMatchObject([{ since: null, until: null }]);
  await changeDirectory(db, originOn(2), (change) => withdrawGrant(change, { clientId, schoolId: school }));
  expect((await readOne(personId, clientId))?.periods).toMatchObject([{ since: null, until: day(2).toISOString() }]);
  await grantOn(3, clientId);
  expect((await readOne(personId, clientId))?.periods).toMatchObject([
    { since: null, until: day(2).toISOString() },
    { since: day(3).toISOString(), until: null },
  ]);
});

test("a sign-in says what the app could get then, and makes the person a user", async () => {
  const personId = await make.person({ school });
  const app = await make.app({ scopes: ["openid", "profile", "users:read"] });
  await make.grant({ app: app.clientId, school, sync: false });
  expect(await readOne(personId, app.clientId)).toBeUndefined();
  await getUserTokens(service, app, await giveLogin(db, personId), { scopes: ["openid", "profile"] });
  const at = clock().toISOString();
  expect(await readOne(personId, app.clientId)).toMatchObject({
    signIn: { firstAt: at, lastAt: at, attributes: ["name"] },
    periods: [{ since: at, until: null, attributes: ["name", "role", "status"] }],
  });
});

test("the last read of the school is named while the app can read the person, and kept after", async () => {
  const personId = await make.person({ school, groups: [group] });
  const app = await make.app();
  const { clientId } = app;
  await grantOn(-1, clientId);
  const token = await issueAppToken(service, app, ["people:read"]);
  const { status } = await fetch(`${service.url}/idm/ep/v1/schools/${school}/people`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(status).toBe(200);
  await service.runJob("access.writeLastCalls");
  expect((await readOne(personId, clientId))?.lastReadAt).toBe(day(0).toISOString());
  await changeDirectory(db, originOn(2), (change) => setSync(change, { clientId, schoolId: school, sync: false }));
  await db.prisma.lastCall.deleteMany({ where: { clientId } });
  expect((await readOne(personId, clientId))?.lastReadAt).toBe(day(0).toISOString());
});

test("the person and staff of the home school read it; a guest's school, class teachers and strangers do not", async () => {
  const personId = await make.person({ school, groups: [group] });
  await changeDirectory(db, originOn(0), (change) => joinSchool(change, { personId, schoolId: other }));
  const app = await make.app({ scopes: ["openid", "people:read", "admin:read"] });
  await make.grant({ app: app.clientId, school, groups: [group] });
  const { access_token: token } = await getUserTokens(service, app, await giveLogin(db, personId), {
    scopes: ["openid", "admin:read"],
  });
  const own = { app, call: makeAdminClient(service, token) };
  const seen = await read(personId);
  expect(seen.map(({ clientId }) => clientId)).toContain(app.clientId);
  expect(seen.find(({ clientId }) => clientId === app.clientId)?.periods.at(-1)?.schools).toEqual([
    { id: school, name: "Here" },
  ]);
  const ofOwn = (await read(personId, own)).find(({ clientId }) => clientId === app.clientId);
  expect(
    ofOwn?.periods
      .at(-1)
      ?.schools.map(({ name }) => name)
      .sort(),
  ).toEqual(["Here", "There"]);
  expect((await read(personId, support)).length).toBe(seen.length);
  const refused = async ({ call }: typeof admin, of = personId) =>
    refusalOf(await call("GET", `/people/${of}/disclosures`));
  expect(await refused(guestSchool)).toEqual([403, "home_school_only"]);
  expect(await refused(classTeacher)).toEqual([403, "role_forbids"]);
  expect(await refused(own, await make.person({ school }))).toEqual([403, "role_forbids"]);
  expect(await refused(admin, await make.person({ school: other }))).toEqual([404, "person_not_found"]);
});
