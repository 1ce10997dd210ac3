import { createHmac } from "node:crypto";
import { isIPv6 } from "node:net";
import type { PersonId } from "../../directory/index.ts";
import type { Queryable } from "../../platform/db.ts";

/** Turns parts into a key that tells nothing without the secret. */
export type MakeKey = (...parts: readonly string[]) => Buffer;

export function makeKeyMaker(secret: Buffer): MakeKey {
  return (...parts) => createHmac("sha256", secret).update(JSON.stringify(parts)).digest();
}

/** One subscriber is one address: an IPv6 address counts by its /64, an IPv4 address in IPv6 form as itself. */
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

/** Whether the person signed in from the address before, or several people of their school did. */
export async function isAddressOf(db: Queryable, personId: PersonId, address: Buffer): Promise<boolean> {
  const { rows } = await db.query<{ isKnown: boolean }>({
    name: "sign-in-places-address-of",
    text: `SELECT EXISTS (SELECT FROM sign_in_place WHERE person_id = $1 AND place = $2)
             OR (SELECT count(*) FROM (
                   SELECT FROM sign_in_place known WHERE known.place = $2 AND EXISTS (
                     SELECT FROM affiliation mine JOIN affiliation theirs USING (school_id)
                     WHERE mine.person_id = $1 AND theirs.person_id = known.person_id)
                   LIMIT $3) AS schoolmate) = $3::int AS "isKnown"`,
    values: [personId, address, leastSchoolmates],
  });
  return rows[0]?.isKnown ?? false;
}

/** A browser that forgets its cookies is a new place each time; a person keeps the places used last. */
const placesPerPerson = 50;

type SeenPlaces = { personId: PersonId; generation: number; places: Buffer[]; now: Date };

// Written once a day at most: a place's age is all that counts. Holding the credential keeps a place from being remembered after the
// sign-in that it stands on was ended.
export async function rememberPlaces(db: Queryable, { personId, generation, places, now }: SeenPlaces): Promise<void> {
  const { rows } = await db.query<{ isNew: boolean }>({
    name: "sign-in-places-remember",
    text: `INSERT INTO sign_in_place AS known (person_id, place, last_used_at)
           SELECT $1, place, $3 FROM unnest($2::bytea[]) AS place, credential
           WHERE credential.person_id = $1 AND credential.generation = $4 ORDER BY place FOR SHARE OF credential
           ON CONFLICT (person_id, place) DO UPDATE SET last_used_at = excluded.last_used_at
           WHERE known.last_used_at < excluded.last_used_at - interval '1 day'
           RETURNING xmax = 0 AS "isNew"`,
    values: [personId, places, now, generation],
  });
  if (!rows.some(({ isNew }) => isNew)) return;
  await db.query({
    name: "sign-in-places-limit",
    text: `DELETE FROM sign_in_place WHERE person_id = $1 AND place IN (
             SELECT place FROM sign_in_place WHERE person_id = $1 AND place <> ALL ($2::bytea[])
             ORDER BY last_used_at DESC OFFSET $3)`,
    values: [personId, places, placesPerPerson - places.length],
  });
}
