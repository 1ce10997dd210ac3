import { hash } from "node:crypto";

const letters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const length = 6;

/**
 * What a person can read out on the phone to name a request; it stands on error pages and in the log.
 *
 * Shape: six capitals and digits, without those that are easily taken for another.
 */
export function shortCodeOf(requestId: string): string {
  const bytes = hash("sha256", requestId, "buffer").subarray(0, length);
  return [...bytes].map((byte) => letters[byte % letters.length]).join("");
}
