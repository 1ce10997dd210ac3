import createClient, { type Client } from "openapi-fetch";
import type { paths as IdmPaths } from "../../generated/openapi/idm.ts";
import type { paths as SchulconnexPaths } from "../../generated/openapi/schulconnex.ts";
import type { paths as SignOnPaths } from "../../generated/openapi/sign-on.ts";

type Call = { accessToken?: string; fetch?: (request: Request) => Promise<Response> };

/** A typed client of the IDM API, as a partner would make it. */
export function makeIdmClient({ baseUrl, ...call }: Call & { baseUrl: string }): Client<IdmPaths> {
  return createClient<IdmPaths>({ baseUrl, ...withToken(call) });
}

export function makeSchulconnexClient({ baseUrl, ...call }: Call & { baseUrl: string }): Client<SchulconnexPaths> {
  return createClient<SchulconnexPaths>({
    baseUrl,
    ...withToken(call),
    querySerializer: { array: { style: "form", explode: false } },
  });
}

export function makeSignOnClient({ issuerUrl, ...call }: Call & { issuerUrl: string }): Client<SignOnPaths> {
  const form = { "Content-Type": "application/x-www-form-urlencoded" };
  return createClient<SignOnPaths>({ baseUrl: issuerUrl, ...withToken(call, form), redirect: "manual" });
}

function withToken({ accessToken, fetch }: Call, headers: Record<string, string> = {}) {
  return {
    headers: accessToken === undefined ? headers : { ...headers, Authorization: `Bearer ${accessToken}` },
    ...(fetch === undefined ? {} : { fetch }),
  };
}
