import { findRepeatedKid, readPublicKey, type PublicKey } from "../platform/crypto/public-key.ts";
import { AppError } from "../platform/errors.ts";
import type { App } from "./apps/find.ts";

/** As OpenID Connect names them; `none` exactly for public apps. */
export type TokenEndpointAuthMethod = App["tokenEndpointAuthMethod"] | "none";

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

/** Errors: invalid public_key_refused. */
export function readPublicKeys(jwks: readonly unknown[]): PublicKey[] {
  const refuse = (message: string) => new AppError("invalid", "public_key_refused", message);
  const keys = jwks.map((one, at) => {
    const key = readPublicKey(one);
    if (typeof key === "string") throw refuse(`Public key ${at + 1} ${key}.`);
    return key;
  });
  const repeated = findRepeatedKid(keys);
  if (repeated !== null) throw refuse(`Several public keys have the kid ${[...repeated].join(", ")}.`);
  return keys;
}
