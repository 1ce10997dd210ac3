import { errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from "jose";
import { reasonOf } from "./browser.ts";
import type { TokenRequest } from "./issuer.ts";

/** How the app is registered to authenticate. */
export type Authentication =
  | { method: "client_secret_basic" | "client_secret_post"; clientSecret: string }
  | { method: "private_key_jwt"; keys: JWTVerifyGetKey }
  | { method: "none" };

type Method = Authentication["method"];

/** Says how the token requests of two sign-ons differ from the registration; null if they do not. */
export async function findAuthenticationFault(
  { clientId, issuer, authentication }: { clientId: string; issuer: { url: string }; authentication: Authentication },
  request: TokenRequest,
  next: TokenRequest | null,
): Promise<string | null> {
  const { method } = authentication;
  const sent = listMethods(request);
  if (sent.length > 1)
    return `The app authenticated in several ways at once, ${sent.join(" and ")}: send ${method} only.`;
  const [used = "none"] = sent;
  if (used !== method)
    return `The app authenticated with ${used} and is registered for ${method}: ${advise(used, method)}`;
  if (authentication.method === "client_secret_basic")
    return findBasicFault(request.authorization ?? "", clientId, authentication.clientSecret);
  if (authentication.method === "private_key_jwt")
    return findAssertionFault({ clientId, issuerUrl: issuer.url, keys: authentication.keys }, request, next);
  if (request.form.get("client_id") !== clientId)
    return `client_id in the body was ${request.form.get("client_id") ?? "missing"}.`;
  const isSecret = method === "none" || request.form.get("client_secret") === authentication.clientSecret;
  return isSecret ? null : "client_secret in the body was not the secret.";
}

function listMethods({ authorization, form }: TokenRequest): Method[] {
  const sent: Record<Exclude<Method, "none">, boolean> = {
    client_secret_basic: authorization !== undefined,
    client_secret_post: form.has("client_secret"),
    private_key_jwt: form.has("client_assertion"),
  };
  return (Object.keys(sent) as (keyof typeof sent)[]).filter((method) => sent[method]);
}

const changes: Readonly<Record<Method, string>> = {
  client_secret_basic: "send client ID and secret in the Authorization header, with Basic",
  client_secret_post: "send client_id and client_secret in the body",
  private_key_jwt: "send a JWT signed with the app's key as client_assertion",
  none: "send client_id in the body and no secret",
};

const advise = (used: Method, registered: Method): string =>
  `${changes[registered]}, or register ${used === "none" ? "a public app" : used} and give --auth-method ${used}.`;

function findBasicFault(authorization: string, clientId: string, clientSecret: string): string | null {
  const [, encoded] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(authorization) ?? [];
  if (encoded === undefined) return "The Authorization header was not Basic.";
  const [user = "", ...rest] = Buffer.from(encoded, "base64").toString().split(":");
  const read = (text: string) => new URLSearchParams(`v=${text}`).get("v");
  const isOwn = read(user) === clientId && read(rest.join(":")) === clientSecret;
  return isOwn ? null : "User and password were not the client ID and the secret, form-urlencoded.";
}

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const longestSeconds = 3600;

async function findAssertionFault(
  { clientId, issuerUrl, keys }: { clientId: string; issuerUrl: string; keys: JWTVerifyGetKey },
  { form }: TokenRequest,
  next: TokenRequest | null,
): Promise<string | null> {
  const type = form.get("client_assertion_type");
  if (type !== assertionType) return `client_assertion_type was ${type ?? "missing"}, and not ${assertionType}.`;
  const claims = await verify(form, keys);
  if (typeof claims === "string") return claims;
  const { iss, sub, aud, exp, jti } = claims;
  const audiences = [aud].flat();
  if (iss !== clientId || sub !== clientId) return `iss was ${iss}, sub was ${sub}: both are the client ID.`;
  if (!audiences.includes(issuerUrl) && !audiences.includes(`${issuerUrl}/oauth2/token`))
    return `aud was ${audiences.join(", ")}, and not the issuer, ${issuerUrl}.`;
  if (exp === undefined || exp - Date.now() / 1000 > longestSeconds)
    return `exp was ${exp === undefined ? "missing" : "more than an hour ahead"}: a minute or two is enough.`;
  if (jti === undefined) return "There was no jti: a new one is needed for each request.";
  const nextClaims = next === null ? null : await verify(next.form, keys);
  if (typeof nextClaims === "string") return nextClaims;
  return jti === nextClaims?.jti ? "Two token requests had the same jti: sign a new JWT for each request." : null;
}

/** Those that the service accepts. */
export const signatureAlgorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

/** The claims of the JWT, or why it is refused. */
async function verify(form: URLSearchParams, keys: JWTVerifyGetKey): Promise<JWTPayload | string> {
  const assertion = form.get("client_assertion") ?? "";
  const options = { algorithms: signatureAlgorithms };
  try {
    return (await jwtVerify(assertion, keys, options)).payload;
  } catch (error) {
    // The JWT has no kid.
    if (error instanceof errors.JWKSMultipleMatchingKeys)
      for await (const key of error) {
        const verified = await jwtVerify(assertion, key, options).catch(() => null);
        if (verified !== null) return verified.payload;
      }
    return `The JWT in client_assertion was refused: ${reasonOf(error)}. The app signs it with the private key of a key that is registered, and sends the kid.`;
  }
}
