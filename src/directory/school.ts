import { recordAudit } from "../events/index.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/ids.ts";
import { originOf, type Change } from "./change.ts";
import type { SchoolId } from "./ids.ts";
import { write } from "./refusals.ts";
import { makeSortKey } from "./sort-key.ts";
import { checkIdentifier, checkShape, checkText } from "./text.ts";

export type SchoolAddress = { address: string; addressAddition: string | null; city: string; zipCode: string };

/** ISO 3166-1 country and the part of its ISO 3166-2 code after the hyphen. */
export type SchoolLocation = { country: string; state: string };

export type NewSchool = {
  id?: SchoolId | undefined;
  name: string;
  officialId: string;
  address: SchoolAddress;
  location: SchoolLocation;
  /** A code in capitals, such as GYMNASIUM; null where none is known. */
  schoolingLevel: string | null;
};

export type SchoolUpdate = {
  schoolId: SchoolId;
  name?: string | undefined;
  officialId?: string | undefined;
  address?: { [Part in keyof SchoolAddress]?: SchoolAddress[Part] | undefined } | undefined;
  location?: { [Part in keyof SchoolLocation]?: SchoolLocation[Part] | undefined } | undefined;
  schoolingLevel?: string | null | undefined;
};

const insertSchool = `
  INSERT INTO school (id, name, sort_key, official_id, address, address_addition, city, zip_code, country, state,
    schooling_level, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)`;

export async function createSchool(change: Change, school: NewSchool): Promise<SchoolId> {
  const id = school.id ?? (makeUuid(change.now) as SchoolId);
  const row = checkSchool(school);
  await change.touch({ schools: [id] });
  await write(change.tx, insertSchool, [id, ...valuesOf(row), change.now]);
  await recordAudit(change.tx, { ...originOf(change), action: "school_created", schoolId: id });
  return id;
}

const selectSchool = `
  SELECT name, official_id AS "officialId", address, address_addition AS "addressAddition", city, zip_code AS "zipCode",
    country, state, schooling_level AS "schoolingLevel"
  FROM school WHERE id = $1 FOR NO KEY UPDATE`;

const updateColumns = `
  UPDATE school SET name = $2, sort_key = $3, official_id = $4, address = $5, address_addition = $6, city = $7, zip_code = $8,
    country = $9, state = $10, schooling_level = $11, updated_at = $12
  WHERE id = $1`;

/** Changes what is given and leaves the rest. Answers the names of what differs now; none: nothing was written. */
export async function updateSchool(change: Change, update: SchoolUpdate): Promise<string[]> {
  const { schoolId } = update;
  await change.touch({ schools: [schoolId] });
  const { rows } = await change.tx.query<SchoolRow>(selectSchool, [schoolId]);
  const before = rows[0];
  if (before === undefined) throw new AppError("not_found", "school_not_found", "The school does not exist.");
  const after = checkSchool({
    name: update.name ?? before.name,
    officialId: update.officialId ?? before.officialId,
    address: {
      ...pick(before, "address", "addressAddition", "city", "zipCode"),
      ...withoutUndefined(update.address ?? {}),
    },
    location: { ...pick(before, "country", "state"), ...withoutUndefined(update.location ?? {}) },
    schoolingLevel: update.schoolingLevel === undefined ? before.schoolingLevel : update.schoolingLevel,
  });
  const changed = (Object.keys(after) as (keyof SchoolRow)[]).filter((column) => after[column] !== before[column]);
  if (changed.length === 0) return [];
  await write(change.tx, updateColumns, [schoolId, ...valuesOf(after), change.now]);
  await recordAudit(change.tx, { ...originOf(change), action: "school_updated", schoolId, detail: { changed } });
  return changed;
}

type SchoolRow = SchoolAddress & SchoolLocation & Pick<NewSchool, "name" | "officialId" | "schoolingLevel">;

function checkSchool({ name, officialId, address, location, schoolingLevel }: Omit<NewSchool, "id">): SchoolRow {
  const { addressAddition } = address;
  return {
    name: checkText("name", name),
    officialId: checkIdentifier("officialId", officialId, 64),
    address: checkText("address", address.address),
    addressAddition: addressAddition === null ? null : checkText("addressAddition", addressAddition),
    city: checkText("city", address.city),
    zipCode: checkText("zipCode", address.zipCode, 20),
    country: checkShape("country", location.country, { shape: /^[A-Z]{2}$/, like: "DE" }),
    state: checkShape("state", location.state, { shape: /^[A-Z0-9]{1,3}$/, like: "NI" }),
    schoolingLevel:
      schoolingLevel === null
        ? null
        : checkShape("schoolingLevel", schoolingLevel, { shape: /^[A-Z][A-Z0-9_]*$/, like: "GYMNASIUM" }),
  };
}

const valuesOf = (row: SchoolRow): unknown[] => [
  ...[row.name, makeSortKey(row.name), row.officialId],
  ...[row.address, row.addressAddition, row.city, row.zipCode],
  ...[row.country, row.state, row.schoolingLevel],
];

function pick<Row extends object, Key extends keyof Row>(row: Row, ...keys: Key[]): Pick<Row, Key> {
  return Object.fromEntries(keys.map((key) => [key, row[key]])) as Pick<Row, Key>;
}

function withoutUndefined<Part extends object>(part: Part): { [Key in keyof Part]: Exclude<Part[Key], undefined> } {
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined)) as never;
}
