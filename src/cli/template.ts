import { counted, nameOf } from "./lines.ts";

/*
 * What `x-cli` prints, such as "$people(person/people) moved to $into.name.": a path is looked up in the response, then
 * in what was sent; `a|b` is the first that is not null. The path of a list is that of all its items.
 * See openapi/rules/docs/admin-command.md.
 */
const placeholder =
  /\$([a-zA-Z][a-zA-Z0-9]*(?:[.|][a-zA-Z][a-zA-Z0-9]*)*)(?::(name|words|commas|size)|\(([^()/]+)\/?([^()]*)\))?/g;

function valueAt(value: unknown, [name, ...path]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return value.flatMap((item) => valueAt(item, [name, ...path]) ?? []);
  return valueAt((value as Record<string, unknown>)[name], path);
}

function find(paths: string, scopes: readonly unknown[]): unknown {
  // Undefined if no scope has the property, null if the property has no value.
  let missing: unknown;
  for (const path of paths.split("|"))
    for (const scope of scopes) {
      const value = valueAt(scope, path.split("."));
      if (value !== undefined) missing = value;
      if (value !== undefined && value !== null) return value;
    }
  return missing;
}

type Format = { format?: string | undefined; first?: string | undefined; second?: string | undefined };

function textOf(value: unknown, { format, first, second }: Format): string | null {
  if (value === undefined || (value === null && format !== "name")) return null;
  if (format === "name") return nameOf(value as Parameters<typeof nameOf>[0]);
  if (typeof value === "boolean") return value ? (first ?? "yes") : (second ?? "no");
  if (typeof value === "number" && first !== undefined) return counted(value, first, second || undefined);
  if (!Array.isArray(value))
    return typeof value === "object" ? JSON.stringify(value) : String(value as string | number);
  if (format === "size") return String(value.length);
  return value.join(format === "words" ? " " : format === "commas" ? "," : ", ");
}

/** Null if the template holds values and all of them are null. `none` stands for an empty list. */
export function fill(template: string, scopes: readonly unknown[], none = "none"): string | null {
  const values: (string | null)[] = [];
  const text = template.replaceAll(
    placeholder,
    (_, paths: string, format?: string, first?: string, second?: string) => {
      const value = textOf(find(paths, scopes), { format, first, second });
      values.push(value);
      return value === "" ? none : (value ?? "–");
    },
  );
  return values.length > 0 && values.every((value) => value === null) ? null : text;
}

/** A template that is a path alone gives its value, for --output json. */
export function fillData(template: unknown, scopes: readonly unknown[]): unknown {
  if (typeof template !== "string") return template;
  const [, path] = /^\$([a-zA-Z0-9.|]+)$/.exec(template) ?? [];
  return path === undefined ? fill(template, scopes) : find(path, scopes);
}
