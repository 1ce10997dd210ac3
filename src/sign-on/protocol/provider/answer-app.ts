import type { KoaContextWithOIDC } from "oidc-provider";
import { type ResponseMode, responseModes, responseTypes } from "../contract.ts";
import { pageOfError } from "./answers.ts";
import { hidesReason } from "./hints.ts";
import type { ShowPages } from "./show-pages.ts";

/** The parameters that the app receives, the same in every response mode. */
type AppParameters = Record<string, string>;

/** Sends the browser to the app with the result of its authorization request. */
export type AnswerApp = (ctx: KoaContextWithOIDC, redirectUri: string, parameters: AppParameters) => void;

export const makeAnswerApp =
  ({ showFormPost }: ShowPages): AnswerApp =>
  (ctx, redirectUri, result) => {
    const parameters = result["error"] === undefined ? result : explainError(ctx, result, result["error"]);
    const mode = modeOf(ctx);
    if (mode === "form_post") return showFormPost(ctx, { redirectUri, parameters });
    const target = new URL(redirectUri);
    if (mode === "fragment") target.hash = new URLSearchParams(parameters).toString();
    else for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
    ctx.status = 302;
    ctx.redirect(target.href);
  };

// The library would report a refused response type in the fragment; that and a refused mode are reported in the query.
const modeOf = ({ oidc }: KoaContextWithOIDC): ResponseMode =>
  responseModes.find((mode) => mode === oidc.params?.["response_mode"]) ?? "query";

const hidden = { error: "login_required", error_description: "End-User authentication is required" };

function explainError(ctx: KoaContextWithOIDC, result: AppParameters, given: string): AppParameters {
  const shown = hidesReason(ctx, given) ? { ...result, ...hidden } : { ...result, error: given, ...describe(result) };
  return { ...shown, error_uri: pageOfError(ctx, shown.error) };
}

function describe({ error, error_description, scope = "" }: AppParameters): AppParameters {
  // The library refuses existing scopes that were not granted before grant.ts does, without naming them.
  if (error_description === "requested scope is not allowed")
    return { error_description: `the app was not granted the scope ${scope}` };
  if (error === "unsupported_response_type")
    return { error_description: `response_type must be ${responseTypes.join(", ")}` };
  if (error === "unsupported_response_mode")
    return {
      error_description: `response_mode must be ${responseModes.join(", ")} or missing; form_post needs an http or https redirect URI`,
    };
  return {};
}
