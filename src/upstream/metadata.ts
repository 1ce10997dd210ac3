import type { CustomFetch } from "openid-client";
import { readKeySet, signatureAlgorithms, type PublicKey } from "../platform/crypto/public-key.ts";
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

export type KeySet = { keys: PublicKey[] };

/** Errors: UPSTREAM_DOWN; INVALID_RESPONSE for a document that cannot be used, such as one of another issuer. */
export async function readMetadata(
  fetch: CustomFetch,
  { issuer, allowHttp }: { issuer: string; allowHttp: boolean },
): Promise<Metadata> {
  const metadata = await readJson(fetch, `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  if (metadata["issuer"] !== issuer)
    throw new UpstreamError("INVALID_RESPONSE", "the discovery document names another issuer");
  const endpoint = (name: string): string => {
    const value = metadata[name];
    if (typeof value !== "string" || !isEndpoint(value, allowHttp))
      throw new UpstreamError("INVALID_RESPONSE", `the discovery document has no usable ${name}`);
    return value;
  };
  const optional = (name: "userinfo_endpoint" | "end_session_endpoint") =>
    metadata[name] === undefined || metadata[name] === null ? {} : { [name]: endpoint(name) };
  return {
    issuer,
    authorization_endpoint: endpoint("authorization_endpoint"),
    token_endpoint: endpoint("token_endpoint"),
    jwks_uri: endpoint("jwks_uri"),
    ...optional("userinfo_endpoint"),
    ...optional("end_session_endpoint"),
    authorization_response_iss_parameter_supported: metadata["authorization_response_iss_parameter_supported"] === true,
    id_token_signing_alg_values_supported: readAlgorithms(metadata["id_token_signing_alg_values_supported"]),
  };
}

function readAlgorithms(named: unknown): string[] {
  const supported = Array.isArray(named) ? signatureAlgorithms.filter((one) => named.includes(one)) : ["RS256"];
  if (supported.length === 0) throw new UpstreamError("INVALID_RESPONSE", "no algorithm of its ID tokens is accepted");
  return supported;
}

/** Longer tokens do not fit into a header. */
const longestEndpoint = 2000;

export function isEndpoint(address: string, allowHttp: boolean): boolean {
  if (address.length > longestEndpoint || !URL.canParse(address)) return false;
  const { protocol, hash, username, password } = new URL(address);
  return (protocol === "https:" || (allowHttp && protocol === "http:")) && hash + username + password === "";
}

const mostKeys = 100;

/** The public keys for signatures. Errors: UPSTREAM_DOWN, INVALID_RESPONSE. */
export async function readKeys(fetch: CustomFetch, { jwks_uri: address }: Metadata): Promise<KeySet> {
  const { keys } = await readJson(fetch, address);
  if (!Array.isArray(keys) || keys.length > mostKeys) throw new UpstreamError("INVALID_RESPONSE", "there are no keys");
  return { keys: readKeySet(keys) };
}

/** Limit for the values in a discovery document or key set; real ones have hundreds. */
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
  const keySet = parseJson(bytes.toString());
  if (typeof keySet !== "object" || keySet === null || Array.isArray(keySet))
    throw new UpstreamError("INVALID_RESPONSE", `${new URL(address).pathname} is not a JSON object`);
  return keySet as Record<string, unknown>;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
