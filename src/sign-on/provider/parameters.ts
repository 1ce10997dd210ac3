import { errors } from "oidc-provider";

/**
 * The longest values that are taken, in characters. Those of `openapi/sign-on.yaml` are the same.
 *
 * Shape: an ID token in `id_token_hint` is as long as the groups of a person make it; it is checked and not stored.
 */
const longestValues: Record<string, number> = {
  state: 2048,
  nonce: 512,
  login_hint: 512,
  scope: 2048,
  redirect_uri: 2048,
  id_token_hint: Infinity,
};
const longestOther = 256;

/** Errors: `invalid_request` that names the parameter. */
export function checkParameters(params: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(params)) {
    if (typeof value !== "string") continue;
    if (value.includes("\0")) throw new errors.InvalidRequest("a parameter contains a NUL character");
    const longest = longestValues[name] ?? longestOther;
    if (value.length > longest) throw new errors.InvalidRequest(`${name} is longer than ${longest} characters`);
  }
}

/** The longest `state` of a logout, which the session keeps until the person has answered. */
export const longestLogoutState = 2048;
