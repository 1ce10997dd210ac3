import type { Provider } from "oidc-provider";

type Context = { path: string; query: NodeJS.Dict<string | string[]> };

/** Passes over a nonce where no ID token was asked for: the library would refuse the request because of it. */
export function dropIdleNonce(provider: Provider, ctx: Context): void {
  if (ctx.path !== provider.pathFor("authorization")) return;
  const { nonce, scope, ...others } = ctx.query;
  if (typeof nonce !== "string" || typeof scope !== "string" || scope.split(" ").includes("openid")) return;
  ctx.query = { ...others, scope };
}
