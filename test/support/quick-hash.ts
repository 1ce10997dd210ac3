import crypto, { argon2Sync, randomBytes } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { atFileEnd } from "./file-end.ts";

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

/**
 * Lets the service hash and check passwords with the least memory and in one pass, to the end of the file of tests.
 * What it stores still names the parameters of `hashPassword`. Returns how many passwords were hashed or checked.
 */
export function hashAllQuickly(): { count: number } {
  const derive = crypto.argon2;
  const [memory, passes] = [8, 1];
  const hashed = { count: 0 };
  crypto.argon2 = (algorithm, parameters, done) => {
    hashed.count++;
    derive(algorithm, { ...parameters, memory, passes }, done);
  };
  syncBuiltinESMExports();
  atFileEnd(() => {
    crypto.argon2 = derive;
    syncBuiltinESMExports();
  });
  return hashed;
}
