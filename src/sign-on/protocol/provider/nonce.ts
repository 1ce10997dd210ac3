type Context = { query: NodeJS.Dict<string | string[]> };

/** Ignores a nonce without an ID token, for which the library would refuse the request. */
export function dropIdleNonce(ctx: Context): void {
  const { nonce, scope, ...others } = ctx.query;
  if (typeof nonce !== "string" || typeof scope !== "string" || scope.split(" ").includes("openid")) return;
  ctx.query = { ...others, scope };
}
