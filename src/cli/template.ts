import { counted, fullName } from "./lines.ts";

/*
 * What `x-cli` prints, such as "$people(person/people) moved.[ Reason: $reason]": a path is looked up in the
 * response, then in what was sent. See openapi/rules/docs/admin-command.md.
 */
const name = String.raw`[a-zA-Z][a-zA-Z0-9]*`;
const token = new RegExp(
  String.raw`\$(?<paths>${name}(?:[.|+]${name})*)(?::(?<format>name|words|commas|lines|size|sum|lower|minute)|\((?<first>[^()/]+)/?(?<second>[^()]*)\)|(?<items>\{))?` +
    String.raw`|(?<optional>\[)(?:(?<condition>!?${name}(?:\.${name})*(?:=\$?\w+)?)\?)?|(?<end>[\]}])|[^$[\]}]+|\$`,
  "gy",
);

type Value = Partial<Record<"paths" | "format" | "first" | "second", string>>;
type Part = string | { value: Value; items?: readonly Part[] } | { optional: readonly Part[]; condition?: string };

function parse(template: string): readonly Part[] {
  const root: Part[] = [];
  const open = [root];
  for (const { 0: text, groups = {} } of template.matchAll(token)) {
    const { paths, items, optional, condition, end } = groups as Record<string, string | undefined>;
    const inner: Part[] = [];
    if (end !== undefined && open.length > 1) open.pop();
    else if (paths !== undefined) open.at(-1)!.push({ value: groups, ...(items !== undefined && { items: inner }) });
    else open.at(-1)!.push(optional === undefined ? text : { optional: inner, ...(condition && { condition }) });
    if ((items ?? optional) !== undefined) open.push(inner);
  }
  return root;
}

/** The paths in a template; within `{}`, those of an item follow the path of its list. */
export const pathsIn = (template: string): string[] => listPaths(parse(template), "");

const listPaths = (parts: readonly Part[], before: string): string[] =>
  parts.flatMap((part) => {
    if (typeof part === "string") return [];
    if ("optional" in part) {
      const [path, wanted] = part.condition?.replace("!", "").split("=") ?? [];
      const compared = wanted?.startsWith("$") ? [wanted.slice(1)] : [];
      return [...(path === undefined ? [] : [before + path]), ...compared, ...listPaths(part.optional, before)];
    }
    const paths = part.value.paths!.split(/[|+]/).map((path) => before + path);
    return [...paths, ...listPaths(part.items ?? [], `${paths[0]!}.`)];
  });

function valueAt(value: unknown, [name, ...path]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return value.flatMap((item) => valueAt(item, [name, ...path]) ?? []);
  return valueAt((value as Record<string, unknown>)[name], path);
}

function find(paths: string, scopes: readonly unknown[]): unknown {
  // Undefined if no scope has the property, null if the property has no value.
  let missing: unknown;
  if (paths.includes("+")) return paths.split("+").flatMap((path) => find(path, scopes) ?? []);
  for (const path of paths.split("|"))
    for (const scope of scopes) {
      const value = valueAt(scope, path.split("."));
      if (value !== undefined) missing = value;
      if (value !== undefined && value !== null) return value;
    }
  return missing;
}

/** The items of a list; no items for a value that is a list only in another response. */
const itemsOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const isEmpty = (value: unknown): boolean => !value || (Array.isArray(value) && value.length === 0);

/** Whether `path`, `!path`, `path=VALUE` or `path=$path` holds. */
export function holds(condition: string, scopes: readonly unknown[]): boolean {
  const [path = "", wanted] = condition.replace("!", "").split("=");
  const value = find(path, scopes);
  const compared = wanted?.startsWith("$") ? String(find(wanted.slice(1), scopes)) : wanted;
  return (compared === undefined ? !isEmpty(value) : String(value) === compared) !== condition.startsWith("!");
}

