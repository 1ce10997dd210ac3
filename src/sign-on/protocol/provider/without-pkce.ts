import { type Client, errors, type KoaContextWithOIDC } from "oidc-provider";

export type WithoutPkce = { isAllowed: boolean; deprecatedAt: Date; sunsetAt: Date };

const mayGoWithout = (client: Client): boolean =>
  client["pkce_required"] !== true && client.clientAuthMethod !== "none";

export function makeRequirePkce({ isAllowed }: WithoutPkce) {
  return (_ctx: KoaContextWithOIDC, client: Client): boolean => {
    if (isAllowed && mayGoWithout(client)) return false;
    throw new errors.InvalidRequest(
      "PKCE is required: send code_challenge, the SHA-256 of a code_verifier in base64url, and code_challenge_method=S256",
    );
  };
}

/** Marks the responses of the flow as deprecated. Source: RFC 9745, RFC 8594. */
export function makeMarkDeprecated({ deprecatedAt, sunsetAt }: WithoutPkce, issuerUrl: string) {
  const page = `<${issuerUrl}/docs/sign-on-without-pkce>`;
  const headers = {
    Deprecation: `@${Math.floor(deprecatedAt.getTime() / 1000)}`,
    Sunset: sunsetAt.toUTCString(),
    Link: `${page}; rel="deprecation"; type="text/html", ${page}; rel="sunset"; type="text/html"`,
  };
  return (ctx: KoaContextWithOIDC): void => {
    if (isWithoutPkce(ctx)) ctx.set(headers);
  };
}

function isWithoutPkce({ oidc, status }: KoaContextWithOIDC): boolean {
  const { client, params, route, entities } = oidc;
  if (client === undefined || !mayGoWithout(client)) return false;
  if (route === "authorization" || route === "resume")
    return status < 400 && params?.["response_type"] === "code" && params["code_challenge"] === undefined;
  const code = entities.AuthorizationCode;
  return route === "token" && status === 200 && code !== undefined && code.codeChallenge === undefined;
}
