import { expect, test } from "vitest";
import {
  changeDirectory,
  claimsAt,
  findGrant,
  findSignOnRight,
  findSubject,
  listGrants,
  recordFirstSignIn,
  setGrant,
  setSignOn,
  setSync,
  setSyncedGroups,
} from "../../src/access/index.ts";
import type { ClientId, SignOnAudience } from "../../src/access/index.ts";
import type { Change, GroupId, PersonId, SchoolId } from "../../src/directory/index.ts";
import { listTiles } from "../../src/portal/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";

const db = await testDatabase();
const make = makeMakers(db);

const right = (clientId: ClientId, personId: PersonId) =>
  findSignOnRight(db.pool, { clientId, personId }, new Date("2026-02-03T08:00:00Z"));

async function makeSchoolWithApp(signOn: SignOnAudience) {
  const school = await make.school();
  const { clientId } = await make.app();
  await make.grant({ app: clientId, school, signOn });
  return { school, clientId };
}

test("of several schools those are named whose own grant lets the person in, in dictionary order", async () => {
  const named = (name: string) => make.school({ name });
  const [zoo, arbor, closed] = [await named("Zooschule"), await named("Ärzteschule"), await named("Bergschule")];
  const { clientId } = await make.app();
  for (const school of [zoo, arbor]) await make.grant({ app: clientId, school });
  await make.grant({ app: clientId, school: closed, signOn: { kind: "ROLES", roles: ["TEACHER"] } });
  const person = await make.person({ schools: [zoo, closed, arbor] });
  expect(await right(clientId, person)).toEqual({
    kind: "allowed",
    schools: [
      { id: arbor, name: "Ärzteschule" },
      { id: zoo, name: "Zooschule" },
    ],
    staffRoles: [],
    isUser: false,
  });
  const unknown = "00000000-0000-7000-8000-000000000000" as PersonId;
  expect(await right(clientId, unknown)).toEqual({ kind: "refused", reason: "person_not_active" });
});

const asSchool = <T>(work: (change: Change) => Promise<T>): Promise<T> =>
  changeDirectory(db, { at: new Date("2026-03-01T10:00:00Z"), actorId: "school-admin" }, work);

test("sign-on, sync and its groups are set each by itself, and what stays the same is not written", async () => {
  const [school, { clientId }] = [await make.school(), await make.app()];
  const [one, two] = [await make.group({ school }), await make.group({ school })].sort() as [GroupId, GroupId];
  const key = { clientId, schoolId: school };
  expect(await findGrant(db, key)).toBeNull();
  expect(await asSchool((change) => setSyncedGroups(change, { ...key, groups: [two, one, one] }))).toBe(true);
  expect(await findGrant(db, key)).toEqual({
    ...key,
    signOn: { kind: "NOBODY" },
    sync: false,
    syncedGroups: [one, two],
  });
  expect(await asSchool((change) => setSyncedGroups(change, { ...key, groups: [one, two] }))).toBe(false);
  expect(await asSchool((change) => setSync(change, { ...key, sync: true }))).toBe(true);
  expect(await asSchool((change) => setSync(change, { ...key, sync: true }))).toBe(false);
  await asSchool((change) => setSignOn(change, { ...key, signOn: { kind: "GROUPS", groups: [two] } }));
  expect(await findGrant(db, key)).toEqual({
    ...key,
    signOn: { kind: "GROUPS", groups: [two] },
    sync: true,
    syncedGroups: [one, two],
  });
  await asSchool((change) => setSignOn(change, { ...key, signOn: { kind: "ROLES", roles: ["TEACHER", "TEACHER"] } }));
  expect(await asSchool((change) => setSync(change, { ...key, sync: false }))).toBe(true);
  expect(await listGrants(db, { clientId, limit: 10 })).toEqual([
    { ...key, signOn: { kind: "ROLES", roles: ["TEACHER"] }, sync: false, syncedGroups: [one, two] },
  ]);
  const lines = await db.prisma.audit.findMany({
    where: { clientId, actorId: "school-admin" },
    orderBy: { id: "asc" },
    select: { action: true },
  });
  expect(lines.map(({ action }) => action).sort()).toEqual([
    "sign_on_set",
    "sign_on_set",
    "sync_switched_off",
    "sync_switched_on",
    "synced_groups_set",
  ]);
});

