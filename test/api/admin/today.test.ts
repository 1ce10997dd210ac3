import { randomBytes, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { PersonId } from "../../../src/directory/index.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, refusalOf } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { hashAllQuickly } from "../../support/quick-hash.ts";
import { startService } from "../../support/service.ts";
import { giveLogin } from "../../support/token.ts";

type Today = components["schemas"]["Today"];

hashAllQuickly();
const service = await startService();
const make = makeMakers(service.db);
const now = service.clock();
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
const [school, otherSchool, empty] = [await make.school(), await make.school(), await make.school()];
const [used, unused, fresh] = [await make.app({ name: "Used" }), await make.app({ name: "Unused" }), await make.app()];
for (const { clientId } of [used, unused, fresh]) await make.grant({ app: clientId, school });
await service.db.prisma.grant.updateMany({
  where: { clientId: { not: fresh.clientId } },
  data: { createdAt: daysAgo(91) },
});
const people: string[] = [];
for (let n = 0; n < 7; n++) people.push(await make.person({ school }));
const left = await make.person({ school, status: "SOFT_DELETED" });
const leftLongAgo = await make.person({ school, status: "SOFT_DELETED" });
await service.db.prisma.person.update({ where: { id: leftLongAgo }, data: { softDeletedAt: daysAgo(8) } });
const atOther = await make.person({ school: otherSchool });
await make.signIn({ app: used.clientId, person: people[0] as PersonId });
await make.signIn({ app: unused.clientId, person: atOther });

async function hold(schoolId: string, state: "HELD" | "READY" = "HELD"): Promise<string> {
  const id = randomUUID();
  const schools = { create: [{ schoolId, state, counts: {} }] };
  const kind = { format: "PLAIN", mode: "BULK", state, fileName: "people.csv", namedSchoolIds: [schoolId] };
  await service.db.prisma.import.create({ data: { id, ...kind, createdAt: now, schools } });
  return id;
}

async function fail(clientId: string): Promise<string> {
  const id = randomUUID();
  const times = { stateChangedAt: now, createdAt: now, updatedAt: now, failingSince: now, failures: 1 };
  const url = "https://app.example/hook";
  await service.db.prisma.webhookEndpoint.create({ data: { id, clientId, url, eventTypes: ["person"], ...times } });
  return id;
}

const [held, heldElsewhere] = [await hold(school), await hold(otherSchool)];
const ready = await hold(school, "READY");
const [failing, failingElsewhere] = [await fail(used.clientId), await fail(unused.clientId)];
const operator = await makeStaff(service, "OPERATOR");
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const district = await makeStaff(service, "DISTRICT", { schoolIds: [school, otherSchool] });
const partner = await makeStaff(service, "PARTNER", { clientIds: [used.clientId] });
const read = async ({ call }: typeof admin, query = "") => (await call("GET", `/today${query}`)).body as Today;
const ids = (some: { first: { id: string }[] } | null) => some?.first.map(({ id }) => id);

test("a school sees what is held, who has no login, who left and what nobody uses, with the first few of each", async () => {
  const today = await read(admin);
  expect([ids(today.heldImports), today.failingEndpoints]).toEqual([[held], null]);
  const waiting = (await admin.call("GET", `/imports?school=${school}&waiting=true`)).body as { id: string }[];
  expect([today.waitingImports!.count, ids(today.waitingImports)]).toEqual([2, waiting.map(({ id }) => id)]);
  expect(waiting.map(({ id }) => id).sort()).toEqual([held, ready].sort());
  const { withoutLogin, newLeavers, unusedApps, firstSteps } = today.atSchools!;
  expect([withoutLogin.count, withoutLogin.first.length]).toEqual([7, 5]);
  expect(withoutLogin.first[0]!.name).toMatchObject({ last: expect.any(String) as string });
  expect(newLeavers).toMatchObject({ count: 1, first: [{ id: left, softDeletedAt: now.toISOString() }] });
  expect(unusedApps).toEqual({
    count: 1,
    first: [{ clientId: unused.clientId, name: "Unused", schoolId: school }],
  });
  const steps = { hasPeople: true, hasLogins: false, hasApps: true, students: 7, studentsWithLogin: 0 };
  expect(firstSteps).toEqual(steps);
  const login = { username: "bo.muster" };
  expect((await admin.call("PUT", `/people/${people[0]!}/login`, { body: login })).status).toBe(200);
  const after = (await read(admin)).atSchools!;
  expect([after.withoutLogin.count, after.firstSteps]).toEqual([
    6,
    { ...steps, hasLogins: true, studentsWithLogin: 1 },
  ]);
});

test("a district sees its schools together, and one where it asks for one; a new school has all steps before it", async () => {
  const [both, own] = [await read(district), await read(admin)];
  expect(ids(both.heldImports)!.sort()).toEqual([held, heldElsewhere].sort());
  expect(both.atSchools).toMatchObject({
    withoutLogin: { count: own.atSchools!.withoutLogin.count + 1 },
    firstSteps: null,
  });
  expect((await read(district, `?school=${otherSchool}`)).atSchools!.withoutLogin.count).toBe(1);
  const begin = await read(operator, `?school=${empty}`);
  expect(begin).toMatchObject({
    heldImports: { count: 0, first: [] },
    atSchools: {
      firstSteps: { hasPeople: false, hasLogins: false, hasApps: false, students: 0, studentsWithLogin: 0 },
    },
  });
});

test("an operator sees held imports and failing webhooks of all, a partner failing webhooks of own apps alone", async () => {
  const all = await read(operator);
  expect([all.heldImports!.count, all.atSchools]).toEqual([2, null]);
  expect(ids(all.failingEndpoints)!.sort()).toEqual([failing, failingElsewhere].sort());
  expect(await read(partner)).toEqual({
    heldImports: null,
    waitingImports: null,
    rosterConnections: null,
    atSchools: null,
    failingEndpoints: {
      count: 1,
      first: [
        {
          id: failing,
          clientId: used.clientId,
          appName: "Used",
          url: "https://app.example/hook",
          state: "ACTIVE",
          failingSince: now.toISOString(),
        },
      ],
    },
    overdueErasures: { count: 0, first: [] },
    schoolLogins: null,
  });
  expect(refusalOf(await partner.call("GET", `/today?school=${school}`))).toEqual([404, "school_not_found"]);
  expect(refusalOf(await admin.call("GET", `/today?school=${otherSchool}`))).toEqual([404, "school_not_found"]);
});

test("who cannot sign in and who never did: the numbers are those of the lists behind them", async () => {
  const [ofSchool, homeOfGuests] = [await make.school(), await make.school()];
  const group = await make.group({ school: ofSchool, name: "Klasse 5a" });
  const person = (name: string) => make.person({ school: ofSchool, groups: [group], name: named(name) });
  const [nobody, named_, carded, typed, blockedCard] = [
    await person("Without"),
    await person("Username"),
    await person("Card"),
    await person("Password"),
    await person("Revoked"),
  ];
  await make.person({ schools: [homeOfGuests, ofSchool], name: named("Guest") });
  await make.person({ school: ofSchool, status: "SOFT_DELETED", name: named("Left") });
  await giveLogin(service.db, typed);
  const { prisma } = service.db;
  for (const personId of [named_, carded, blockedCard])
    await prisma.credential.create({ data: { personId, username: `u.${personId}`, updatedAt: now } });
  await addCard(carded, ofSchool, { lastUsedAt: now });
  await addCard(blockedCard, ofSchool, { revokedAt: now });
  const office = await makeStaff(service, "SECRETARY", { schoolIds: [ofSchool] });
  const listed = async (state: string) => {
    const of = (path: string) =>
      office.call("GET", path).then(({ body }) => (body as { id: string }[]).map(({ id }) => id));
    const [school, members] = [
      await of(`/people?school=${ofSchool}&sign-in=${state}`),
      await of(`/groups/${group}/members?sign-in=${state}`),
    ];
    expect(members).toEqual(school);
    return school.sort();
  };
  const counts = async () => {
    const { withoutLogin, neverSignedIn, firstSteps } = (await read(office, `?school=${ofSchool}`)).atSchools!;
    return [withoutLogin.count, neverSignedIn, firstSteps!.students, firstSteps!.studentsWithLogin];
  };

  const ofClasses = async () => {
    const { body } = await office.call("GET", `/schools/${ofSchool}/class-sign-ins`);
    const classes = body as {
      id: string;
      name: string;
      students: number;
      neverSignedIn: number;
      withoutLogin: number;
    }[];
    for (const { id, students, neverSignedIn, withoutLogin } of classes) {
      const pupils = `/groups/${id}/members?role=STUDENT&status=ACTIVE`;
      const lists = [pupils, `${pupils}&sign-in=NEVER`, `${pupils}&sign-in=IMPOSSIBLE`];
      const found = await Promise.all(lists.map((path) => office.call("GET", path)));
      expect(found.map((list) => (list.body as unknown[]).length)).toEqual([students, neverSignedIn, withoutLogin]);
    }
    return classes.map(({ name, ...one }) => [name, one.students, one.neverSignedIn, one.withoutLogin]);
  };

  // Cards are switched off at the school, so the card signs nobody in.
  expect(await listed("IMPOSSIBLE")).toEqual([nobody, named_, carded, blockedCard].sort());
  expect(await listed("NEVER")).toEqual([nobody, named_, typed, blockedCard].sort());
  expect(await counts()).toEqual([4, 4, 5, 1]);
  expect(await ofClasses()).toEqual([["Klasse 5a", 5, 4, 4]]);

  const limits = { grades: [], weekdays: [], networks: [] };
  const settings = { ...limits, enabled: true, secondStep: "NONE", printSecondStep: false, updatedAt: now } as const;
  await prisma.cardSettings.create({ data: { schoolId: ofSchool, ...settings } });
  expect(await listed("IMPOSSIBLE")).toEqual([nobody, named_, blockedCard].sort());
  expect(await counts()).toEqual([3, 4, 5, 2]);

  // A teacher, a guest and one who has left: only the guest is a pupil of the class.
  const later = await make.group({ school: ofSchool, name: "Klasse 10a" });
  const inLater = { groups: [later], name: named("Later") };
  await make.person({ school: ofSchool, ...inLater, role: "TEACHER" });
  await make.person({ schools: [homeOfGuests, ofSchool], ...inLater });
  await make.person({ school: ofSchool, ...inLater, status: "SOFT_DELETED" });
  await make.group({ school: ofSchool, name: "Klasse 1b" });
  await make.group({ school: ofSchool, name: "Chor", type: "SONSTIG" });
  expect(await ofClasses()).toEqual([
    ["Klasse 1b", 0, 0, 0],
    ["Klasse 5a", 5, 4, 3],
    ["Klasse 10a", 1, 0, 0],
  ]);
  await prisma.person.deleteMany({ where: { role: "TEACHER", affiliations: { some: { schoolId: ofSchool } } } });

  await prisma.knownDevice.create({ data: { personId: typed, device: Buffer.from(typed), lastUsedAt: now } });
  expect(await listed("NEVER")).toEqual([nobody, named_, blockedCard].sort());
  expect((await office.call("POST", `/people/${typed}/login/password`)).status).toBe(200);
  expect(await prisma.knownDevice.count({ where: { personId: typed } })).toBe(0);
  expect(await listed("NEVER")).toEqual([nobody, named_, blockedCard].sort());
  expect(refusalOf(await office.call("GET", "/people?sign-in=NEVER"))).toEqual([400, "invalid_request"]);
});

const named = (last: string) => ({ firstFull: "Ada", firstCall: "Ada", last });

async function addCard(personId: PersonId, schoolId: string, more: { lastUsedAt?: Date; revokedAt?: Date }) {
  const card = { id: randomUUID(), tokenHash: randomBytes(32), secondStep: "NONE", createdAt: now } as const;
  await service.db.prisma.loginCard.create({ data: { ...card, personId, schoolId, ...more } });
}
