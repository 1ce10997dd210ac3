import { hkdfSync } from "node:crypto";
import { hmac, seal, unseal, type EncryptionKeys } from "../platform/crypto/seal.ts";

/** `purpose` names the row, so that its content cannot move to another. */
export const sealJson = (keys: EncryptionKeys, purpose: string, value: unknown): Buffer<ArrayBuffer> =>
  Buffer.from(seal(keys, `upstream:${purpose}`, Buffer.from(JSON.stringify(value))));

/** Null if no key opens it. */
export function openJson<Value>(keys: EncryptionKeys, purpose: string, sealed: Uint8Array): Value | null {
  const plain = unseal(keys, `upstream:${purpose}`, Buffer.from(sealed));
  return plain === null ? null : (JSON.parse(plain.toString()) as Value);
}

const hashKeys = new WeakMap<Buffer, Buffer>();

/** A keyed hash: after a change of keys, accounts are counted anew. */
export function hashOf(keys: EncryptionKeys, ...parts: readonly string[]): Buffer<ArrayBuffer> {
  const [first] = keys;
  if (first === undefined) throw new Error("there is no encryption key");
  let key = hashKeys.get(first);
  if (key === undefined) hashKeys.set(first, (key = Buffer.from(hkdfSync("sha256", first, "", "upstream", 32))));
  return Buffer.from(hmac(key).update(JSON.stringify(parts)).digest());
}

export const secretPurpose = (connectionId: string): string => `client-secret:${connectionId}`;
