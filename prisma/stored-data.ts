/** A model or field as `prisma generate` gives it. */
type Described = { name: string; dbName?: string | null; documentation?: string | undefined };
export type DescribedModel = Described & { fields: readonly (Described & { kind: string })[] };

const categories = "src/privacy/words.json";

/**
 * Writes what each column holds about a person, as the comments of the schema say: `/// @data <category>` at a field,
 * and at a model with such data `/// @kept <period>`.
 *
 * Errors: names the models and fields without a comment, and what to write.
 */
export function describeStoredData(models: readonly DescribedModel[]): string {
  const problems: string[] = [];
  const tables = models.map((model) => {
    const columns = model.fields
      .filter(({ kind }) => kind !== "object")
      .map((field) => {
        const category = readTag(field, "data");
        if (category === undefined)
          problems.push(
            `${model.name}.${field.name}: write \`/// @data <category>\` behind the field, with a category of ${categories}, or \`/// @data none\` if it says nothing about a person.`,
          );
        return { column: field.dbName ?? field.name, category };
      });
    const period = readTag(model, "kept");
    const hasData = columns.some(({ category }) => category !== undefined && category !== "none");
    if (hasData !== (period !== undefined))
      problems.push(
        hasData
          ? `${model.name}: write \`/// @kept <period>\` above the model, with a period of src/privacy/words.json: it has data about people.`
          : `${model.name}: remove \`/// @kept\`: no field has data about people.`,
      );
    return { table: model.dbName ?? model.name, period, columns };
  });
  if (problems.length > 0) throw new Error(`What prisma/schema stores is not described:\n${problems.join("\n")}`);
  return `// Made by \`npm run generate\` from prisma/schema. Do not edit.\n\n/** What each column holds about a person, and until when; \`until\` is null for a table without such data. */\nexport const storedData = {\n${tables
    .map(
      ({ table, period, columns }) =>
        `  ${table}: {\n    until: ${JSON.stringify(period ?? null)},\n    columns: {\n${columns.map(({ column, category }) => `      ${column}: "${category}",\n`).join("")}    },\n  },\n`,
    )
    .join("")}} as const;\n`;
}

const readTag = ({ documentation }: Described, tag: "data" | "kept"): string | undefined =>
  new RegExp(`^@${tag} (\\w+)$`, "m").exec(documentation ?? "")?.[1];

/**
 * Lists the encrypted columns: `/// @sealed <what it holds>` at a field, with `/// @purpose <SQL>` if its values can be
 * opened, and `/// @keys admin` if with the keys of the admin API.
 */
export function describeSealedColumns(models: readonly DescribedModel[]): string {
  const sealed = models.flatMap((model) =>
    model.fields.flatMap((field) => {
      const [holds, purpose, keys] = ["sealed", "purpose", "keys"].map(
        (tag) => new RegExp(`^@${tag} (.+)$`, "m").exec(field.documentation ?? "")?.[1] ?? null,
      );
      return holds === null
        ? []
        : [{ column: `${model.dbName ?? model.name}.${field.dbName ?? field.name}`, holds, purpose, keys }];
    }),
  );
  return `
/**
 * The encrypted columns. \`purpose\`: the SQL of what its values are encrypted for, by which they are opened and
 * searched. Others hold nobody, or only the person of their row, with whom it is deleted.
 */
export const sealedColumns: readonly { column: string; holds: string; purpose: string | null; keys: "admin" | null }[] = [
${sealed
  .map((one) => `  ${JSON.stringify(one)},\n`)
  .sort()
  .join("")}];\n`;
}