test("no part of a grant is given to an app or by a school that does not exist", async () => {
  const [school, { clientId }] = [await make.school(), await make.app()];
  const never = "00000000-0000-7000-8000-000000000000" as SchoolId;
  for (const key of [
    { clientId: "nobody" as ClientId, schoolId: school },
    { clientId, schoolId: never },
  ]) {
    const notFound = { kind: "not_found", code: "app_or_school_not_found" };
    const signOn = { kind: "EVERYBODY" } as const;
    for (const work of [
      (change: Change) => setGrant(change, { ...key, signOn, sync: true, syncedGroups: [] }),
      (change: Change) => setSignOn(change, { ...key, signOn }),
      (change: Change) => setSync(change, { ...key, sync: true }),
      (change: Change) => setSyncedGroups(change, { ...key, groups: [] }),
    ])
      await expect(asSchool<unknown>(work)).rejects.toMatchObject(notFound);
  }
});

test("tiles are the apps that a person may sign in to and that have an address to begin at, by name", async () => {
  const school = await make.school();
  const person = await make.person({ schools: [school, await make.school()] });
  const loginUrl = "https://app.example/login";
  const [zebra, ant, noAddress, closed] = [
    await make.app({ name: "Zebra", loginUrl }),
    await make.app({ name: "Ant", loginUrl }),
    await make.app({ name: "Bee" }),
    await make.app({ name: "Cat", loginUrl }),
  ];
  for (const app of [zebra, ant, noAddress]) await make.grant({ app: app.clientId, school });
  await make.grant({ app: closed.clientId, school, signOn: "NOBODY" });
  expect(await listTiles(db.pool, person)).toEqual([
    { clientId: ant.clientId, name: "Ant", loginUrl, lastSignInAt: null },
    { clientId: zebra.clientId, name: "Zebra", loginUrl, lastSignInAt: null },
  ]);
  await make.signIn({ app: zebra.clientId, person });
  expect((await listTiles(db.pool, person)).map(({ name }) => name)).toEqual(["Zebra", "Ant"]);
  expect(await listTiles(db.pool, await make.person({ school, status: "SOFT_DELETED" }))).toEqual([]);
});

test("a sign-in remembers the first and the last time, also when they arrive out of order", async () => {
  const { school, clientId } = await makeSchoolWithApp({ kind: "EVERYBODY" });
  const personId = await make.person({ school });
  const times = ["2026-02-01T08:00:00Z", "2026-02-03T08:00:00Z", "2026-02-02T08:00:00Z"].map((time) => new Date(time));
  for (const at of times) await recordFirstSignIn(db, { clientId, personId, at });
  expect(await db.prisma.signIn.findMany({ where: { clientId } })).toEqual([
    { clientId, personId, firstSignInAt: times[0], lastSignInAt: times[1] },
  ]);
});

test("claims tell the name, the role, the chosen school and the groups that are synced to the app", async () => {
  const school = await make.school({
    name: "Goetheschule",
    officialId: "DE-NI-1",
    location: { country: "DE", state: "NI" },
    address: { address: "Seestraße 3", addressAddition: null, city: "Stade", zipCode: "21680" },
    schoolingLevel: null,
  });
  const group = await make.group({ school, name: "5a" });
  const { clientId } = await make.app();
  await make.grant({ app: clientId, school, groups: [group] });
  const name = { firstFull: "Ada Marie", firstCall: "Ada", last: "Beispiel" };
  const personId = await make.person({ school, role: "TEACHER", name, groups: [group, await make.group({ school })] });
  const subject = (await findSubject(db.pool, { clientId, personId }))!;
  const claims = (schoolId: SchoolId | null) => claimsAt(subject, schoolId);
  const told = { name, role: "TEACHER", schulconnexRole: "LEHR", groups: [{ id: group, name: "5a" }] };
  expect(claims(school)).toEqual({
    ...told,
    school: {
      id: school,
      name: "Goetheschule",
      officialId: "DE-NI-1",
      location: { country: "DE", state: "NI" },
      address: { address: "Seestraße 3", addressAddition: null, city: "Stade", zipCode: "21680" },
      schoolingLevel: null,
    },
  });
  expect(claims(null)).toEqual({ ...told, school: null });
  expect(claims(await make.school())).toEqual({ ...told, school: null });
  const nobody = "00000000-0000-7000-8000-000000000000" as PersonId;
  expect(await findSubject(db.pool, { clientId, personId: nobody })).toBeNull();
});
