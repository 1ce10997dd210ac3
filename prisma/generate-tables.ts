import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import generatorHelper from "@prisma/generator-helper";
import { describeSealedColumns, describeStoredData } from "./stored-data.ts";

// Run by `prisma generate`: writes the tables and columns of the schema for named SQL, so that SQL that names a column
// which was renamed or removed does not compile; and what each column holds about a person.

type Options = Parameters<Parameters<typeof generatorHelper.generatorHandler>[0]["onGenerate"]>[0];
type Model = Options["dmmf"]["datamodel"]["models"][number];
type Field = Model["fields"][number];

// What pg answers for each type.
const types: Record<string, string> = {
  String: "string",
  Boolean: "boolean",
  Int: "number",
  BigInt: "string",
  DateTime: "Date",
  Bytes: "Buffer",
  Json: "unknown",
  Float: "number",
};

const typeOf = ({ type, kind, isList, isRequired }: Field, enums: Map<string, string>): string => {
  const one = kind === "enum" ? enums.get(type)! : types[type];
  if (one === undefined) throw new Error(`No type is known for ${type}.`);
  const many = isList ? (kind === "enum" ? `(${one})[]` : `${one}[]`) : one;
  return isRequired || isList ? many : `${many} | null`;
};

const reserved = new Set(["group", "grant", "column"]);
const quote = (name: string): string => (reserved.has(name) ? `"${name}"` : name);
const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

function describe(
  model: Model,
  enums: Map<string, string>,
): { name: string; columns: string; row: string; given: string } {
  const table = model.dbName ?? model.name;
  const fields = model.fields.filter(({ kind }) => kind !== "object");
  const column = (field: Field) => quote(field.dbName ?? field.name);
  return {
    name: camel(table),
    columns: `  ${camel(table)}: {\n    name: ${JSON.stringify(quote(table)).replaceAll('\\"', '\\"')},\n    columns: {\n${fields.map((field) => `      ${field.name}: ${JSON.stringify(column(field))},\n`).join("")}    },\n  },\n`,
    row: `  ${camel(table)}: {\n${fields.map((field) => `    ${field.name}: ${typeOf(field, enums)};\n`).join("")}  };\n`,
    given: `  ${camel(table)}: ${
      fields
        .filter((field) => field.isRequired && !field.hasDefaultValue && !field.isList)
        .map(({ name }) => JSON.stringify(name))
        .join(" | ") || "never"
    };\n`,
  };
}

generatorHelper.generatorHandler({
  onManifest: () => ({ defaultOutput: "../generated/tables.ts", prettyName: "tables for named SQL" }),
  onGenerate({ dmmf, generator }) {
    const enums = new Map(
      dmmf.datamodel.enums.map(({ name, values }) => [
        name,
        values.map((value) => JSON.stringify(value.dbName ?? value.name)).join(" | "),
      ]),
    );
    const models = dmmf.datamodel.models.map((model) => describe(model, enums));
    const out = generator.output!.value!;
    mkdirSync(dirname(out), { recursive: true });
    writeFileSync(
      out,
      `// Made by \`npm run generate\` from prisma/schema. Do not edit.\n\n/** Tables by name, with their columns by field. */\nexport const tables = {\n${models.map(({ columns }) => columns).join("")}} as const;\n\n/** Rows as pg answers them, by field. */\nexport type Rows = {\n${models.map(({ row }) => row).join("")}};\n\n/** The fields that a new row must be given. */\nexport type Required = {\n${models.map(({ given }) => given).join("")}};\n`,
    );
    const all = dmmf.datamodel.models;
    writeFileSync(join(dirname(out), "stored-data.ts"), describeStoredData(all) + describeSealedColumns(all));
    return Promise.resolve();
  },
});
