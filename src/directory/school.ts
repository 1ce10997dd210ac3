import type { Prisma } from "../../generated/prisma/client.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { makeRowLock } from "../platform/database/sql.ts";
import { definedOf, listDifferent, auditChange, type Change } from "./change.ts";
import type { SchoolId } from "./ids.ts";
import { write } from "./refusals.ts";
import { makeSortKey } from "./sort-key.ts";
import { checkIdentifier, checkName, checkShape, checkText } from "./text.ts";

export type SchoolRecord = Omit<Prisma.SchoolModel, "id" | "sortKey" | "sandboxId" | "createdAt" | "updatedAt">;

export type SchoolAddress = Pick<SchoolRecord, "address" | "addressAddition" | "city" | "zipCode">;

/** An ISO 3166-1 country, and an ISO 3166-2 subdivision without the country. */
export type SchoolLocation = Pick<SchoolRecord, "country" | "state">;

type Nested<Address> = Omit<SchoolRecord, keyof SchoolAddress | keyof SchoolLocation> & {
  address: Address;
  location: SchoolLocation;
};

export type School = Nested<SchoolAddress> & { id: SchoolId };

type NullableKey<T> = { [Key in keyof T]: null extends T[Key] ? Key : never }[keyof T];
type NullOptional<T> = Omit<T, NullableKey<T>> & { [Key in NullableKey<T>]?: T[Key] };

export type NewSchool = NullOptional<Nested<NullOptional<SchoolAddress>>> & { id?: SchoolId | undefined };

/** No real person comes to a sandbox school, and no other app sees it. */
export type NewSandboxSchool = NewSchool & { sandboxId: string };

type Optional<Whole> = { [Name in keyof Whole]?: Whole[Name] | undefined };

export type SchoolUpdate = { schoolId: SchoolId } & Optional<Omit<School, "id" | "address" | "location">> & {
    address?: Optional<SchoolAddress> | undefined;
    location?: Optional<SchoolLocation> | undefined;
  };

export async function createSchool(change: Change, school: NewSchool | NewSandboxSchool): Promise<SchoolId> {
  const { tx, now } = change;
  const { id: chosen, address, location, sandboxId, ...rest } = { sandboxId: null, ...school };
  const id = chosen ?? (makeUuid(now) as SchoolId);
  const record = checkSchool({ ...rest, ...address, ...location });
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
  const after = checkSchool({ ...before, ...definedOf(rest), ...definedOf(address), ...definedOf(location) });
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

export async function lockSchool(tx: Transaction, schoolId: SchoolId): Promise<SchoolRecord> {
  await lockRow(tx, schoolId);
  const record = await tx.prisma.school.findUnique({
    where: { id: schoolId },
    omit: { id: true, sortKey: true, sandboxId: true, createdAt: true, updatedAt: true },
  });
  if (record === null) throw new AppError("not_found", "school_not_found", "The school does not exist.");
  return record;
}

const checks: { [Name in keyof SchoolRecord]?: (name: string, text: string) => string } = {
  officialId: (name, text) => checkIdentifier(name, text, 64),
  zipCode: (name, text) => checkText(name, text, 20),
  country: (name, text) => checkShape(name, text, { shape: /^[A-Z]{2}$/, like: "DE" }),
  state: (name, text) => checkShape(name, text, { shape: /^[A-Z0-9]{1,3}$/, like: "NI" }),
  schoolingLevel: (name, text) => checkShape(name, text, { shape: /^[A-Z][A-Z0-9_]*$/, like: "GYMNASIUM" }),
};

/** A column that is not a text does not compile here. */
function checkSchool(school: NullOptional<SchoolRecord>): SchoolRecord {
  const checked = Object.entries(school).map(([name, text]) => {
    const check = checks[name as keyof SchoolRecord] ?? checkText;
    return [name, text === null || text === undefined ? null : check(name, text)];
  });
  return Object.fromEntries(checked) as SchoolRecord;
}
