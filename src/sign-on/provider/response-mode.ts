import type { Provider } from "oidc-provider";

type Context = { path: string; query: NodeJS.Dict<string | string[]> };

/** Has other response modes refused by query: the library would answer them with a form that a script posts. */
export function refuseOtherModes(provider: Provider, ctx: Context): void {
  if (ctx.path !== provider.pathFor("authorization")) return;
  const { response_mode: mode } = ctx.query;
  if (typeof mode === "string" && mode !== "query") ctx.query = { ...ctx.query, response_mode: "refused" };
}
