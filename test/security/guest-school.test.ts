import { beforeEach, expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import { setHomeSchool, type GroupId, type PersonId, type SchoolId } from "../../src/directory/index.ts";
import { makeStaff, refusalOf, type Sent } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { startService } from "../support/service.ts";
import { giveLogin, type Login } from "../support/token.ts";
import { untilWaiting } from "../support/waiting.ts";

// Which operations a school where somebody is a guest gets no part of: test/admin/persons/.
hashAllQuickly();
const service = await startService();
const { db } = service;
const make = makeMakers(db);

const [home, guest] = [await make.school({ name: "Home" }), await make.school({ name: "Guest" })];
const adminOf = async (schoolId: SchoolId) =>
  (await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [schoolId] })).call;
const [homeAdmin, guestAdmin] = [await adminOf(home), await adminOf(guest)];

let homeClass: GroupId;
let guestClass: GroupId;
let pupil: PersonId;
let own: PersonId;
let login: Login;

beforeEach(async () => {
  homeClass = await make.group({ school: home, name: "Class at home" });
  guestClass = await make.group({ school: guest, name: "Class of the guest school" });
  pupil = await make.person({
    schools: [home, guest],
    groups: [homeClass, guestClass],
    sourceSystemIdentifier: `source-${homeClass}`,
  });
  own = await make.person({ school: guest, groups: [guestClass] });
  login = await giveLogin(db, pupil);
});

/** Everything that a take-over would change. */
const stateOf = async (personId: PersonId) => ({
  person: await db.prisma.person.findUnique({ where: { id: personId }, omit: { updatedAt: true } }),
  credential: await db.prisma.credential.findUnique({ where: { personId } }),
  cards: await db.prisma.loginCard.count({ where: { personId } }),
  at: (await db.prisma.affiliation.findMany({ where: { personId } })).map(({ schoolId }) => schoolId).sort(),
});

const person = (more = "") => `/people/${pupil}${more}`;
test("new passwords of a class, of a school and on cards leave guests out", async () => {
  await guestAdmin("PUT", `/schools/${guest}/card-settings`, {
    body: { enabled: true, grades: null, hours: null, networks: [], secondStep: "NONE", printSecondStep: false },
  });
  const before = await stateOf(pupil);
  const ofClass = await guestAdmin("POST", `/groups/${guestClass}/logins`, { body: { onlyMissing: false } });
  const ofSchool = await guestAdmin("POST", `/schools/${guest}/logins`, {
    body: { onlyMissing: false, roles: ["STUDENT"] },
  });
  for (const { status, body } of [ofClass, ofSchool]) {
    expect(status).toBe(200);
    const ids = (body as { personId: string }[]).map(({ personId }) => personId);
    expect([ids.includes(own), ids.includes(pupil)]).toEqual([true, false]);
  }
  const cards = await guestAdmin("POST", `/schools/${guest}/login-cards`, {
    body: { groupId: guestClass, newPasswords: true, withQr: true },
  });
  expect(cards).toMatchObject({
    status: 201,
    body: { cards: [{ personId: own }], skipped: [{ personId: pupil, reason: "GUEST" }] },
  });
  expect(await stateOf(pupil)).toEqual(before);
});

const texts = (sent: Sent) => JSON.stringify(sent.body);

test("a school where somebody is a guest sees neither login name, source id, home groups nor times of sign-ins", async () => {
  const seen = await guestAdmin("GET", person());
  expect(seen).toMatchObject({
    status: 200,
    body: {
      id: pupil,
      isGuest: true,
      homeSchool: { id: home, name: "Home" },
      hasLogin: true,
      username: null,
      sourceSystemIdentifier: null,
      firstSignInAt: null,
      lastSignInAt: null,
      schools: [{ id: guest }],
      groups: [{ id: guestClass }],
    },
  });
  const app = await make.app();
  await make.grant({ app: app.clientId, school: guest });
  const reads = [
    seen,
    await guestAdmin("GET", `/people?school=${guest}`),
    await guestAdmin("GET", `/groups/${guestClass}/members`),
    await guestAdmin("GET", person(`/sign-in-explanation?app=${app.clientId}`)),
    await guestAdmin("GET", person("/apps")),
    await guestAdmin("GET", `/schools/${guest}/apps/${app.clientId}/view?resource=person&id=${pupil}`),
    await guestAdmin("GET", `/audit?person=${pupil}`),
  ];
  for (const sent of reads) {
    expect(sent.status).toBe(200);
    for (const secret of [login.username, homeClass, `source-${homeClass}`, "Class at home"])
      expect(texts(sent)).not.toContain(secret);
  }
  const found = await guestAdmin("GET", `/people?school=${guest}&search=${login.username}`);
  expect(found.body).toEqual([]);
});

test("the guest school manages its own memberships and ends its own affiliation, and nothing of the home school", async () => {
  const statuses = [
    await guestAdmin("DELETE", `/groups/${guestClass}/members/${pupil}`),
    await guestAdmin("PUT", `/groups/${guestClass}/members/${pupil}`, { body: {} }),
    await guestAdmin("DELETE", `/groups/${homeClass}/members/${pupil}`),
    await guestAdmin("DELETE", person(`/schools/${home}`)),
    await guestAdmin("DELETE", person(`/schools/${guest}`)),
  ];
  expect(statuses.map(({ status }) => status)).toEqual([204, 204, 404, 404, 204]);
  expect((await stateOf(pupil)).at).toEqual([home]);
  expect(refusalOf(await guestAdmin("POST", person("/login/password")))).toEqual([404, "person_not_found"]);
});

test("a change of home hands over at once, and the old home gets no password through while it is under way", async () => {
  const [under, over] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
  const moved = changeDirectory(db, { at: service.clock(), actorId: "test" }, async (change) => {
    await setHomeSchool(change, { personId: pupil, schoolId: guest });
    under.resolve(null);
    await over.promise;
  });
  await under.promise;
  const waiting = homeAdmin("POST", person("/login/password"));
  await untilWaiting(db);
  over.resolve(null);
  await moved;
  expect(refusalOf(await waiting)).toEqual([403, "home_school_only"]);
  expect((await guestAdmin("POST", person("/login/password"))).status).toBe(200);
});

test("who joins another school is its guest at once", async () => {
  const newcomer = await make.person({ school: home });
  const both = (await makeStaff(service, "SECRETARY", { schoolIds: [home, guest] })).call;
  expect(refusalOf(await guestAdmin("GET", `/people/${newcomer}`))).toEqual([404, "person_not_found"]);
  expect((await both("PUT", `/people/${newcomer}/schools/${guest}`)).status).toBe(204);
  expect(await guestAdmin("GET", `/people/${newcomer}`)).toMatchObject({ status: 200, body: { isGuest: true } });
  expect(refusalOf(await guestAdmin("PATCH", `/people/${newcomer}`, { body: { role: "OTHER" } }))).toEqual([
    403,
    "home_school_only",
  ]);
  expect((await both("POST", `/people/${pupil}/login/password`)).status).toBe(200);
});