function textOf(value: unknown, { format, first, second }: Value): string | null {
  if (value === undefined || (value === null && format !== "name")) return null;
  if (format === "name") return fullName(value as Parameters<typeof fullName>[0]);
  if (typeof value === "boolean") return value ? (first ?? "yes") : (second ?? "no");
  if (typeof value === "number" && first !== undefined) return counted(value, first, second || undefined);
  if (!Array.isArray(value)) {
    const text = typeof value === "object" ? JSON.stringify(value) : String(value as string | number);
    if (format === "minute") return text.slice(0, 16);
    return format === "lower" ? text.toLowerCase().replaceAll("_", " ") : text;
  }
  if (format === "size") return String(value.length);
  if (format === "sum") return String(value.reduce((sum: number, one) => sum + Number(one), 0));
  return value.join(separators[format ?? ""] ?? ", ");
}

const separators: Readonly<Record<string, string>> = { words: " ", commas: ",", lines: "\n" };

const isShown = ({ optional, condition }: { optional: readonly Part[]; condition?: string }, scopes: unknown[]) =>
  condition === undefined
    ? optional.every(
        (part) => typeof part === "string" || !("value" in part) || !isEmpty(find(part.value.paths!, scopes)),
      )
    : holds(condition, scopes);

/** Null if the template is empty, or holds values and all of them are null. `none` stands for an empty list. */
export const fill = (template: string, scopes: readonly unknown[], none = "none"): string | null =>
  fillParts(parse(template), [...scopes], none);

function fillParts(parts: readonly Part[], scopes: unknown[], none: string): string | null {
  const values: (string | null)[] = [];
  const texts = parts.map((part) => {
    if (typeof part === "string") return part;
    if ("optional" in part) {
      const text = isShown(part, scopes) ? fillParts(part.optional, scopes, none) : null;
      if (text !== null) values.push(text);
      return text ?? "";
    }
    const read = find(part.value.paths!, scopes);
    const items = part.items && fillItems(part.items, read, scopes).flatMap(({ text }) => text ?? []);
    const value = textOf(items ?? read, part.value);
    values.push(value);
    return value === "" ? none : (value ?? "–");
  });
  const text = texts.join("");
  return (values.length > 0 && values.every((value) => value === null)) || text === "" ? null : text;
}

/** Each item of a list: what is printed of it, and where the values of a template about it are looked up. */
const fillItems = (parts: readonly Part[], list: unknown, scopes: readonly unknown[]) =>
  itemsOf(list).map((item) => ({ text: fillParts(parts, [item, ...scopes], "none"), scopes: [item, ...scopes] }));

/** The items of a template that is one `$list{…}`; undefined for another one. */
function itemsIn(template: string, scopes: readonly unknown[]) {
  const [part, ...rest] = parse(template);
  if (rest.length > 0 || typeof part !== "object" || !("value" in part) || part.items === undefined) return undefined;
  return fillItems(part.items, find(part.value.paths!, scopes), scopes);
}

/** The lines of a template: a line for each item if it is one `$list{…}`, those of the text if it is `$text:lines`. */
export function fillLines(template: string, scopes: readonly unknown[]): string[] {
  const items = itemsIn(template, scopes);
  if (items !== undefined) return items.map(({ text }) => text ?? "–");
  if (/^\$[\w.]+:lines$/.test(template)) return fill(template, scopes, "")?.split("\n") ?? [];
  const line = fill(template, scopes);
  return line === null && template.startsWith("[") ? [] : [line ?? (template && "–")];
}

/** The rows of a record with this label: one for each item if it is one `$list{…}`. */
export function fillRows(label: string, template: string, scopes: readonly unknown[]): [string, string | null][] {
  const items = itemsIn(label, scopes);
  if (items === undefined) return [[label, fill(template, scopes)]];
  return items.map(({ text, scopes: ofItem }) => [text ?? "–", fill(template, ofItem)]);
}

/** A template that is a path alone gives its value, for --output json; one that is `$list{…}` alone its texts. */
export function fillData(template: unknown, scopes: readonly unknown[]): unknown {
  if (typeof template !== "string") return template;
  const [, path] = /^\$([a-zA-Z0-9.|]+)$/.exec(template) ?? [];
  if (path !== undefined) return find(path, scopes);
  return itemsIn(template, scopes)?.flatMap(({ text }) => text ?? []) ?? fill(template, scopes);
}
