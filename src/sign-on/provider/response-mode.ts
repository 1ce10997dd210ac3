type Context = { query: NodeJS.Dict<string | string[]> };

/** Has other response modes refused by query: the library would answer them with a form that a script posts. */
export function refuseOtherModes(ctx: Context): void {
  const { response_mode: mode } = ctx.query;
  if (typeof mode === "string" && mode !== "query") ctx.query = { ...ctx.query, response_mode: "refused" };
}
