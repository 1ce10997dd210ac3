import { recordAudit } from "../events/index.ts";
import type { Origin } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
import { makeUuid } from "../platform/ids.ts";
import type { SchoolId } from "./ids.ts";
import { makeSortKey } from "./sort-key.ts";
import { checkText } from "./text.ts";

export type NewSchool = {
  id?: SchoolId | undefined;
  name: string;
  officialId: string;
  address: { address: string; addressAddition: string | null; city: string; zipCode: string };
  /** ISO 3166-1 country and the part of its ISO 3166-2 code after the hyphen. */
  location: { country: string; state: string };
  schoolingLevel: string | null;
};

const insertSchool = `
  INSERT INTO school (id, name, sort_key, official_id, address, address_addition, city, zip_code, country, state,
    schooling_level, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)`;

export async function createSchool(tx: Queryable, school: NewSchool, origin: Origin): Promise<SchoolId> {
  const id = school.id ?? (makeUuid(origin.at) as SchoolId);
  const name = checkText("name", school.name);
  const { address, addressAddition, city, zipCode } = school.address;
  await tx.query(insertSchool, [
    id,
    name,
    makeSortKey(name),
    checkText("officialId", school.officialId, 64),
    address,
    addressAddition,
    city,
    zipCode,
    school.location.country,
    school.location.state,
    school.schoolingLevel,
    origin.at,
  ]);
  await recordAudit(tx, { ...origin, action: "school_created", schoolId: id });
  return id;
}
