import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

const keys = new WeakMap<Buffer, KeyObject>();

/** The secret as a key object. Node imports a Buffer at each use, which takes several times as long as the use. */
export function keyOf(secret: Buffer): KeyObject {
  const known = keys.get(secret);
  if (known) return known;
  const key = createSecretKey(secret);
  keys.set(secret, key);
  return key;
}

export const hmac = (secret: Buffer) => createHmac("sha256", keyOf(secret));
