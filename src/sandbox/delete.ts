import { changeDirectory, type ClientId } from "../access/index.ts";
import { auditChange, type PersonId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { PrismaDb, Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import { forgetApp } from "../sign-on/index.ts";
import { forgetPerson } from "../accounts/index.ts";
import { deleteFiguresOf } from "../traffic/index.ts";
import { lockSandbox, type Sandbox, type SandboxId } from "./find.ts";

/** Notifies the app; leaves no tombstones. Errors: not_found sandbox_not_found; what `check` throws. */
export function deleteSandbox(
  db: PrismaDb,
  id: SandboxId,
  origin: Origin,
  check: (sandbox: Sandbox) => void = () => undefined,
): Promise<void> {
  return changeDirectory(db, origin, async (change) => {
    const sandbox = await lockSandbox(change.tx, id);
    check(sandbox);
    for (const school of sandbox.schools) await change.touchSchool(school.id);
    await removeRows(change.tx, sandbox);
    await auditChange(change, { action: "sandbox_deleted", clientId: sandbox.clientId, detail: { sandboxId: id } });
  });
}

/** Part of deleting the app, so nobody is notified. */
export async function forgetAppWithSandboxes(tx: Transaction, clientId: ClientId): Promise<void> {
  const sandboxes = await tx.prisma.sandbox.findMany({ where: { clientId }, select: { id: true } });
  for (const { id } of sandboxes) await removeRows(tx, await lockSandbox(tx, id as SandboxId));
  await forgetApp(tx, clientId);
}

async function removeRows(tx: Transaction, { id, schools }: Pick<Sandbox, "id" | "schools">): Promise<void> {
  const { prisma } = tx;
  const schoolIds = schools.map((school) => school.id);
  const ofSchools = { in: schoolIds };
  await prisma.grant.deleteMany({ where: { schoolId: ofSchools } });
  const at = { homeSchoolId: ofSchools };
  // Only people with a login have sessions and tokens.
  const withLogin = await prisma.credential.findMany({ where: { person: at }, select: { personId: true } });
  for (const { personId } of withLogin) await forgetPerson(tx, personId as PersonId);
  await prisma.person.deleteMany({ where: at });
  await prisma.group.deleteMany({ where: { schoolId: ofSchools } });
  await prisma.school.deleteMany({ where: { id: ofSchools } });
  await prisma.sandbox.delete({ where: { id } });
  for (const schoolId of schoolIds) await deleteFiguresOf(tx, `school:${schoolId}`);
  await prisma.viewVersion.deleteMany({
    where: { subject: { in: schoolIds.map((schoolId) => `school:${schoolId}`) } },
  });
}

export function makeSandboxSweep({ db, clock }: { db: PrismaDb; clock: Clock }): WorkerJob {
  return {
    name: "sandbox.sweep",
    everySeconds: 3600,
    async run(signal) {
      const due = await db.prisma.sandbox.findMany({
        where: { expiresAt: { lte: clock() } },
        select: { id: true },
        orderBy: { expiresAt: "asc" },
      });
      const failed: unknown[] = [];
      for (const { id } of due) {
        if (signal.aborted) return;
        await deleteSandbox(db, id as SandboxId, { at: clock(), actorId: "sweep" }).catch((error: unknown) => {
          if (!(error instanceof AppError && error.code === "sandbox_not_found")) failed.push(error);
        });
      }
      if (failed.length > 0) throw new AggregateError(failed, `${failed.length} sandboxes could not be deleted`);
    },
  };
}
