import type { CustomFetch } from "openid-client";
import type { JWK } from "jose";
import { findJsonExcess } from "../platform/text/outside-json.ts";
import { UpstreamError } from "./failures.ts";

/** What is kept of a discovery document. */
export type Metadata = {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  jwks_uri: string;
  userinfo_endpoint?: string;
  end_session_endpoint?: string;
  authorization_response_iss_parameter_supported?: boolean;
  id_token_signing_alg_values_supported: string[];
};

export type KeySet = { keys: JWK[] };

/** Signatures that need the provider's private key: no `none`, and no key that both sides have. */
export const algorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

/** Errors: UPSTREAM_DOWN; INVALID_RESPONSE for a document that cannot be used, such as one of another issuer. */
export async function readMetadata(
  fetch: CustomFetch,
  { issuer, allowHttp }: { issuer: string; allowHttp: boolean },
): Promise<Metadata> {
  const found = await readJson(fetch, `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  if (found["issuer"] !== issuer)
    throw new UpstreamError("INVALID_RESPONSE", "the discovery document names another issuer");
  const endpoint = (name: string): string => {
    const value = found[name];
    if (typeof value !== "string" || !isEndpoint(value, allowHttp))
      throw new UpstreamError("INVALID_RESPONSE", `the discovery document has no usable ${name}`);
    return value;
  };
  const optional = (name: "userinfo_endpoint" | "end_session_endpoint") =>
    found[name] === undefined || found[name] === null ? {} : { [name]: endpoint(name) };
  return {
    issuer,
    authorization_endpoint: endpoint("authorization_endpoint"),
    token_endpoint: endpoint("token_endpoint"),
    jwks_uri: endpoint("jwks_uri"),
    ...optional("userinfo_endpoint"),
    ...optional("end_session_endpoint"),
    authorization_response_iss_parameter_supported: found["authorization_response_iss_parameter_supported"] === true,
    id_token_signing_alg_values_supported: readAlgorithms(found["id_token_signing_alg_values_supported"]),
  };
}

function readAlgorithms(named: unknown): string[] {
  const supported = Array.isArray(named) ? algorithms.filter((one) => named.includes(one)) : ["RS256"];
  if (supported.length === 0) throw new UpstreamError("INVALID_RESPONSE", "no algorithm of its ID tokens is accepted");
  return supported;
}

/** Longer ones fit into no header. */
const longestEndpoint = 2000;

export function isEndpoint(address: string, allowHttp: boolean): boolean {
  if (address.length > longestEndpoint || !URL.canParse(address)) return false;
  const { protocol, hash, username, password } = new URL(address);
  return (protocol === "https:" || (allowHttp && protocol === "http:")) && hash + username + password === "";
}

const mostKeys = 100;
const members = ["kty", "kid", "alg", "use", "key_ops", "crv", "x", "y", "n", "e"];
/** That of a modulus of 8192 bits: with a longer one, checking a signature takes too long. */
const longestMember = 1400;

/** The public keys for signatures. Errors: UPSTREAM_DOWN, INVALID_RESPONSE. */
export async function readKeys(fetch: CustomFetch, { jwks_uri: address }: Metadata): Promise<KeySet> {
  const { keys } = await readJson(fetch, address);
  if (!Array.isArray(keys) || keys.length > mostKeys) throw new UpstreamError("INVALID_RESPONSE", "there are no keys");
  const usable = keys.filter(
    (key: unknown): key is JWK =>
      typeof key === "object" && key !== null && ["RSA", "EC", "OKP"].includes((key as JWK).kty!),
  );
  return {
    keys: usable
      .map((key) => Object.entries(key).filter(([name]) => members.includes(name)))
      .filter((kept) => kept.every(([, value]) => JSON.stringify(value).length <= longestMember))
      .map((kept): JWK => Object.fromEntries(kept)),
  };
}

/** Of a discovery document or a key set; real ones have hundreds. */
const mostValues = 10_000;

async function readJson(fetch: CustomFetch, address: string): Promise<Record<string, unknown>> {
  const headers = { accept: "application/json" };
  const answer = await fetch(address, { method: "GET", headers, body: undefined, redirect: "manual" });
  if (answer.status !== 200) {
    const code = answer.status === 404 || answer.status >= 500 ? "UPSTREAM_DOWN" : "INVALID_RESPONSE";
    throw new UpstreamError(code, `${new URL(address).pathname} answered ${answer.status}`);
  }
  const bytes = Buffer.from(await answer.arrayBuffer());
  const excess = findJsonExcess(bytes, mostValues);
  if (excess !== null) throw new UpstreamError("INVALID_RESPONSE", `${new URL(address).pathname} ${excess}`);
  const found = parseJson(bytes.toString());
  if (typeof found !== "object" || found === null || Array.isArray(found))
    throw new UpstreamError("INVALID_RESPONSE", `${new URL(address).pathname} is not a JSON object`);
  return found as Record<string, unknown>;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
