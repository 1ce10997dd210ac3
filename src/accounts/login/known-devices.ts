import { isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import type { PersonId } from "../../directory/index.ts";
import { columnNames, insert, makeFindOne, sql, table } from "../../platform/database/sql.ts";
import type { Sql, Value, Queryable } from "../../platform/database/sql.ts";
import type { Bucket } from "../../platform/database/token-bucket.ts";
import { hmac } from "../../platform/crypto/seal.ts";
import { readAddress } from "../../platform/server/client-address.ts";

export type MakeKey = (...parts: readonly string[]) => Buffer;

export function makeKeyMaker(secret: Buffer): MakeKey {
  return (...parts) => hmac(secret).update(JSON.stringify(parts)).digest();
}

/** The address that limits count: the /64 of IPv6, one subscriber; IPv4 in IPv6 form as IPv4. */
export const countedAddress = (address: string): string => networkOf(address, 4) ?? readAddress(address) ?? "";

/** The /48 of an IPv6 address; null for IPv4. */
export const countedSite = (address: string): string | null => networkOf(address, 3);

function networkOf(address: string, groups: number): string | null {
  const plain = readAddress(address);
  if (plain === null || !isIPv6(plain)) return null;
  const { parts } = ipaddr.IPv6.parse(plain);
  const prefix = parts.slice(0, groups).map((part) => part.toString(16));
  return `${prefix.join(":")}::/${16 * groups}`;
}

type BucketSize = Omit<Bucket, "key">;

export function bucketsOfAddress(
  address: string,
  sizes: { address: BucketSize; site: BucketSize },
  keyOf: (kind: "address" | "site", part: string) => Buffer,
): Bucket[] {
  const site = countedSite(address);
  const own = { key: keyOf("address", countedAddress(address)), ...sizes.address };
  return site === null ? [own] : [{ key: keyOf("site", site), ...sizes.site }, own];
}

const leastSchoolmates = 5;

const known = table("signInPlace", "known");
const mine = table("affiliation", "mine");
const theirs = table("affiliation", "theirs");
const credential = table("credential");

const findWhetherKnown = makeFindOne<{ isKnown: boolean }, { personId: PersonId; address: Buffer }>(
  "known-devices-address-of",
)`
    SELECT EXISTS (SELECT FROM ${known} WHERE ${known.personId} = ${"personId"} AND ${known.device} = ${"address"})
      OR (SELECT count(*) FROM (
            SELECT FROM ${known} WHERE ${known.device} = ${"address"} AND EXISTS (
              SELECT FROM ${mine} JOIN ${theirs} ON ${theirs.schoolId} = ${mine.schoolId}
              WHERE ${mine.personId} = ${"personId"} AND ${theirs.personId} = ${known.personId})
            LIMIT ${leastSchoolmates}) AS schoolmate) = ${leastSchoolmates} AS "isKnown"`;

/** Whether the person, or several people of their school, signed in from the address before. */
export const isAddressOf = async (db: Queryable, personId: PersonId, address: Buffer): Promise<boolean> =>
  (await findWhetherKnown(db, { personId, address })).isKnown;

/** The devices used last are kept, because a browser that drops its cookies is a new device each time. */
const devicesPerPerson = 50;

const present = table("signInPlace");
const [personColumn, deviceColumn, usedColumn] = [
  columnNames("signInPlace", "personId"),
  columnNames("signInPlace", "device"),
  columnNames("signInPlace", "lastUsedAt"),
];

type SeenValues = { readonly [Name in "personId" | "generation" | "devices" | "now"]: Value };

/** SQL for parts of a WITH. The lock of `standing` keeps a device from being remembered after its sign-in was ended. */
export const rememberDevices = (params: SeenValues) => ({
  standing: sql`
    SELECT ${credential.personId} FROM ${credential}
    WHERE ${credential.personId} = ${params.personId} AND ${credential.generation} = ${params.generation}
    FOR SHARE`,
  // Written once a day at most: only the age in days counts.
  seen: (standing: Sql, condition: Sql) => sql`
    ${insert(
      "signInPlace",
      { personId: sql`${standing}.person_id`, device: sql`given.device`, lastUsedAt: sql`${params.now}` },
      sql`FROM unnest(${params.devices}::bytea[]) AS given (device), ${standing} WHERE ${condition} ORDER BY given.device`,
    )}
    ON CONFLICT (${personColumn}, ${deviceColumn}) DO UPDATE SET ${usedColumn} = excluded.${usedColumn}
    WHERE ${present.lastUsedAt} < excluded.${usedColumn} - interval '1 day'
    RETURNING ${present}.xmax = 0 AS is_new`,
  forgotten: (seen: Sql) => sql`
    DELETE FROM ${present} WHERE ${present.personId} = ${params.personId}
      AND EXISTS (SELECT FROM ${seen} WHERE is_new) AND ${present.device} IN (
        SELECT ${known.device} FROM ${known}
        WHERE ${known.personId} = ${params.personId} AND ${known.device} <> ALL (${params.devices}::bytea[])
        ORDER BY ${known.lastUsedAt} DESC OFFSET ${devicesPerPerson} - cardinality(${params.devices}::bytea[]))`,
});
