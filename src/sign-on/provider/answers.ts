import type { KoaContextWithOIDC } from "oidc-provider";
import { hideReason } from "./hints.ts";

/** Gives the library's answers the form that the contract promises, route by route. */
export function polishAnswer(ctx: KoaContextWithOIDC): void {
  const { route } = ctx.oidc;
  if (route === "token") polishTokenAnswer(ctx);
  else if (route === "authorization" || route === "resume") {
    redirectByQuery(ctx);
    hideReason(ctx);
  } else if (route === "end_session") leaveWithoutSession(ctx);
  else if (route === "discovery") ctx.body = { ...(ctx.body as object), response_modes_supported: ["query"] };
}

type TokenAnswer = { token_type?: string; scope?: string; error?: string; error_description?: string };

// Every failure is 400. With WWW-Authenticate, common clients would not read the error.
function polishTokenAnswer(ctx: KoaContextWithOIDC): void {
  const body = (ctx.body ?? {}) as TokenAnswer;
  if (ctx.status >= 400) {
    refuseToken(
      ctx,
      isOthersGrant(ctx, body) ? "unauthorized_client" : (body.error ?? "invalid_request"),
      body.error_description,
    );
    return;
  }
  ctx.body = { ...body, token_type: body.token_type?.toLowerCase(), scope: body.scope ?? "" };
}

// Source: RFC 6749 section 5.2. The library calls it an invalid request.
function isOthersGrant({ oidc }: KoaContextWithOIDC, { error }: TokenAnswer): boolean {
  const grantType = oidc.params?.["grant_type"];
  return (
    error === "invalid_request" && typeof grantType === "string" && oidc.client?.grantTypeAllowed(grantType) === false
  );
}

export function refuseToken(ctx: KoaContextWithOIDC, error: string, description?: string): void {
  ctx.remove("WWW-Authenticate");
  ctx.status = 400;
  ctx.body = { error, ...(description !== undefined && { error_description: description }) };
}

// Other response types are refused; the library would tell it in the fragment.
function redirectByQuery(ctx: KoaContextWithOIDC): void {
  if (ctx.status !== 303) return;
  ctx.status = 302;
  const location = ctx.response.get("Location");
  const [address = "", fragment] = location.split("#");
  if (fragment?.includes("error=")) ctx.set("Location", `${address}${address.includes("?") ? "&" : "?"}${fragment}`);
}

// The library would post a form by script to ask nobody whether they want to log out.
function leaveWithoutSession(ctx: KoaContextWithOIDC): void {
  const { session, params } = ctx.oidc;
  if (ctx.status !== 200 || session?.accountId) return;
  const backUri = params?.["post_logout_redirect_uri"];
  const target = new URL(typeof backUri === "string" ? backUri : ctx.oidc.urlFor("end_session_success"));
  const state = params?.["state"];
  if (typeof backUri === "string" && typeof state === "string") target.searchParams.set("state", state);
  ctx.body = null;
  ctx.status = 303;
  ctx.set("Location", target.href);
}
