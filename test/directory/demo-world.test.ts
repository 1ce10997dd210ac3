import { expect, test } from "vitest";
import { loadDemoWorld } from "../../demo/load.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";

const now = new Date("2026-02-03T08:00:00Z");
const options = { now, production: false, restoreWindowDays: 30, setCredential: async () => undefined };

test("the demo world is loaded once, also when two processes start together", async () => {
  const db = await testDatabase();
  const loaded = await Promise.all([loadDemoWorld(db, options), loadDemoWorld(db, options)]);
  expect(loaded.sort()).toEqual([false, true]);
  const { person, group, app, grant, signIn } = db.prisma;
  expect([
    await person.count(),
    await group.count(),
    await app.count(),
    await grant.count(),
    await signIn.count(),
  ]).toEqual([10, 7, 4, 7, 2]);
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

test("a database that holds anything is left alone", async () => {
  const db = await testDatabase();
  await makeMakers(db).school();
  expect(await loadDemoWorld(db, options)).toBe(false);
  expect(await db.prisma.school.count()).toBe(1);
});

test("a credential that fails leaves the database empty", async () => {
  const db = await testDatabase();
  const failing = loadDemoWorld(db, { ...options, setCredential: () => Promise.reject(new Error("no memory")) });
  await expect(failing).rejects.toThrow("no memory");
  expect(await db.prisma.school.count()).toBe(0);
});

test("production refuses the demo world", async () => {
  const db = await testDatabase();
  await expect(loadDemoWorld(db, { ...options, production: true })).rejects.toThrow("never loaded in production");
  expect(await db.prisma.school.count()).toBe(0);
});
