import { createPublicKey, type JsonWebKey, type JsonWebKeyInput, type KeyObject } from "node:crypto";

export type PublicKey = {
  kty: "RSA" | "EC" | "OKP";
  kid?: string;
  alg?: string;
  use?: "sig";
  n?: string;
  e?: string;
  crv?: string;
  x?: string;
  y?: string;
};

const algorithmsOf: Readonly<Record<string, readonly string[]>> = {
  RSA: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  "P-256": ["ES256"],
  "P-384": ["ES384"],
  "P-521": ["ES512"],
  Ed25519: ["EdDSA", "Ed25519"],
};

/** Signatures with a private key that the other side has alone. */
export const signatureAlgorithms = Object.values(algorithmsOf).flat();

const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];
const rsaBits = { least: 2048, most: 8192 };
/** No real key has longer values, and reading them takes long. */
const longestMember = 1400;

/** Checks a key of somebody else for signatures: returns it without unused members, or why it cannot be used. */
export function readPublicKey(jwk: unknown): PublicKey | string {
  if (typeof jwk !== "object" || jwk === null) return "is not an object";
  const { kid, alg, use, key_ops: uses } = jwk as Record<string, unknown>;
  if (privateMembers.some((name) => name in jwk))
    return "contains a private or symmetric key, which is no longer secret: make a new key pair";
  if ((use ?? "sig") !== "sig" || (Array.isArray(uses) && !uses.includes("verify"))) return "is not for signatures";
  const key = parseKey(jwk);
  if (key === null) return "is not a complete RSA, EC or Ed25519 key";
  const { kty, crv, ...numbers } = key.export({ format: "jwk" });
  const algorithms = algorithmsOf[crv ?? kty ?? ""];
  if (algorithms === undefined) return "is on a curve that is not supported";
  const fault = kty === "RSA" ? findRsaFault(key, numbers) : crv === "Ed25519" ? findEd25519Fault(numbers) : null;
  if (fault !== null) return fault;
  if ((alg ?? null) !== null && !algorithms.includes(alg as string))
    return `has an alg that does not fit: it can be ${algorithms.join(", ")}`;
  return {
    kty: kty as PublicKey["kty"],
    ...(typeof kid === "string" && { kid }),
    ...(typeof alg === "string" && { alg }),
    ...(use === "sig" && { use }),
    ...(crv !== undefined && { crv }),
    ...numbers,
  };
}

function parseKey(key: object): KeyObject | null {
  if (Object.values(key).some((value) => typeof value === "string" && value.length > longestMember)) return null;
  try {
    return createPublicKey({ key: key as JsonWebKeyInput["key"], format: "jwk" });
  } catch {
    return null;
  }
}

const numberOf = (base64url: string): bigint => BigInt(`0x${Buffer.from(base64url, "base64url").toString("hex")}`);

/** Anybody can sign for an exponent of 1. Source: FIPS 186-5, appendix A.1.1. */
function findRsaFault(key: KeyObject, { n, e }: JsonWebKey): string | null {
  const { modulusLength: bits = 0 } = key.asymmetricKeyDetails ?? {};
  if (bits < rsaBits.least || bits > rsaBits.most) return "has fewer than 2048 or more than 8192 bits";
  const [modulus, exponent] = [numberOf(n!), numberOf(e!)];
  if (modulus % 2n === 0n) return "has an even modulus";
  return exponent % 2n === 1n && exponent > 2n ** 16n && exponent < 2n ** 256n
    ? null
    : "has an exponent that is even, below 65537 or above 256 bits";
}

/** The points with which anybody can sign, without the bit of the sign. Source: RFC 8032, section 5.1. */
const prime = 2n ** 255n - 19n;
const ofOrderEight = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;
const weakPoints = new Set([0n, 1n, prime - 1n, prime, prime + 1n, ofOrderEight, prime - ofOrderEight]);

function findEd25519Fault({ x }: JsonWebKey): string | null {
  const point = numberOf(Buffer.from(x!, "base64url").reverse().toString("base64url")) % 2n ** 255n;
  return weakPoints.has(point) ? "is a point for which anybody can sign" : null;
}

/** Returns the keys of a set that can be used; of several with one `kid`, none. */
export function readKeySet(jwks: readonly unknown[]): PublicKey[] {
  const keys = jwks.map(readPublicKey).filter((key) => typeof key !== "string");
  const repeated = findRepeatedKid(keys);
  return repeated === null ? keys : keys.filter(({ kid }) => !repeated.has(kid!));
}

/** Null if no two keys have the same `kid`. */
export function findRepeatedKid(keys: readonly PublicKey[]): ReadonlySet<string> | null {
  const kids = keys.flatMap(({ kid }) => kid ?? []);
  const repeated = new Set(kids.filter((kid, at) => kids.indexOf(kid) < at));
  return repeated.size === 0 ? null : repeated;
}

/** The keys of a JSON Web Key Set, a list of keys or one key, without what is not registered; null for other texts. */
export function listKeys(text: string): object[] | null {
  try {
    const read = JSON.parse(text) as { keys?: unknown } | null;
    const keys: unknown[] = [Array.isArray(read) ? read : (read?.keys ?? read)].flat();
    return keys.every((key) => typeof key === "object" && key !== null) ? keys.map(withoutExtras) : null;
  } catch {
    return null;
  }
}

const extras = new Set(["key_ops", "ext", "x5c", "x5t", "x5t#S256"]);

const withoutExtras = (key: object): object =>
  Object.fromEntries(Object.entries(key).filter(([name]) => !extras.has(name)));
