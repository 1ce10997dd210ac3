import type { Prisma } from "../../generated/prisma/client.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { makeRowLock } from "../platform/database/sql.ts";
import { checkLogo, refuseLogo, type Logo } from "../platform/images/image.ts";
import { limitThreaded, type AskedBy } from "../platform/threads/index.ts";
import { definedOf, listDifferent, auditChange, write, type Change } from "./change.ts";
import type { SchoolId } from "./ids.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };
import { makeSortKey } from "./sort-key.ts";
import { checkName, checkTexts } from "./text.ts";

/** What federal states, by ISO 3166-2, and schooling levels are called on pages. */
export const schoolTexts = { de: german, en: english };

type SchoolRecord = Omit<Prisma.SchoolModel, "id" | "sortKey" | "sandboxId" | "createdAt" | "updatedAt">;

type SchoolAddress = Pick<SchoolRecord, "address" | "addressAddition" | "city" | "zipCode">;

/** An ISO 3166-1 country, and an ISO 3166-2 subdivision without the country. */
type SchoolLocation = Pick<SchoolRecord, "country" | "state">;

type Nested<Address> = Omit<SchoolRecord, keyof SchoolAddress | keyof SchoolLocation> & {
  address: Address;
  location: SchoolLocation;
};

export type School = Nested<SchoolAddress> & { id: SchoolId };

type NullableKey<T> = { [Key in keyof T]: null extends T[Key] ? Key : never }[keyof T];
type NullOptional<T> = Omit<T, NullableKey<T>> & { [Key in NullableKey<T>]?: T[Key] };

export type NewSchool = NullOptional<Nested<NullOptional<SchoolAddress>>> & { id?: SchoolId | undefined };

/** No real person comes to a sandbox school, and no other app sees it. */
type NewSandboxSchool = NewSchool & { sandboxId: string };

type Optional<Whole> = { [Name in keyof Whole]?: Whole[Name] | undefined };

export type SchoolUpdate = { schoolId: SchoolId } & Optional<Omit<School, "id" | "address" | "location">> & {
    address?: Optional<SchoolAddress> | undefined;
    location?: Optional<SchoolLocation> | undefined;
  };

export async function createSchool(change: Change, school: NewSchool | NewSandboxSchool): Promise<SchoolId> {
  const { tx, now } = change;
  const { id: chosen, address, location, sandboxId, ...rest } = { sandboxId: null, ...school };
  const id = chosen ?? (makeUuid(now) as SchoolId);
  const record = checkTexts({ ...rest, ...address, ...location });
  checkName("name", record.name);
  checkZipCode(record);
  await change.touch({ schools: [id] });
  const times = { createdAt: now, updatedAt: now };
  await write(
    tx.prisma.school.create({ data: { id, ...record, sandboxId, sortKey: makeSortKey(record.name), ...times } }),
  );
  await auditChange(change, { action: "school_created", schoolId: id });
  return id;
}

/** Other countries have codes of other shapes. */
function checkZipCode({ country, zipCode }: SchoolLocation & SchoolAddress): void {
  if (country === "DE" && !/^[0-9]{5}$/.test(zipCode))
    throw new AppError("invalid", "zip_code_malformed", "zipCode must have five digits in Germany.");
}

/**
 * Returns the names of the fields that differ. Errors: invalid text_*, zip_code_malformed; not_found school_not_found;
 * conflict official_id_taken.
 */
export async function updateSchool(change: Change, update: SchoolUpdate): Promise<(keyof SchoolRecord)[]> {
  const { tx, now } = change;
  const { schoolId: id, address, location, ...rest } = update;
  await change.touch({ schools: [id] });
  const before = await lockSchool(tx, id);
  const after = checkTexts({ ...before, ...definedOf(rest), ...definedOf(address), ...definedOf(location) });
  const changed = listDifferent(before, after);
  if (changed.length === 0) return [];
  if (changed.includes("name")) checkName("name", after.name);
  if (changed.includes("zipCode") || changed.includes("country")) checkZipCode(after);
  const data = { ...after, sortKey: makeSortKey(after.name), updatedAt: now };
  await write(tx.prisma.school.update({ where: { id }, data }));
  await auditChange(change, { action: "school_updated", schoolId: id, detail: { changed } });
  return changed;
}

export async function isSandboxSchool({ prisma }: RecordStore, schoolId: SchoolId): Promise<boolean> {
  return (await prisma.school.count({ where: { id: schoolId, sandboxId: { not: null } } })) > 0;
}

const lockRow = makeRowLock("school", "id", "directory.lockSchool");

async function lockSchool(tx: Transaction, schoolId: SchoolId): Promise<SchoolRecord> {
  await lockRow(tx, schoolId);
  const record = await tx.prisma.school.findUnique({
    where: { id: schoolId },
    omit: { id: true, sortKey: true, sandboxId: true, createdAt: true, updatedAt: true },
  });
  if (record === null) throw new AppError("not_found", "school_not_found", "The school does not exist.");
  return record;
}

type SchoolLogo = Pick<Logo, "hash" | "bytes"> & { type: "image/png" | "image/jpeg" };

export const findSchoolLogo = ({ prisma }: RecordStore, schoolId: SchoolId): Promise<SchoolLogo | null> =>
  prisma.schoolLogo.findUnique({ where: { schoolId }, omit: { schoolId: true } }) as Promise<SchoolLogo | null>;

const isPrintable = limitThreaded<Buffer, boolean>({
  module: new URL("../platform/images/printable-image.ts", import.meta.url),
  seconds: 20,
});

export async function checkSchoolLogo(image: Buffer, caller: AskedBy): Promise<Logo> {
  const logo = checkLogo(image, { types: ["image/png", "image/jpeg"], called: "PNG or JPEG" });
  if (!(await isPrintable(image, caller))) throw refuseLogo("is damaged");
  return logo;
}

export async function putSchoolLogo(
  tx: Transaction,
  { schoolId, logo }: { schoolId: SchoolId; logo: Logo },
  origin: Origin,
): Promise<void> {
  if (logo.hash === (await lockSchoolLogo(tx, schoolId))) return;
  await tx.prisma.schoolLogo.upsert({ where: { schoolId }, create: { schoolId, ...logo }, update: logo });
  await recordAudit(tx, { ...origin, action: "school_logo_set", schoolId });
}

export async function deleteSchoolLogo(tx: Transaction, schoolId: SchoolId, origin: Origin): Promise<void> {
  if ((await lockSchoolLogo(tx, schoolId)) === null) return;
  await tx.prisma.schoolLogo.delete({ where: { schoolId } });
  await recordAudit(tx, { ...origin, action: "school_logo_removed", schoolId });
}

/** Returns the hash of the logo; null if there is none. */
export async function lockSchoolLogo(tx: Transaction, schoolId: SchoolId): Promise<string | null> {
  await lockSchool(tx, schoolId);
  return (await tx.prisma.schoolLogo.findUnique({ where: { schoolId }, select: { hash: true } }))?.hash ?? null;
}
