export type Kind = "school" | "person" | "group" | "endpoint";

/** What was written in place of an id: an official id, a user name, a group's name or a client id. */
export class Named {
  readonly kind: Kind;
  readonly text: string;

  constructor(kind: Kind, text: string) {
    this.kind = kind;
    this.text = text;
  }
}

/** `Named` stands for an id that is to be looked up. */
export type ReadCall = { args: Record<string, unknown>; options: Record<string, unknown> };

/** Finds the id of a name; `schoolId` is the school in the same call, for groups. */
type LookUp = (name: Named, schoolId: string | undefined) => Promise<string>;

const isNamed = (value: unknown): boolean =>
  Array.isArray(value) ? value.some((item) => item instanceof Named) : value instanceof Named;

/** Puts ids in place of names; groups come last, because the school of the call says where to look for them. */
export async function resolveNames(call: ReadCall, lookUp: LookUp): Promise<ReadCall> {
  const values = [...Object.values(call.args), ...Object.values(call.options)];
  if (!values.some(isNamed)) return call;
  const resolved: ReadCall = { args: { ...call.args }, options: { ...call.options } };
  const replace = async (kinds: readonly Kind[], schoolId?: string) => {
    const resolve = async (value: unknown) =>
      value instanceof Named && kinds.includes(value.kind) ? lookUp(value, schoolId) : value;
    for (const record of [resolved.args, resolved.options])
      for (const [name, value] of Object.entries(record))
        record[name] = Array.isArray(value) ? await Promise.all(value.map(resolve)) : await resolve(value);
  };
  await replace(["school", "person", "endpoint"]);
  const school = [resolved.args["schoolId"] ?? resolved.options["school"]].flat()[0];
  await replace(["group"], typeof school === "string" ? school : undefined);
  return resolved;
}
