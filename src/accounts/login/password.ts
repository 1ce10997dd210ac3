import { argon2, type Argon2Parameters, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { makeBounded } from "./bounded.ts";

type Derive = (parameters: Argon2Parameters) => Promise<Buffer>;

// Looked up at each call: tests replace it by one that costs less.
const deriveInPool: Derive = (parameters) => promisify(argon2)("argon2id", parameters);
const memoryKib = 19_456;
const passes = 2;
const parallelism = 1;
const saltBytes = 16;
const hashBytes = 32;

export const longestPassword = 256;

/** Returns a PHC string of argon2id. Source: OWASP Password Storage Cheat Sheet (19 MiB, 2 passes, 1 lane). */
export async function hashPassword(password: string, derive?: Derive): Promise<string> {
  const salt = randomBytes(saltBytes);
  const parameters = { nonce: salt, memory: memoryKib, passes, parallelism, tagLength: hashBytes };
  return phc(salt, await run(parameters, password, derive));
}

/** Makes a hash that no password has and that takes as long to check as another. */
export function makeUnmatchableHash(): string {
  return phc(randomBytes(saltBytes), randomBytes(hashBytes));
}

/** Errors: throws for a hash of another kind. */
export async function isPasswordOf(hash: string, password: string, derive: Derive = deriveInPool): Promise<boolean> {
  const parts = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(hash);
  if (parts === null) throw new Error("the stored password hash is not an argon2id PHC string");
  const [memory, rounds, lanes] = parts.slice(1, 4).map(Number) as [number, number, number];
  const expected = Buffer.from(parts[5]!, "base64");
  const nonce = Buffer.from(parts[4]!, "base64");
  const parameters = { nonce, memory, passes: rounds, parallelism: lanes, tagLength: expected.length };
  return timingSafeEqual(await run(parameters, password, derive), expected);
}

// NFC, so that a password is the same however a keyboard composes its letters.
function run(parameters: Omit<Argon2Parameters, "message">, password: string, derive = deriveInPool): Promise<Buffer> {
  return derive({ ...parameters, message: password.normalize("NFC") });
}

function phc(salt: Buffer, hash: Buffer): string {
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(hash)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}

/** Hashes at most two passwords at a time: half of Node's pool, so that sign-ins go on. */
export function makeHashInTurn(hash: (password: string) => Promise<string>): (password: string) => Promise<string> {
  const inTurn = makeBounded({ atOnce: 2, waiting: Infinity });
  return (password) => inTurn(() => hash(password));
}

/** As `hashPassword`, for passwords of many people; all requests share the two places. */
export const hashInTurn = makeHashInTurn(hashPassword);
