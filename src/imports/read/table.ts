import type { Staging } from "../staging.ts";
import { makeCsvReader, type CsvRecord } from "./csv.ts";
import type { SourceFile } from "./source.ts";
import { readText } from "./text.ts";
import { findValueFault, nameLength } from "./value.ts";

export type Row = ReturnType<typeof makeRow>;

export type Table = { file: SourceFile; required: readonly string[]; onBytes(bytes: number): void };

export async function readTable(
  { file, required, onBytes }: Table,
  staging: Staging,
  onRow: (row: Row) => void,
): Promise<void> {
  const reader = makeCsvReader(({ code, message, ...at }) =>
    staging.fault({ file: file.name, field: null, ...at }, code, message),
  );
  let headings: Map<string, number> | undefined;
  let width = 0;
  const take = (records: CsvRecord[]) => {
    for (const record of records) {
      if (headings === undefined) {
        width = record.fields.length;
        headings = readHeadings(file.name, record, required, staging);
      } else if (hasAll(headings, required)) {
        const row = makeRow(file.name, record, headings, staging);
        if (record.fields.length !== width)
          row.fault(null, "field_count", `The record has ${record.fields.length} fields, the heading ${width}.`);
        onRow(row);
      }
    }
  };
  for await (const text of readText(file, onBytes)) {
    take(reader.push(text));
    await staging.flushIfFull();
  }
  take(reader.end());
  if (headings === undefined)
    staging.fault({ file: file.name, line: 1, column: null, field: null }, "file_empty", "The file holds no heading.");
}

const hasAll = (headings: Map<string, number>, required: readonly string[]): boolean =>
  required.every((name) => headings.has(name.toLowerCase()));

function readHeadings(
  file: string,
  { line, fields }: CsvRecord,
  required: readonly string[],
  staging: Staging,
): Map<string, number> {
  const headings = new Map<string, number>();
  // A file without headings has a person in the first line, and faults must not contain names.
  const isOurs = (name: string) => required.some((heading) => heading.toLowerCase() === name);
  for (const [index, field] of fields.entries()) {
    const name = field.trim().toLowerCase();
    if (name === "") continue;
    if (headings.has(name))
      staging.fault(
        { file, line, column: index + 1, field: isOurs(name) ? field.trim() : null },
        "column_twice",
        "The file has two columns of this name.",
      );
    else headings.set(name, index);
  }
  for (const name of required) {
    if (!headings.has(name.toLowerCase()))
      staging.fault({ file, line, column: null, field: name }, "column_missing", `The column ${name} is missing.`);
  }
  return headings;
}

function makeRow(file: string, { line, fields }: CsvRecord, headings: Map<string, number>, staging: Staging) {
  const indexOf = (heading: string) => headings.get(heading.toLowerCase());
  /** Trimmed; empty if the file lacks the column. */
  const get = (heading: string): string => fields[indexOf(heading) ?? -1]?.trim() ?? "";
  /** The number of the column, from 1; 1 if the file lacks it. */
  const column = (heading: string): number => (indexOf(heading) ?? 0) + 1;
  const fault = (heading: string | null, code: string, message: string): void =>
    staging.fault({ file, line, column: heading === null ? null : column(heading), field: heading }, code, message);
  /** As `get`; a fault, and "", if the value is empty, too long or unreadable. */
  const need = (heading: string, maxLength = nameLength): string => {
    const value = get(heading);
    const problem = findValueFault(value, maxLength);
    if (problem) fault(heading, ...problem);
    return problem ? "" : value;
  };
  const take = (heading: string, maxLength?: number): string => (get(heading) === "" ? "" : need(heading, maxLength));
  /** The value of a code; a fault, and null, if `read` does not know it. */
  const choose = <T>(
    heading: string,
    read: (text: string) => T | undefined,
    ...unknown: [code: string, message: string]
  ) => {
    const text = need(heading);
    const value = read(text);
    if (value === undefined && text !== "") fault(heading, ...unknown);
    return value ?? null;
  };
  return { line, get, column, fault, need, take, choose };
}
