import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { resolved, type Document, type Schema } from "./document.ts";

/** A field whose type says more than its JSON does. */
type Field = { model: string; name: string; nullable: boolean; list: boolean; kind: Kind | null; values: string[] };
type Kind = "enum" | "uuid" | "date" | "date-time";
/** What a client's source makes of a field: which kinds hold, and whether null does. */
type Look = { kind: (kind: Kind) => boolean; nullable: boolean };
type Reader = (folder: string, field: Field) => Look | null;

const kinds = new Set(["uuid", "date", "date-time"]);

/** The fields of all named schemas that are nullable, an enum, a UUID or a date. */
export function fieldsOf(document: Document): Field[] {
  const fields: Field[] = [];
  const walk = (model: string, schema: Schema) => {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const whole = resolved(document, property);
      const list = whole.type === "array" && whole.items !== undefined;
      const one = list ? resolved(document, whole.items!) : whole;
      const kind = one.enum ? "enum" : kinds.has(one.format ?? "") ? (one.format as Kind) : null;
      const values = (one.enum ?? []).filter((value) => value !== null).map(String);
      if (kind || whole.nullable) fields.push({ model, name, nullable: whole.nullable ?? false, list, kind, values });
      if (property.properties) walk(model + pascal(name), property);
    }
  };
  for (const [model, schema] of Object.entries(document.components?.schemas ?? {})) walk(model, schema);
  return fields;
}

const snake = (name: string) =>
  name
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase();
const camel = (name: string) => name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
const pascal = (name: string) => camel(name).replace(/^[a-z]/, (letter) => letter.toUpperCase());
const sourceAt = (...path: string[]) => (existsSync(join(...path)) ? readFileSync(join(...path), "utf8") : "");
const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
const match = (source: string, pattern: string) => new RegExp(pattern, "m").exec(source);
const has = (source: string, quoted: (value: string) => string, values: string[]) =>
  values.length > 0 && values.every((value) => source.includes(quoted(value)));
const word = (type: string, name: string) => new RegExp(`\\b${name}\\b`).test(type);

const python: Reader = (folder, { model, name, values }) => {
  const inside = readdirSync(folder).find((entry) => entry.startsWith("schultor_")) ?? "";
  const source = sourceAt(folder, inside, "models", `${snake(model)}.py`);
  const type = match(source, `^    ${snake(name)}: (.+?)(?: = .*)?$`)?.[1];
  if (type === undefined) return null;
  const validator = match(source, `@validator\\('${snake(name)}'\\)\\n(?:.+\\n|\\n(?=        ))+`)?.[0] ?? "";
  const holds = {
    uuid: word(type, "StrictStr"),
    date: word(type, "date"),
    "date-time": word(type, "datetime"),
    enum: has(validator, (value) => `'${value}'`, values),
  };
  return {
    kind: (kind) => holds[kind],
    nullable: type.startsWith("Optional[") && source.includes(`_dict['${name}'] = None`),
  };
};

const typescript: Reader = (folder, { model, name, values }) => {
  const source = sourceAt(folder, "models", `${model}.ts`);
  const type = match(source, `^    ${camel(name)}\\??: (.+);$`)?.[1];
  if (type === undefined) return null;
  const named = `${model}${pascal(name)}Enum`;
  const constant = match(source, `export const ${named} = \\{[^}]*\\}`)?.[0] ?? "";
  const holds = {
    uuid: word(type, "string"),
    date: word(type, "Date"),
    "date-time": word(type, "Date"),
    enum: word(type, named) && has(constant, (value) => `'${value}'`, values),
  };
  return { kind: (kind) => holds[kind], nullable: type.endsWith(" | null") };
};

const java: Reader = (folder, { model, name, values }) => {
  const source = sourceAt(folder, "src/main/java/org/openapitools/client/model", `${model}.java`);
  const type = match(source, `^  private (\\S+) ${camel(name)}(?: = .*)?;$`)?.[1];
  if (type === undefined) return null;
  const named = `${pascal(name)}Enum`;
  const constants = match(source, `public enum ${named} \\{[^;]*;`)?.[0] ?? "";
  const holds = {
    uuid: word(type, "UUID"),
    date: word(type, "LocalDate"),
    "date-time": word(type, "OffsetDateTime"),
    enum: word(type, named) && has(constants, (value) => `("${value}")`, values),
  };
  return {
    kind: (kind) => holds[kind],
    nullable: match(source, `@javax\\.annotation\\.Nullable\\n  public \\S+ get${pascal(name)}\\(`) !== null,
  };
};

const go: Reader = (folder, { model, name, values }) => {
  const source = sourceAt(folder, `model_${snake(model)}.go`);
  const type = match(source, `^\\t\\S+ (\\S+) \`json:"${escaped(name)}(?:,omitempty)?"\`$`)?.[1];
  if (type === undefined) return null;
  const bare = type.replace(/^[[\]*]*(Nullable)?/, "");
  const constants = sourceAt(folder, `model_${snake(bare)}.go`);
  const text = /string$|^NullableString$/.test(type);
  // The generator knows no date without a time in Go.
  const holds = {
    uuid: text,
    date: text,
    "date-time": /time\.Time$|^NullableTime$/.test(type),
    enum: constants.includes(`type ${bare} string`) && has(constants, (value) => `"${value}"`, values),
  };
  return { kind: (kind) => holds[kind], nullable: type.startsWith("Nullable") };
};

const php: Reader = (folder, { model, name, values }) => {
  const source = sourceAt(folder, "lib/Model", `${model}.php`);
  const attribute = match(source, `^\\s*'(\\w+)' => '${escaped(name)}',?$`)?.[1];
  const table = (title: string) => match(source, `\\$${title} = \\[[\\s\\S]*?\\n    \\]`)?.[0] ?? "";
  const entry = (title: string) => match(table(title), `'${attribute ?? ""}' => (.+?),?$`)?.[1];
  const type = entry("openAPITypes");
  if (type === undefined) return null;
  const format = entry("openAPIFormats");
  const holds = {
    uuid: format === "'uuid'",
    date: type.includes("\\DateTime") && format === "'date'",
    "date-time": type.includes("\\DateTime") && format === "'date-time'",
    enum: source.includes(`get${pascal(name)}AllowableValues()`) && has(source, (value) => ` = '${value}';`, values),
  };
  return { kind: (kind) => holds[kind], nullable: entry("openAPINullables") === "true" };
};

const readers: Record<string, Reader> = { python, "typescript-fetch": typescript, java, go, php };

/**
 * Names every field that lost what its schema says in a generated client.
 *
 * Shape: `language model.field: what` with `missing`, `nullable` or the kind; empty when all is there.
 */
export function findLosses(document: Document, language: string, folder: string): string[] {
  const reader = readers[language];
  if (!reader) throw new Error(`No reader for clients in ${language}`);
  return fieldsOf(document).flatMap((field) => {
    const look = reader(folder, field);
    const lost: string[] = [];
    if (!look) lost.push("missing");
    if (look && field.kind && !look.kind(field.kind)) lost.push(field.kind);
    if (look && field.nullable && !look.nullable) lost.push("nullable");
    return lost.map((what) => `${language} ${field.model}.${field.name}: ${what}`);
  });
}
