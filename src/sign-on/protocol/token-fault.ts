import type { KoaContextWithOIDC } from "oidc-provider";
import type { TokenFault } from "../../platform/advice/sign-on/index.ts";

/** Of the library, and of provider/library.ts. */
export const differentMechanism =
  "the provided authentication mechanism does not match the registered client authentication method";

/** What the library says of a refusal for its own log. */
type LibraryRefusal = { error: string; error_detail?: string | undefined };

const byDetail: Readonly<Record<string, TokenFault>> = {
  "authorization code not found": "code_unknown",
  "authorization code is expired": "code_expired",
  "authorization code already consumed": "code_used",
  "authorization code redirect_uri mismatch": "redirect_uri_differs",
  "code_verifier must be provided": "code_verifier_missing",
  "code_verifier does not match code_challenge": "code_verifier_differs",
  "unsupported code_challenge_method": "code_verifier_unexpected",
  "refresh token not found": "refresh_token_unknown",
  "refresh token is expired": "refresh_token_expired",
  "refresh token already used": "refresh_token_used",
  "grant not found": "sign_on_ended",
  "grant is expired": "sign_on_ended",
  "accountId mismatch": "sign_on_ended",
  "authorization code invalid (referenced account not found)": "sign_on_ended",
  "refresh token invalid (referenced account not found)": "sign_on_ended",
  "invalid secret provided": "client_secret_wrong",
  "client assertion tokens must only be used once": "client_assertion_used",
  "no applicable key found in the JSON Web Key Set": "client_assertion_key",
  "signature verification failed": "client_assertion_key",
  [differentMechanism]: "client_authentication_differs",
};

const isRefresh = ({ oidc }: KoaContextWithOIDC): boolean => oidc.params?.["grant_type"] === "refresh_token";

export function findTokenFault(
  ctx: KoaContextWithOIDC,
  { error, error_detail: detail = "" }: LibraryRefusal,
): TokenFault | null {
  if (detail === "client mismatch") return isRefresh(ctx) ? "refresh_token_of_another_app" : "code_of_another_app";
  if (Object.hasOwn(byDetail, detail)) return byDetail[detail]!;
  const isAssertion = error === "invalid_client" && ctx.oidc.client?.clientAuthMethod === "private_key_jwt";
  return isAssertion ? "client_assertion_refused" : null;
}

/** Strangers learn neither whether a token exists nor whether an app has a secret. */
const publicFaults: Readonly<Partial<Record<TokenFault, TokenFault | null>>> = {
  code_of_another_app: "code_unknown",
  refresh_token_of_another_app: "refresh_token_unknown",
  client_secret_wrong: null,
  client_authentication_differs: null,
  client_assertion_used: null,
  client_assertion_key: null,
  client_assertion_refused: null,
  client_keys_unreadable: null,
};

const faults = new WeakMap<KoaContextWithOIDC, TokenFault>();

export function noteTokenFault(ctx: KoaContextWithOIDC, fault: TokenFault | null): void {
  if (fault !== null && !faults.has(ctx)) faults.set(ctx, fault);
}

export const tokenFaultOf = (ctx: KoaContextWithOIDC): TokenFault | null => faults.get(ctx) ?? null;

/** The reason as the response may give it. */
export function publicFaultOf(ctx: KoaContextWithOIDC): TokenFault | null {
  const fault = tokenFaultOf(ctx);
  return fault !== null && fault in publicFaults ? publicFaults[fault]! : fault;
}
