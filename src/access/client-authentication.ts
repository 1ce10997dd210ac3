import { createPublicKey, type JsonWebKeyInput, type KeyObject } from "node:crypto";
import { AppError } from "../platform/errors.ts";
import type { App } from "./find-app.ts";

/** As OpenID Connect names them; `none` exactly for public apps. */
export type TokenEndpointAuthMethod = App["tokenEndpointAuthMethod"] | "none";

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

export const authMethodOf = ({ type, tokenEndpointAuthMethod }: Pick<App, "type" | "tokenEndpointAuthMethod">) =>
  type === "PUBLIC" ? "none" : tokenEndpointAuthMethod;

export const hasSecret = (app: Pick<App, "type" | "tokenEndpointAuthMethod">): boolean =>
  authMethodOf(app).startsWith("client_secret_");

type Registered = Pick<App, "type" | "publicKeys" | "jwksUri"> & { tokenEndpointAuthMethod: TokenEndpointAuthMethod };

/** Errors: invalid client_authentication. */
export function checkClientAuthentication({ type, tokenEndpointAuthMethod, publicKeys, jwksUri }: Registered): void {
  const refuse = (message: string) => new AppError("invalid", "client_authentication", message);
  if ((type === "PUBLIC") !== (tokenEndpointAuthMethod === "none"))
    throw refuse("A public app authenticates with none, and no other app does.");
  if (publicKeys.length > 0 && jwksUri !== null)
    throw refuse("An app has either publicKeys or a jwksUri: send [] or null for the other.");
  if (tokenEndpointAuthMethod === "private_key_jwt" && publicKeys.length === 0 && jwksUri === null)
    throw refuse("private_key_jwt needs publicKeys or a jwksUri.");
}

const algorithmsOf: Readonly<Record<string, readonly string[]>> = {
  RSA: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  "P-256": ["ES256"],
  "P-384": ["ES384"],
  "P-521": ["ES512"],
  Ed25519: ["EdDSA", "Ed25519"],
};

export const assertionAlgorithms = Object.values(algorithmsOf).flat();

const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];
const rsaBits = { least: 2048, most: 8192 };

/** The key without members that are not used, or why it cannot be used. */
export function readPublicKey(given: unknown): PublicKey | string {
  if (typeof given !== "object" || given === null) return "is not an object";
  const { kid, alg, use } = given as Record<string, unknown>;
  if (privateMembers.some((name) => name in given))
    return "contains a private or symmetric key, which is no longer secret: make a new key pair";
  if (use !== undefined && use !== "sig") return "is not for signatures";
  const key = parseKey(given);
  if (key === null) return "is not a complete RSA, EC or Ed25519 key";
  const { kty, crv, ...numbers } = key.export({ format: "jwk" });
  const algorithms = algorithmsOf[crv ?? kty ?? ""];
  if (algorithms === undefined) return "is on a curve that is not supported";
  const { modulusLength: bits = rsaBits.least } = key.asymmetricKeyDetails ?? {};
  if (bits < rsaBits.least || bits > rsaBits.most) return "has fewer than 2048 or more than 8192 bits";
  if (alg !== undefined && !algorithms.includes(alg as string))
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
  try {
    return createPublicKey({ key: key as JsonWebKeyInput["key"], format: "jwk" });
  } catch {
    return null;
  }
}

/** Errors: invalid public_key_refused. */
export const readPublicKeys = (given: readonly unknown[]): PublicKey[] =>
  given.map((one, at) => {
    const key = readPublicKey(one);
    if (typeof key === "string") throw new AppError("invalid", "public_key_refused", `Public key ${at + 1} ${key}.`);
    return key;
  });
