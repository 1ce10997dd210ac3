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

/** Finds the id that a name stands for. Shape: `schoolId` is the school that the same call names, for groups. */
export type LookUp = (name: Named, schoolId: string | undefined) => Promise<string>;

type Read = { given: Record<string, unknown>; options: Record<string, unknown> };

const isNamed = (value: unknown): boolean =>
  Array.isArray(value) ? value.some((item) => item instanceof Named) : value instanceof Named;

/**
 * Puts ids in place of the names in a call; groups come last, because the call's school says where to look for them.
 */
export async function resolveNames(call: Read, lookUp: LookUp): Promise<Read> {
  const values = [...Object.values(call.given), ...Object.values(call.options)];
  if (!values.some(isNamed)) return call;
  const resolved: Read = { given: { ...call.given }, options: { ...call.options } };
  const replace = async (kinds: readonly Kind[], schoolId?: string) => {
    const one = async (value: unknown) =>
      value instanceof Named && kinds.includes(value.kind) ? lookUp(value, schoolId) : value;
    for (const part of [resolved.given, resolved.options])
      for (const [name, value] of Object.entries(part))
        part[name] = Array.isArray(value) ? await Promise.all(value.map(one)) : await one(value);
  };
  await replace(["school", "person", "endpoint"]);
  const school = [resolved.given["school"] ?? resolved.options["school"]].flat()[0];
  await replace(["group"], typeof school === "string" ? school : undefined);
  return resolved;
}
