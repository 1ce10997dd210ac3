import { decodeProtectedHeader, decodeJwt } from "jose";
import { errors, type KoaContextWithOIDC, type Provider } from "oidc-provider";
import type { FormCheck } from "../../../platform/http/index.ts";

type Context = { query: NodeJS.Dict<string | string[]> };

/** Keeps what is described, and of it what has a value: the rest counts as omitted (RFC 6749 sections 3.1 and 3.2). */
export function keepDescribed<Value>(
  given: NodeJS.Dict<Value | Value[]>,
  described: ReadonlySet<string>,
): NodeJS.Dict<Value | Value[]> {
  const kept = Object.entries(given).flatMap(([name, value = []]) => {
    const values = [value].flat().filter((one) => one !== "") as Value[];
    return described.has(name) && values.length > 0 ? [[name, values.length === 1 ? values[0] : values]] : [];
  });
  return Object.fromEntries(kept) as NodeJS.Dict<Value | Value[]>;
}

/** Takes several spaces between scopes for one, as the token endpoint does. */
export function trimScope(ctx: Context): void {
  const { scope } = ctx.query;
  if (typeof scope !== "string" || !/^ | $| {2}/.test(scope)) return;
  ctx.query = { ...ctx.query, scope: scope.split(" ").filter(Boolean).join(" ") };
}

/** RFC 9110 section 11.4 has one space or more between the scheme and what follows; the library takes one. */
export function trimCredentials({ req }: { req: { headers: { authorization?: string | undefined } } }): void {
  const { authorization } = req.headers;
  if (authorization?.includes("  ")) req.headers.authorization = authorization.trim().replace(/ {2,}/, " ");
}

/** Asks who signs in where an app asks to choose an account: a browser has one session. */
export function askForAccount(ctx: Context): void {
  const { prompt } = ctx.query;
  if (typeof prompt !== "string" || !prompt.split(" ").includes("select_account")) return;
  const words = prompt.split(" ").map((word) => (word === "select_account" ? "login" : word));
  ctx.query = { ...ctx.query, prompt: [...new Set(words)].join(" ") };
}

/** Refuses a logout token as a hint: it has the signature, issuer and audience of an ID token (RFC 8725, 3.11). */
export function refuseLogoutTokens(ctx: Context): void {
  const { id_token_hint: hint } = ctx.query;
  if (typeof hint !== "string" || !isLogoutToken(hint)) return;
  ctx.query = { ...ctx.query, id_token_hint: hint.slice(0, hint.lastIndexOf(".") + 1) };
}

function isLogoutToken(jwt: string): boolean {
  try {
    return decodeProtectedHeader(jwt).typ === "logout+jwt";
  } catch {
    return false;
  }
}

/** Refuses a form for an app on a device: a browser drops what it would post to a scheme without HTTP. */
export function refuseFormForDevice(ctx: Context): void {
  const { response_mode: mode, redirect_uri: redirectUri } = ctx.query;
  if (mode === "form_post" && typeof redirectUri === "string" && !/^https?:/i.test(redirectUri))
    ctx.query = { ...ctx.query, response_mode: "refused" };
}

/** Ignores a nonce without an ID token, for which the library would refuse the request. */
export function dropIdleNonce(ctx: Context): void {
  const { nonce, scope, ...others } = ctx.query;
  if (typeof nonce !== "string" || typeof scope !== "string" || scope.split(" ").includes("openid")) return;
  ctx.query = { ...others, scope };
}

/** Holds the parameters of a request against the contract. Errors: `invalid_request` that names the parameter. */
export function checkParameters(check: FormCheck, params: Record<string, unknown>): void {
  const fault = check(params);
  if (fault !== null) throw new errors.InvalidRequest(fault.message);
}

/** Refuses spellings of `max_age` that JavaScript reads as a number and the contract does not, such as 1e2 or 0x10. */
export function checkMaxAgeSpelling({ method, query, oidc }: KoaContextWithOIDC): void {
  const given = ((method === "POST" ? oidc.body : query) ?? {})["max_age"];
  if (typeof given === "string" && given !== "" && !/^(0|[1-9]\d*)$/.test(given))
    throw new errors.InvalidRequest("invalid max_age parameter value");
}

/** Replaces a valid `id_token_hint` by its `client_id`, because the library reads `aud` as a string, not a list. */
export async function nameClientOfHint(provider: Provider, ctx: Context): Promise<void> {
  const { id_token_hint: hint, client_id: named, ...others } = ctx.query;
  if (typeof hint !== "string") return;
  const clientId = readAudience(hint);
  if (clientId === null || (named !== undefined && named !== clientId)) return;
  const client = await provider.Client.find(clientId);
  if (!client) return;
  const isValid = await provider.IdToken.validate(hint, client).then(
    () => true,
    () => false,
  );
  if (isValid) ctx.query = { ...others, client_id: clientId };
}

function readAudience(jwt: string): string | null {
  try {
    return [decodeJwt(jwt).aud].flat()[0] ?? null;
  } catch {
    return null;
  }
}
