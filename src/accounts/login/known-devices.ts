import { createHmac } from "node:crypto";
import { isIPv6 } from "node:net";
import type { PersonId } from "../../directory/index.ts";
import type { Queryable } from "../../platform/database/db.ts";
import { columnNames, findRows, insert, run, sql, statement, table } from "../../platform/database/sql.ts";

/** Makes a key of parts; it says nothing about them without the secret. */
export type MakeKey = (...parts: readonly string[]) => Buffer;

export function makeKeyMaker(secret: Buffer): MakeKey {
  return (...parts) => createHmac("sha256", secret).update(JSON.stringify(parts)).digest();
}

/** The address that limits count: of an IPv6 address its /64, which is one subscriber; IPv4 in IPv6 form as IPv4. */
export function countedAddress(address: string): string {
  const groups = readGroups(address);
  return groups ? `${groups.slice(0, 4).join(":")}::/64` : plainOf(address);
}

/** The site that an IPv6 address belongs to, by its /48; null for IPv4. */
export function countedSite(address: string): string | null {
  const groups = readGroups(address);
  return groups ? `${groups.slice(0, 3).join(":")}::/48` : null;
}

const plainOf = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");

function readGroups(address: string): string[] | null {
  const plain = plainOf(address);
  if (!isIPv6(plain)) return null;
  const [head = "", tail] = plain.toLowerCase().split("::");
  const before = head.split(":").filter(Boolean);
  const after = (tail ?? "").split(":").filter(Boolean);
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array<string>(Math.max(zeros, 0)).fill("0"), ...after];
  return groups.map((group) => group.replace(/^0+(?=.)/, ""));
}

const leastSchoolmates = 5;

const known = table("signInPlace", "known");
const mine = table("affiliation", "mine");
const theirs = table("affiliation", "theirs");
const credential = table("credential");

const findWhetherKnown = statement<{ personId: PersonId; address: Buffer }>(
  ({ personId, address }) => sql`
    SELECT EXISTS (SELECT FROM ${known} WHERE ${known.personId} = ${personId} AND ${known.device} = ${address})
      OR (SELECT count(*) FROM (
            SELECT FROM ${known} WHERE ${known.device} = ${address} AND EXISTS (
              SELECT FROM ${mine} JOIN ${theirs} ON ${theirs.schoolId} = ${mine.schoolId}
              WHERE ${mine.personId} = ${personId} AND ${theirs.personId} = ${known.personId})
            LIMIT ${leastSchoolmates}) AS schoolmate) = ${leastSchoolmates} AS "isKnown"`,
  "known-devices-address-of",
);

/** Whether the person signed in from the address before, or several people of their school did. */
export async function isAddressOf(db: Queryable, personId: PersonId, address: Buffer): Promise<boolean> {
  const [row] = await findRows<{ isKnown: boolean }>(db, findWhetherKnown, { personId, address });
  return row?.isKnown ?? false;
}

/** A browser that forgets its cookies is a new device each time; a person keeps those used last. */
const devicesPerPerson = 50;

type Seen = { personId: PersonId; generation: number; devices: Buffer[]; now: Date };

const present = table("signInPlace");

// The lock on the credential keeps a device from being remembered after the sign-in that it stands on was ended.
const remember = statement<Seen>(
  (given) => sql`
    ${insert(
      "signInPlace",
      { personId: given.personId, device: sql`seen.device`, lastUsedAt: given.now },
      sql`FROM unnest(${given.devices}::bytea[]) AS seen (device), ${credential}
          WHERE ${credential.personId} = ${given.personId} AND ${credential.generation} = ${given.generation}
          ORDER BY seen.device FOR SHARE OF ${credential}`,
    )}
    ON CONFLICT (${columnNames("signInPlace", "personId", "device")})
    DO UPDATE SET ${columnNames("signInPlace", "lastUsedAt")} = excluded.${columnNames("signInPlace", "lastUsedAt")}
    WHERE ${present.lastUsedAt} < excluded.${columnNames("signInPlace", "lastUsedAt")} - interval '1 day'
    RETURNING ${present}.xmax = 0 AS "isNew"`,
  "known-devices-remember",
);

const forgetOldest = statement<Pick<Seen, "personId" | "devices"> & { kept: number }>(
  ({ personId, devices, kept }) => sql`
    DELETE FROM ${present} WHERE ${present.personId} = ${personId} AND ${present.device} IN (
      SELECT ${known.device} FROM ${known}
      WHERE ${known.personId} = ${personId} AND ${known.device} <> ALL (${devices}::bytea[])
      ORDER BY ${known.lastUsedAt} DESC OFFSET ${kept})`,
  "known-devices-limit",
);

/** Remembers where the person signed in. A device is written once a day at most: only its age in days counts. */
export async function rememberDevices(db: Queryable, seen: Seen): Promise<void> {
  const rows = await findRows<{ isNew: boolean }>(db, remember, seen);
  if (!rows.some(({ isNew }) => isNew)) return;
  const { personId, devices } = seen;
  await run(db, forgetOldest, { personId, devices, kept: devicesPerPerson - devices.length });
}
