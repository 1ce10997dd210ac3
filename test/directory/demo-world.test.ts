import { expect, test } from "vitest";
import { loadDemoWorld } from "../../demo/load.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { hashQuickly } from "../support/quick-hash.ts";

const now = new Date("2026-02-03T08:00:00Z");
const options = {
  now,
  production: false,
  restoreWindowDays: 30,
  hashPassword: hashQuickly,
  setPasswordHash: async () => undefined,
};

test("the demo world is loaded once, also when two processes start together", async () => {
  const db = await testDatabase();
  const loaded = await Promise.all([loadDemoWorld(db, options), loadDemoWorld(db, options)]);
  expect(loaded.sort()).toEqual([false, true]);
  const { person, group, app, grant, signIn } = db.prisma;
  expect([
    await person.count(),
    await group.count(),
    await app.count({ where: { clientId: { not: "schultor-cli" } } }),
    await grant.count(),
    await signIn.count(),
  ]).toEqual([14, 7, 4, 7, 2]);
  expect(
    await person.findMany({
      where: { status: "SOFT_DELETED" },
      select: { id: true, softDeletedAt: true, purgeAt: true },
    }),
  ).toEqual([
    { id: "c0000000-0000-4000-8000-000000000005", softDeletedAt: now, purgeAt: new Date("2026-03-05T08:00:00Z") },
  ]);
  expect(await group.findMany({ where: { status: "DELETED" }, select: { name: true } })).toEqual([
    { name: "Klasse 4b (Vorjahr)" },
  ]);
});

test("the staff are at no school, hold their roles, and are added once to a demo world without them", async () => {
  const db = await testDatabase();
  const credentials: { personId: string; username: string }[] = [];
  const given = {
    ...options,
    async setPasswordHash(_tx: unknown, { personId, username }: { personId: string; username: string }) {
      credentials.push({ personId, username });
    },
  };
  const listStaff = () =>
    db.prisma.staffRole.findMany({
      select: {
        role: true,
        personId: true,
        person: { select: { homeSchoolId: true, affiliations: true } },
        schools: { select: { schoolId: true } },
        apps: { select: { clientId: true } },
      },
      orderBy: { role: "asc" },
    });
  await loadDemoWorld(db, given);
  const usernames = new Map(credentials.map(({ personId, username }) => [personId, username]));
  const atNoSchool = { homeSchoolId: null, affiliations: [] };
  const roles = (await listStaff()).map(({ personId, ...role }) => [usernames.get(personId!)!, role] as const);
  expect(roles.sort(([left], [right]) => left.localeCompare(right))).toEqual([
    ["operator", { role: "OPERATOR", person: atNoSchool, schools: [], apps: [] }],
    ["partner.lernapp", { role: "PARTNER", person: atNoSchool, schools: [], apps: [{ clientId: "demo-lernapp" }] }],
    ...[
      ["schooladmin.goethe", "a0000000-0000-4000-8000-000000000001"],
      ["schooladmin.park", "a0000000-0000-4000-8000-000000000002"],
    ].map(([username, schoolId]) => [
      username,
      { role: "SCHOOL_ADMIN", person: atNoSchool, schools: [{ schoolId }], apps: [] },
    ]),
  ]);

  const staff = (await listStaff()).map(({ personId }) => personId!);
  await db.prisma.staffRole.deleteMany();
  await db.prisma.person.deleteMany({ where: { id: { in: staff } } });
  await db.prisma.audit.deleteMany({ where: { action: "staff_role_given" } });
  expect(await Promise.all([loadDemoWorld(db, given), loadDemoWorld(db, given)])).toEqual([false, false]);
  expect(await db.prisma.person.count()).toBe(14);
  expect((await listStaff()).map(({ role }) => role)).toEqual(["OPERATOR", "SCHOOL_ADMIN", "SCHOOL_ADMIN", "PARTNER"]);
});

test("production refuses the demo world, a credential that fails leaves nothing, and a database that holds anything is left alone", async () => {
  const db = await testDatabase();
  await expect(loadDemoWorld(db, { ...options, production: true })).rejects.toThrow("never loaded in production");
  const failing = loadDemoWorld(db, { ...options, setPasswordHash: () => Promise.reject(new Error("no memory")) });
  await expect(failing).rejects.toThrow("no memory");
  expect(await db.prisma.school.count()).toBe(0);
  await makeMakers(db).school();
  expect(await loadDemoWorld(db, options)).toBe(false);
  expect(await db.prisma.school.count()).toBe(1);
});
