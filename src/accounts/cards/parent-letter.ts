import { checkLines, type SchoolId } from "../../directory/index.ts";
import { recordAudit, type Origin } from "../../events/index.ts";
import type { RecordStore, Transaction } from "../../platform/database/db.ts";

const longest = 2_000;

/** The school's own text; null for the default text. */
export async function findParentLetter({ prisma }: RecordStore, schoolId: SchoolId): Promise<string | null> {
  return (await prisma.parentLetter.findUnique({ where: { schoolId } }))?.text ?? null;
}

/** Errors: invalid for a text that is refused. */
export async function putParentLetter(
  { prisma }: Transaction,
  { schoolId, text: given }: { schoolId: SchoolId; text: string | null },
  origin: Origin,
): Promise<void> {
  if (given === null) await prisma.parentLetter.deleteMany({ where: { schoolId } });
  else {
    const text = checkLines("text", given, longest);
    await prisma.parentLetter.upsert({ where: { schoolId }, create: { schoolId, text }, update: { text } });
  }
  await recordAudit({ prisma }, { ...origin, action: "parent_letter_set", schoolId });
}
