import { resolved, type Document, type Schema } from "../../openapi/tools/document.ts";

export type Kind = "enum" | "uuid" | "date" | "date-time";
/** A field whose type says more than its JSON does. */
export type Field = {
  model: string;
  name: string;
  nullable: boolean;
  list: boolean;
  kind: Kind | null;
  values: string[];
};
/** What a language's own compiler or reflection says of a field: its kind, that of one entry if it is a list. */
export type Look = { kind: Kind | "text" | "other"; list: boolean; nullable: boolean; values?: string[] };
/** How a language differs from JSON. */
export type Spelling = { asText: Kind[]; rename?: (name: string) => string };
/** By model and by the name that the field has in JSON. */
export type Models = Record<string, Record<string, Look>>;

const kinds = new Set(["uuid", "date", "date-time"]);
const pascal = (name: string) => name.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());

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

/**
 * Names every field that lost what its schema says.
 *
 * Shape: `asText` are the kinds that the language's generator has no type for, `rename` makes of a name in JSON the one
 * in the language where the language does not tell the first. `model.field: what`, with `missing`, `list`, `nullable`
 * or the kind; empty when all is there.
 */
export function findLosses(fields: Field[], models: Models, { asText, rename }: Spelling): string[] {
  return fields.flatMap((field) => {
    const look = models[field.model]?.[rename?.(field.name) ?? field.name];
    const at = `${field.model}.${field.name}`;
    if (!look) return [`${at}: missing`];
    const expected = field.kind && asText.includes(field.kind) ? "text" : field.kind;
    const lost: string[] = [];
    if (look.list !== field.list) lost.push("list");
    if (expected && (look.kind !== expected || field.values.some((value) => !look.values?.includes(value))))
      lost.push(field.kind!);
    if (field.nullable && !look.nullable) lost.push("nullable");
    return lost.map((what) => `${at}: ${what}`);
  });
}
