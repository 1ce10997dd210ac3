import { argon2Sync, randomBytes } from "node:crypto";

/**
 * Hashes a password as `hashPassword` does, with the least memory that argon2 allows and in one pass. Signing in reads
 * both from the stored hash, so accounts of tests cost hardly any time.
 */
export function hashQuickly(password: string): Promise<string> {
  const [memory, passes, parallelism] = [8, 1, 1];
  const nonce = randomBytes(16);
  const hash = argon2Sync("argon2id", { message: password, nonce, memory, passes, parallelism, tagLength: 32 });
  const [salt, derived] = [nonce, hash].map((bytes) => bytes.toString("base64").replaceAll("=", ""));
  return Promise.resolve(`$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${salt}$${derived}`);
}
