type Context = { query: NodeJS.Dict<string | string[]> };

/** Passes over a nonce where no ID token was asked for: the library would refuse the request because of it. */
export function dropIdleNonce(ctx: Context): void {
  const { nonce, scope, ...others } = ctx.query;
  if (typeof nonce !== "string" || typeof scope !== "string" || scope.split(" ").includes("openid")) return;
  ctx.query = { ...others, scope };
}
