import crypto, { type KeyPairKeyObjectResult } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { promisify } from "node:util";

// A key pair costs as much time as all else that a service does at its start. Vitest runs this before each file of
// tests; the service takes the function when it is first loaded.
type Generate = (type: string, options: object) => Promise<KeyPairKeyObjectResult>;
const kept = Symbol.for("schultor: RSA key pairs of the tests");
const shared = globalThis as { [kept]?: Promise<KeyPairKeyObjectResult>[] };

/** More than one database ever has. */
const most = 12;

if (shared[kept] === undefined) {
  const pairs: Promise<KeyPairKeyObjectResult>[] = (shared[kept] = []);
  const generate = promisify(crypto.generateKeyPair) as unknown as Generate;
  let given = 0;
  const generateOrRepeat: Generate = (type, options) =>
    type === "rsa" ? (pairs[given++ % most] ??= generate(type, options)) : generate(type, options);
  // What `promisify` takes instead of the function itself.
  Object.defineProperty(crypto.generateKeyPair, promisify.custom, { value: generateOrRepeat });
  syncBuiltinESMExports();
}
