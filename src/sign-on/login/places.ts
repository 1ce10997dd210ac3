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
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = plain.toLowerCase().split("::");
  const before = head.split(":").filter(Boolean);
  const after = (tail ?? "").split(":").filter(Boolean);
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array<string>(Math.max(zeros, 0)).fill("0"), ...after];
  return `${groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, "")).join(":")}::/64`;
}

// Written once a day at most: a place's age is all that counts.
export async function rememberPlaces(db: Queryable, personId: PersonId, places: Buffer[], now: Date): Promise<void> {
  await db.query({
    name: "sign-in-places-remember",
    text: `INSERT INTO sign_in_place AS known (person_id, place, last_used_at)
           SELECT $1, place, $3 FROM unnest($2::bytea[]) AS place ORDER BY place
           ON CONFLICT (person_id, place) DO UPDATE SET last_used_at = excluded.last_used_at
           WHERE known.last_used_at < excluded.last_used_at - interval '1 day'`,
    values: [personId, places, now],
  });
}
