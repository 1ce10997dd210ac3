type Context = { query: NodeJS.Dict<string | string[]> };

/** Takes parameters without a value out of the query: they count as omitted (RFC 6749 section 3.1). */
export function dropEmpty(ctx: Context): void {
  const given = Object.entries(ctx.query);
  if (!given.some(([, value]) => value === "" || (Array.isArray(value) && value.includes("")))) return;
  ctx.query = Object.fromEntries(
    given.flatMap(([name, value = []]) => {
      const values = [value].flat().filter((one) => one !== "");
      return values.length === 0 ? [] : [[name, values.length === 1 ? values[0]! : values]];
    }),
  );
}

/** Has other response modes refused by query: the library would answer them with a form that a script posts. */
export function refuseOtherModes(ctx: Context): void {
  const { response_mode: mode } = ctx.query;
  if (typeof mode === "string" && mode !== "query") ctx.query = { ...ctx.query, response_mode: "refused" };
}
