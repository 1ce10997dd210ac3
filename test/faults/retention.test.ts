// @module-tag slow
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { PersonId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { putPolicy } from "../../src/retention/index.ts";
import { retentionRules } from "../retention/rules.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { startProgram } from "../support/program.ts";
import { countAround, whileHeld } from "../support/waiting.ts";

const db = await testDatabase();
const make = makeMakers(db);
const kills = 5;
const day = 86_400_000;
const now = new Date();
const rules = { ...retentionRules, hold: { people: 1000, share: 1 } };

test(`kill -9 ${kills} times in the middle of the retention, on a machine whose clock is 400 days ahead: whoever is due is soft-deleted once, with the event of each app, and nobody earlier than the policy says`, async () => {
  const { clientId } = await make.app();
  const school = await make.school();
  const groups = [await make.group({ school })];
  const due = await make.people({ school, groups, count: 100 });
  const early = await make.people({ school, groups, count: 10 });
  await make.grant({ app: clientId, school, groups });
  const leave = (people: readonly PersonId[], days: number) =>
    db.prisma.person.updateMany({
      where: { id: { in: [...people] } },
      data: { leftAt: new Date(now.getTime() - days * day) },
    });
  await leave(due, 380);
  await leave(early, 350);
  await withPrismaTransaction(db, (tx) => {
    const leftMonths = { value: 12, reason: "School law.", from: "LEAVING" as const };
    const policy = { leftMonths, inactiveMonths: null, restoreDays: null, auditDays: null };
    return putPolicy(tx, { subject: { schoolId: school }, policy, rules: { ...rules, noticeDays: 0 } }, { at: now });
  });

  const count = (people: readonly PersonId[]) =>
    db.prisma.person.count({ where: { id: { in: [...people] }, status: "SOFT_DELETED" } });
  const told = { subjectId: { in: due }, action: "delete", updatedProperties: { has: "status" } };
  const lines = { action: "person_soft_deleted", personId: { in: due } };
  const run = () =>
    startProgram(["--import", "./test/support/shifted-clock.ts", "test/faults/retention-subject.ts"], {
      SUBJECT: JSON.stringify({ url: db.url, rules }),
      CLOCK_OFFSET_SECONDS: String(400 * 86_400),
    });
  for (let kill = 0; kill < kills; kill++) {
    const before = await count(due);
    await whileHeld(db, { people: due, status: "ACTIVE" }, async () => {
      const { child, ended } = run();
      await expect.poll(() => count(due), { interval: 2 }).toBeGreaterThanOrEqual(before + 5);
      // Each time a little further into the next transaction.
      await sleep(kill);
      child.kill("SIGKILL");
      expect((await ended).signal).toBe("SIGKILL");
    });
    await expect.poll(() => countAround(db)).toBe(0);
    const deleted = await count(due);
    expect([await db.prisma.audit.count({ where: lines }), await db.prisma.appEvent.count({ where: told })]).toEqual([
      deleted,
      deleted,
    ]);
    // The school is free again when the time of the process that died is over.
    await db.prisma.retentionCheck.updateMany({ data: { checkAt: now } });
  }
  expect(await count(due)).toBeLessThan(due.length);
  expect((await run().ended).code).toBe(0);

  expect([await count(due), await count(early)]).toEqual([due.length, 0]);
  expect([await db.prisma.audit.count({ where: lines }), await db.prisma.appEvent.count({ where: told })]).toEqual([
    due.length,
    due.length,
  ]);
});
