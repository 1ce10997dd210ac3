import { randomUUID, hash } from "node:crypto";

const last = { time: Number.NaN, count: 0 };

/** A UUIDv7 (RFC 9562 section 6.2): sorted by time, and within a millisecond by a counter that begins at random. */
export function makeUuid(now: Date): string {
  const random = randomUUID();
  const time = now.getTime();
  const count = time === last.time ? last.count + 1 : Number.parseInt(random.slice(0, 6), 16);
  Object.assign(last, { time, count });
  const [high, low] = [(count >> 14) & 0xfff, 0x8000 | (count & 0x3fff)].map((part) => part.toString(16));
  const at = time.toString(16).padStart(12, "0");
  return `${at.slice(0, 8)}-${at.slice(8)}-7${high!.padStart(3, "0")}-${low}-${random.slice(24)}`;
}

export const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const letters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const length = 6;

export function shortCodeOf(requestId: string): string {
  const bytes = hash("sha256", requestId, "buffer").subarray(0, length);
  return [...bytes].map((byte) => letters[byte % letters.length]).join("");
}
