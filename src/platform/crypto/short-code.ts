import { hash } from "node:crypto";

const letters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const length = 6;

export function shortCodeOf(requestId: string): string {
  const bytes = hash("sha256", requestId, "buffer").subarray(0, length);
  return [...bytes].map((byte) => letters[byte % letters.length]).join("");
}
