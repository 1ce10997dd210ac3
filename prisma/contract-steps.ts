import type pg from "pg";

/** What a database offers to the releases that use it: each part by its name, as a description. */
export type Catalogue = { [Kind in keyof typeof queries]: Map<string, Part> };
type Part = { name: string; table: string; is: string; columns: string[]; mustBeGiven: boolean };

const own = "n.nspname = 'public' AND c.relname <> '_prisma_migrations' AND c.relkind IN ('r', 'p', 'v')";

const queries = {
  tables: `
    SELECT c.relname AS name, c.relname AS "table", 'table' AS "is", '{}'::text[] AS columns, false AS "mustBeGiven"
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${own} AND NOT c.relispartition`,
  columns: `
    SELECT c.relname || '.' || a.attname AS name, c.relname AS "table",
      format_type(a.atttypid, a.atttypmod) || coalesce(' ' || nullif(l.collname, 'default'), '') AS "is",
      ARRAY[a.attname]::text[] AS columns,
      a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AS "mustBeGiven"
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_collation l ON l.oid = a.attcollation
    WHERE ${own} AND a.attnum > 0 AND NOT a.attisdropped AND NOT c.relispartition`,
  rules: `
    SELECT c.relname || ' ' || r.conname AS name, c.relname AS "table", pg_get_constraintdef(r.oid) AS "is",
      ARRAY(SELECT attname FROM pg_attribute WHERE attrelid = c.oid AND attnum = ANY (r.conkey))::text[] AS columns,
      false AS "mustBeGiven"
    FROM pg_constraint r JOIN pg_class c ON c.oid = r.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE ${own} AND r.contype IN ('c', 'f', 'u', 'x', 'p') AND NOT c.relispartition
    UNION ALL
    SELECT c.relname || ' ' || i.relname, c.relname, pg_get_indexdef(i.oid),
      ARRAY(SELECT attname FROM pg_attribute WHERE attrelid = c.oid AND attnum = ANY (x.indkey))::text[], false
    FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE ${own} AND x.indisunique AND NOT c.relispartition
      AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.oid AND conrelid = c.oid)`,
  words: `
    SELECT t.typname || ' ' || e.enumlabel AS name, t.typname AS "table", 'word' AS "is", '{}'::text[] AS columns,
      false AS "mustBeGiven"
    FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid JOIN pg_namespace n ON n.oid = t.typnamespace
    WHERE n.nspname = 'public'`,
  functions: `
    SELECT p.oid::regprocedure::text AS name, '' AS "table", 'function' AS "is", '{}'::text[] AS columns,
      false AS "mustBeGiven"
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'public'`,
};

export async function readCatalogue(client: pg.Client): Promise<Catalogue> {
  const read = async (kind: keyof typeof queries) => {
    const { rows } = await client.query<Part>(queries[kind]);
    return new Map(rows.map((part) => [part.name, part]));
  };
  const [tables, columns] = [await read("tables"), await read("columns")];
  return {
    tables,
    columns,
    rules: await read("rules"),
    words: await read("words"),
    functions: await read("functions"),
  };
}

/**
 * What a migration took away from, or newly asks of, releases that were written before it.
 *
 * Shape: one line each; empty for a migration that only adds. A changed rule counts, because a looser one and a
 *        stricter one look alike.
 */
export function findContractSteps(before: Catalogue, after: Catalogue): string[] {
  return [
    ...gone(before.tables, after.tables).map(({ name }) => `drops the table ${name}`),
    ...gone(before.columns, after.columns)
      .filter(({ table }) => after.tables.has(table))
      .map(({ name }) => `drops the column ${name}`),
    ...[...after.columns.values()].flatMap((column) => changedColumn(column, before)),
    ...[...after.rules.values()].flatMap((rule) => newRule(rule, before)),
    ...gone(before.words, after.words).map(({ name }) => `drops the word ${name}`),
    ...gone(before.functions, after.functions).map(({ name }) => `drops the function ${name}`),
  ].sort();
}

const gone = (before: Map<string, Part>, after: Map<string, Part>): Part[] =>
  [...before.values()].filter(({ name }) => !after.has(name));

function changedColumn(column: Part, before: Catalogue): string[] {
  if (!before.tables.has(column.table)) return [];
  const earlier = before.columns.get(column.name);
  const steps: string[] = [];
  if (earlier && earlier.is !== column.is) steps.push(`changes ${column.name} from ${earlier.is} to ${column.is}`);
  if (column.mustBeGiven && !earlier?.mustBeGiven) steps.push(`asks for a value of ${column.name}`);
  return steps;
}

function newRule(rule: Part, before: Catalogue): string[] {
  const isOfNewColumns =
    rule.columns.length > 0 && rule.columns.every((name) => !before.columns.has(`${rule.table}.${name}`));
  const isKept = before.rules.get(rule.name)?.is.replace(/ NOT VALID$/, "") === rule.is.replace(/ NOT VALID$/, "");
  if (!before.tables.has(rule.table) || isOfNewColumns || isKept) return [];
  const isChecked = /^(CHECK|FOREIGN KEY)/.test(rule.is) && !rule.is.endsWith("NOT VALID");
  return [
    `asks ${rule.name} of what is written${isChecked ? ", and of every row under a lock (without NOT VALID)" : ""}`,
  ];
}
