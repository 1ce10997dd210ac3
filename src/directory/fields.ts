/** The fields that are not undefined. */
export function definedOf<Fields extends object>(
  fields: Fields | undefined,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== undefined)) as never;
}

export const listDifferent = <Row extends object>(before: Row, after: Row): (keyof Row & string)[] =>
  (Object.keys(after) as (keyof Row & string)[]).filter((name) => after[name] !== before[name]);
