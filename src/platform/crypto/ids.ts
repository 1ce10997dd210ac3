import { randomUUID } from "node:crypto";

/** A UUIDv7 (RFC 9562 section 5.7): sorted by time, so that index pages stay in memory. */
export function makeUuid(now: Date): string {
  const time = now.getTime().toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

export const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
