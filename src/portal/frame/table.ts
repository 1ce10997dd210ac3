import { escapeHtml } from "../../platform/pages/index.ts";

/** HTML that is shown as it is; all else is escaped. */
export type Markup = { markup: string };

type Value = Markup | string | number | null | undefined | false | readonly Value[];

/** A template string of markup, whose values are escaped; those that are missing or false leave nothing. */
export const html = (parts: TemplateStringsArray, ...values: Value[]): Markup => ({
  markup: parts.reduce((all, part, index) => all + write(values[index - 1]) + part),
});

function write(value: Value): string {
  if (value === null || value === undefined || value === false) return "";
  if (typeof value !== "object") return escapeHtml(String(value));
  return "markup" in value ? value.markup : value.map(write).join("");
}

/** `number` aligns the column to the right. `row` is the column that names the row; the first one if none is marked. */
type Column<Row> = readonly [heading: string, cell: (row: Row, index: number) => Value, kind?: "number" | "row"];

export type TableOptions<Row> = {
  /** What screen readers call the table. */
  label: string;
  rows: readonly Row[];
  /** A column that only some readers get is missing for the others. */
  columns: readonly (Column<Row> | false | null | undefined)[];
  /** Shown in place of a table without rows. */
  empty?: string;
  next?: string | null;
};

export function tableOf<Row>({ label, rows, columns, empty, next = null }: TableOptions<Row>) {
  const present = columns.filter((column) => column !== false && column !== null && column !== undefined);
  const naming = present.findIndex(([, , kind]) => kind === "row");
  const headings = present.map(([heading, , kind]) => ({ heading, isNumber: kind === "number" }));
  const lines = rows.map((row, line) =>
    present.map(([, cell, kind], index) => ({
      markup: write(cell(row, line)),
      isRow: index === Math.max(naming, 0),
      isNumber: kind === "number",
    })),
  );
  return { label, headings, lines, empty, next };
}
