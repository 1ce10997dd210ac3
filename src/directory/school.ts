import type { Prisma } from "../../generated/prisma/client.ts";
import { recordAudit } from "../events/index.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { findRows, sql, statement, table } from "../platform/database/sql.ts";
import { originOf, type Change } from "./change.ts";
import { given, listDifferent } from "./given.ts";
import type { SchoolId } from "./ids.ts";
import { write } from "./refusals.ts";
import { makeSortKey } from "./sort-key.ts";
import { checkIdentifier, checkShape, checkText } from "./text.ts";

/** What is written of a school: every column of the record but those that the directory keeps by itself. */
export type SchoolRecord = Omit<Prisma.SchoolModel, KeptBySchool>;
type KeptBySchool = "id" | "sortKey" | "sandboxId" | "createdAt" | "updatedAt";

export type SchoolAddress = Pick<SchoolRecord, "address" | "addressAddition" | "city" | "zipCode">;

/** ISO 3166-1 country and the part of its ISO 3166-2 code after the hyphen. */
export type SchoolLocation = Pick<SchoolRecord, "country" | "state">;

type Nested<Address> = Omit<SchoolRecord, keyof SchoolAddress | keyof SchoolLocation> & {
  address: Address;
  location: SchoolLocation;
};

/** `schoolingLevel` is a code in capitals, such as GYMNASIUM. */
export type School = Nested<SchoolAddress> & { id: SchoolId };

type NullableKey<T> = { [Key in keyof T]: null extends T[Key] ? Key : never }[keyof T];
/** What is nullable may be left out. */
type NullOptional<T> = Omit<T, NullableKey<T>> & { [Key in NullableKey<T>]?: T[Key] };

export type NewSchool = NullOptional<Nested<NullOptional<SchoolAddress>>> & { id?: SchoolId | undefined };

/** A school of a sandbox stays one: nobody of a real school comes to it, and no other app sees it. */
export type NewSandboxSchool = NewSchool & { sandboxId: string };

type Parts<Whole> = { [Name in keyof Whole]?: Whole[Name] | undefined };

/** What changes of a school; what is left out or undefined stays. */
export type SchoolUpdate = { schoolId: SchoolId } & Parts<Omit<School, "id" | "address" | "location">> & {
    address?: Parts<SchoolAddress> | undefined;
    location?: Parts<SchoolLocation> | undefined;
  };

/**
 * Registers a school.
 *
 * Errors: invalid for a text that cannot be kept (text_empty, text_too_long, text_unprintable, text_malformed);
 *         conflict id_taken, official_id_taken.
 */
export async function createSchool(change: Change, school: NewSchool | NewSandboxSchool): Promise<SchoolId> {
  const { tx, now } = change;
  const { id: wanted, address, location, sandboxId, ...rest } = { sandboxId: null, ...school };
  const id = wanted ?? (makeUuid(now) as SchoolId);
  const record = checkSchool({ ...rest, ...address, ...location });
  await change.touch({ schools: [id] });
  const times = { createdAt: now, updatedAt: now };
  await write(
    tx.prisma.school.create({ data: { id, ...record, sandboxId, sortKey: makeSortKey(record.name), ...times } }),
  );
  await recordAudit(tx, { ...originOf(change), action: "school_created", schoolId: id });
  return id;
}

/**
 * Changes what is given of a school and leaves the rest.
 *
 * Shape:  answers the names of the fields that differ; with none, nothing was written.
 * Errors: not_found school_not_found; invalid as `createSchool`; conflict official_id_taken.
 */
export async function updateSchool(change: Change, update: SchoolUpdate): Promise<(keyof SchoolRecord)[]> {
  const { tx, now } = change;
  const { schoolId: id, address, location, ...rest } = update;
  await change.touch({ schools: [id] });
  const before = await lockSchool(tx, id);
  const after = checkSchool({ ...before, ...given(rest), ...given(address), ...given(location) });
  const changed = listDifferent(before, after);
  if (changed.length === 0) return [];
  const data = { ...after, sortKey: makeSortKey(after.name), updatedAt: now };
  await write(tx.prisma.school.update({ where: { id }, data }));
  await recordAudit(tx, { ...originOf(change), action: "school_updated", schoolId: id, detail: { changed } });
  return changed;
}

/** Whether a school belongs to a sandbox; false for one that does not exist. */
export async function isSandboxSchool({ prisma }: RecordStore, schoolId: SchoolId): Promise<boolean> {
  return (await prisma.school.count({ where: { id: schoolId, sandboxId: { not: null } } })) > 0;
}

const s = table("school", "s");

const lockRow = statement<{ schoolId: SchoolId }>(
  ({ schoolId }) => sql`SELECT FROM ${s} WHERE ${s.id} = ${schoolId} FOR NO KEY UPDATE`,
  "directory.lockSchool",
);

/** Lets nobody else change a school until the end of the transaction. Errors: not_found school_not_found. */
export async function lockSchool(tx: Transaction, schoolId: SchoolId): Promise<SchoolRecord> {
  await findRows(tx, lockRow, { schoolId });
  const record = await tx.prisma.school.findUnique({
    where: { id: schoolId },
    omit: { id: true, sortKey: true, sandboxId: true, createdAt: true, updatedAt: true },
  });
  if (record === null) throw new AppError("not_found", "school_not_found", "The school does not exist.");
  return record;
}

/** The record with every field cleaned; a column of the schema that is missing here does not compile. */
function checkSchool(school: NullOptional<SchoolRecord>): SchoolRecord {
  const { addressAddition = null, schoolingLevel = null } = school;
  return {
    name: checkText("name", school.name),
    officialId: checkIdentifier("officialId", school.officialId, 64),
    address: checkText("address", school.address),
    addressAddition: addressAddition === null ? null : checkText("addressAddition", addressAddition),
    city: checkText("city", school.city),
    zipCode: checkText("zipCode", school.zipCode, 20),
    country: checkShape("country", school.country, { shape: /^[A-Z]{2}$/, like: "DE" }),
    state: checkShape("state", school.state, { shape: /^[A-Z0-9]{1,3}$/, like: "NI" }),
    schoolingLevel:
      schoolingLevel === null
        ? null
        : checkShape("schoolingLevel", schoolingLevel, { shape: /^[A-Z][A-Z0-9_]*$/, like: "GYMNASIUM" }),
  };
}
