import type { Person } from "../directory/index.ts";
import { escapeUnprintable } from "../platform/text/unprintable.ts";
import type { Result, Table } from "./command.ts";
import { option } from "./option.ts";

export function alignColumns(table: readonly (readonly string[])[]): string[] {
  // Escaped here already, so that a column is as wide as what is printed.
  const rows = table.map((row) => row.map(escapeUnprintable));
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
}

export const listOptions = {
  limit: option.count("How many at most; 100 if left out."),
  after: option.id("Continue after the one with this id, the last one of the previous list."),
};

export const defaultLimit = 100;

export type Columns<Item> = Readonly<Record<string, (item: Item) => string | null>>;

export const tableOf = <Item>(items: readonly Item[], columns: Columns<Item>): Table => ({
  columns: Object.keys(columns),
  rows: items.map((item) => Object.values(columns).map((value) => value(item) ?? "")),
});

export function wholeList<Item>(
  name: string,
  items: readonly Item[],
  { columns, id }: { columns: Columns<Item>; id: (item: Item) => string },
): Result {
  const lines = items.length === 0 ? [`No ${name}.`] : [];
  return { table: tableOf(items, columns), lines, quiet: items.map(id), data: { [name]: items } };
}

/** There is a next part if there are more `items` than `limit`. */
export function listResult<Item extends { id: string }>(
  name: string,
  items: readonly Item[],
  limit: number,
  columns: Columns<Item>,
): Result {
  const page = items.slice(0, limit);
  const next = items.length > limit ? (page.at(-1)?.id ?? null) : null;
  const { lines, ...result } = wholeList(name, page, { columns, id: ({ id }) => id });
  const more = next === null ? [] : [`There are more: --after ${next}`];
  return { ...result, lines: [...lines, ...more], data: { [name]: page, next } };
}

export const recordLines = (record: Record<string, string | null>): string[] =>
  alignColumns(Object.entries(record).map(([name, value]) => [name, value ?? "–"]));

export const fullName = (name: Person["name"]): string =>
  name === null ? "(no name)" : `${name.last}, ${name.firstFull}`;

/** A number with its noun: 1 person, 2 people. */
export const counted = (number: number, one: string, several = `${one}s`): string =>
  `${number} ${number === 1 ? one : several}`;

export const timeOf = (at: Date | null): string | null => at?.toISOString() ?? null;

export const done = (line: string, data: object): Result => ({ lines: [line], data });

/** What was made: its id alone, so that a script can keep it. */
export const made = (id: string): Result => ({ lines: [id], quiet: [id], data: { id } });

export const updated = (what: string, id: string, changed: readonly string[]): Result => ({
  lines: [changed.length === 0 ? "No change." : `${what} updated: ${changed.join(", ")}.`],
  data: { id, changed },
});
