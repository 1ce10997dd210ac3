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

test("the demo world is loaded once, also when two processes start together, and missing staff are added to it", async () => {
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
  const listStaff = () => db.prisma.staffRole.findMany({ orderBy: { role: "asc" } });
  const staff = (await listStaff()).map(({ personId }) => personId!);
  await db.prisma.staffRole.deleteMany();
  await db.prisma.person.deleteMany({ where: { id: { in: staff } } });
  await db.prisma.audit.deleteMany({ where: { action: "staff_role_given" } });
  expect(await Promise.all([loadDemoWorld(db, options), loadDemoWorld(db, options)])).toEqual([false, false]);
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
