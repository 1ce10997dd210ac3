import { stringify } from "csv-stringify/sync";
import { csvForSpreadsheets } from "../platform/text/csv.ts";
import { escapeUnprintable } from "../platform/text/unprintable.ts";
import type { Result, Table } from "./command.ts";
import type { Globals } from "./read-call.ts";
import { alignColumns } from "./lines.ts";

export function printResult(result: Result, { output, quiet }: Pick<Globals, "output" | "quiet">): string | null {
  if (output === "json") return escapeUnprintable(JSON.stringify(result.data));
  if (output === "csv") return csvOf(result.csv ?? result.table ?? tableOf(result.data));
  const lines = quiet && !result.isRefused && !result.isFile ? (result.quiet ?? []) : linesOf(result);
  return lines.length === 0 ? null : lines.join("\n");
}

function linesOf({ table, lines, isFile }: Result): readonly string[] {
  if (isFile) return lines;
  const { columns, rows } = table ?? { columns: [], rows: [] };
  const headed = rows.length === 0 ? [] : alignColumns([columns.map((column) => column.toUpperCase()), ...rows]);
  return [...headed, ...lines.map(escapeUnprintable)];
}

function tableOf(data: object): Table {
  const text = (value: unknown) =>
    value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
  const entries = Object.entries(JSON.parse(JSON.stringify(data)) as Record<string, unknown>);
  return { columns: entries.map(([name]) => name), rows: [entries.map(([, value]) => text(value))] };
}

const csvOf = ({ columns, rows }: Table): string =>
  stringify(
    [columns, ...rows].map((row) => row.map(escapeUnprintable)),
    csvForSpreadsheets,
  ).slice(0, -1);
