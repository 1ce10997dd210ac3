import { randomBytes } from "node:crypto";

/**
 * Makes a UUIDv7: sorted by time, so that index pages stay warm.
 *
 * Shape:  lower-case, hyphenated.
 * Units:  `now` to the millisecond; the rest is random.
 * Source: RFC 9562 section 5.7.
 */
export function makeUuid(now: Date): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now.getTime(), 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
