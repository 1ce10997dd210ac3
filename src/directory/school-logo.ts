import { recordAudit, type Origin } from "../events/index.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { checkLogo, refuseLogo, type Logo } from "../platform/images/logo.ts";
import { limitThreaded, type AskedBy } from "../platform/threads/index.ts";
import type { SchoolId } from "./ids.ts";
import { lockSchool } from "./school.ts";

export type SchoolLogo = Pick<Logo, "hash" | "bytes"> & { type: "image/png" | "image/jpeg" };

export async function findSchoolLogo({ prisma }: RecordStore, schoolId: SchoolId): Promise<SchoolLogo | null> {
  const found = await prisma.schoolLogo.findUnique({ where: { schoolId }, omit: { schoolId: true } });
  return found && { ...found, type: found.type as SchoolLogo["type"] };
}

const isPrintable = limitThreaded<Buffer, boolean>({
  module: new URL("../platform/images/check-printable.ts", import.meta.url),
  seconds: 20,
});

export async function checkSchoolLogo(image: Buffer, caller: AskedBy): Promise<Logo> {
  const logo = checkLogo(image, { types: ["image/png", "image/jpeg"], called: "PNG or JPEG" });
  if (!(await isPrintable(image, caller))) throw refuseLogo("is damaged");
  return logo;
}

type LogoChange = { before: string | null; after: string | null };

export async function putSchoolLogo(
  tx: Transaction,
  { schoolId, logo }: { schoolId: SchoolId; logo: Logo },
  origin: Origin,
): Promise<LogoChange> {
  const before = await lockLogo(tx, schoolId);
  if (logo.hash !== before) {
    await tx.prisma.schoolLogo.upsert({ where: { schoolId }, create: { schoolId, ...logo }, update: logo });
    await recordAudit(tx, { ...origin, action: "school_logo_set", schoolId });
  }
  return { before, after: logo.hash };
}

export async function deleteSchoolLogo(tx: Transaction, schoolId: SchoolId, origin: Origin): Promise<LogoChange> {
  const before = await lockLogo(tx, schoolId);
  if (before !== null) {
    await tx.prisma.schoolLogo.delete({ where: { schoolId } });
    await recordAudit(tx, { ...origin, action: "school_logo_removed", schoolId });
  }
  return { before, after: null };
}

async function lockLogo(tx: Transaction, schoolId: SchoolId): Promise<string | null> {
  await lockSchool(tx, schoolId);
  const found = await tx.prisma.schoolLogo.findUnique({ where: { schoolId }, select: { hash: true } });
  return found?.hash ?? null;
}
