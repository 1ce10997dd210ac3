import { AppError } from "../../platform/errors.ts";
import { unescapeCell } from "../../platform/text/csv.ts";
import { csvLimits, makeCsvReader, separators, type CsvRecord, type Separator } from "./csv.ts";
import type { SourceFile } from "./source.ts";
import { readText } from "./text.ts";
import { cleanId, findValueFault, idLength, nameLength } from "./value.ts";

/**
 * `column` is the field's number (CSV) or character (JSON); `record` the number of a JSON record, 0 for its file, or
 * the line of a row that was read.
 */
export type FaultPosition = {
  file: string;
  line: number;
  column: number | null;
  record?: number | null;
  field: string | null;
};

/** Takes the faults of a file, and what was read of it until then. */
type Sink = { fault(at: FaultPosition, code: string, message: string): void; endRecord(): Promise<void> };

export type Row = ReturnType<typeof makeRow>;

/** Where the columns of a table are, if not by their headings. */
export type TableLayout = {
  separator: string;
  /** The line of the headings; records before it are passed over. 0: every record is a row. */
  headingLine: number;
  headings: readonly string[];
  /** The indexes of the columns by the name that the rows are asked for; undefined: by the headings. */
  columns?: ReadonlyMap<string, readonly number[]> | undefined;
};

type Table = {
  file: SourceFile;
  required: readonly string[];
  layout?: TableLayout | undefined;
  /** Takes a row that does not belong to the table, such as a sum. Returns false for a row of the table. */
  setAside?: (row: Row, headings: readonly string[]) => boolean;
  onBytes(bytes: number): void;
};

/** Returns the headings. */
export async function readTable(
  { file, required, layout, setAside, onBytes }: Table,
  staging: Sink,
  onRow: (row: Row) => void,
): Promise<readonly string[]> {
  let isReadable = true;
  const reader = makeCsvReader(
    ({ code, message, ...at }) => {
      isReadable = false;
      staging.fault({ file: file.name, field: null, ...at }, code, message);
    },
    csvLimits,
    layout?.separator,
  );
  let headings = layout?.headingLine === 0 ? toHeadings(file.name, layout) : undefined;
  let written = layout?.headings ?? [];
  const take = async (records: CsvRecord[]) => {
    for (const record of records) {
      await staging.endRecord();
      if (isBlank(record) || record.line < (layout?.headingLine ?? 0)) continue;
      if (headings === undefined) {
        refuseWide(record.fields.length);
        written = layout?.headings ?? record.fields;
        headings = layout?.columns ? toHeadings(file.name, layout) : readHeadings(file.name, record, required, staging);
      } else if (required.every((name) => headings!.indexes.has(name.toLowerCase()))) {
        const row = makeRow(record, headings, staging);
        if (setAside?.(row, written) === true) continue;
        checkWidth(record, headings, row, required);
        onRow(row);
      }
    }
  };
  for await (const text of readText(file, onBytes)) await take(reader.push(text));
  await take(reader.end());
  if (headings === undefined && isReadable)
    staging.fault({ file: file.name, line: 1, column: null, field: null }, "file_empty", "The file holds no heading.");
  return written;
}

const mostColumns = 1000;

/** Errors: invalid table_too_wide. */
export function refuseWide(columns: number): void {
  if (columns <= mostColumns) return;
  const message = `The table has more than ${mostColumns} columns. Remove those that are not needed.`;
  throw new AppError("invalid", "table_too_wide", message);
}

const isBlank = ({ fields }: CsvRecord): boolean => fields.every((field) => field.trim() === "");

/** `labels` are the headings as the file has them, if faults are to show them instead of the names. */
type Headings = {
  file: string;
  width: number;
  indexes: ReadonlyMap<string, readonly number[]>;
  labels?: readonly string[];
};

const toHeadings = (file: string, { headings, columns = new Map() }: TableLayout): Headings => ({
  file,
  width: headings.length,
  indexes: columns,
  labels: headings,
});

/** Spreadsheets leave out empty fields at the end of a row, and write some behind it. */
function checkWidth({ fields }: CsvRecord, { width, indexes }: Headings, row: Row, required: readonly string[]): void {
  const needed = Math.max(0, ...required.map((name) => (indexes.get(name.toLowerCase())?.[0] ?? -1) + 1));
  if (fields.length < needed || fields.slice(width).some((field) => field.trim() !== ""))
    row.fault(null, "field_count", `The record has ${fields.length} fields, the heading ${width}.`);
}

function readHeadings(file: string, { line, fields }: CsvRecord, required: readonly string[], staging: Sink): Headings {
  const indexes = new Map<string, readonly number[]>();
  // A file without headings has a person in the first line, and faults must not contain names.
  const isOurs = (name: string) => required.some((heading) => heading.toLowerCase() === name);
  for (const [index, field] of fields.entries()) {
    const name = field.trim().toLowerCase();
    if (name === "") continue;
    if (indexes.has(name))
      staging.fault(
        { file, line, column: index + 1, field: isOurs(name) ? field.trim() : null },
        "column_twice",
        "The file has two columns of this name.",
      );
    else indexes.set(name, [index]);
  }
  for (const name of required) {
    if (!indexes.has(name.toLowerCase()))
      staging.fault({ file, line, column: null, field: name }, "column_missing", `The column ${name} is missing.`);
  }
  return { file, width: fields.length, indexes };
}

function makeRow({ line, fields }: CsvRecord, { file, width, indexes, labels }: Headings, staging: Sink) {
  const indexesOf = (heading: string) => indexes.get(heading.toLowerCase()) ?? [];
  /** Trimmed; empty if the file lacks the column; several columns of a name are separated by `|`. */
  const get = (heading: string): string => {
    const values = indexesOf(heading).map((index) => unescapeCell(fields[index]?.trim() ?? ""));
    return values.length === 1 ? values[0]! : values.filter((value) => value !== "").join("|");
  };
  /** The number of the column, from 1; 1 if the file lacks it. */
  const column = (heading: string): number => (indexesOf(heading)[0] ?? 0) + 1;
  const has = (heading: string): boolean => indexesOf(heading).length > 0;
  const fault = (heading: string | null, code: string, message: string): void =>
    staging.fault(
      {
        file,
        line,
        record: line,
        column: heading === null ? null : column(heading),
        field: (heading !== null && labels?.[indexesOf(heading)[0] ?? -1]) || heading,
      },
      code,
      message,
    );
  /** As `get`; a fault, and "", if the value is empty, too long or unreadable. */
  const need = (heading: string, maxLength = nameLength): string => {
    const value = maxLength === idLength ? cleanId(get(heading)) : get(heading);
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
  /** The fields with those of other columns emptied, if the row is not longer than the headings. */
  const keep = (names: readonly string[]): readonly string[] => {
    if (fields.length > width) return fields;
    const columns = new Set(names.flatMap(indexesOf));
    return fields.map((field, index) => (columns.has(index) ? field : ""));
  };
  const cells = fields.map((field) => field.trim());
  return { line, cells, keep, get, has, column, fault, need, take, choose };
}

export type Head = {
  separator: Separator;
  /** The records at the beginning of the file, without blank ones. */
  records: readonly CsvRecord[];
  /** The number of fields that most of the records have. */
  width: number;
};

const characters = 65_536;
const looked = 60;

/** Reads the beginning of a table, and decides for the separator by which most records have the same width. */
export async function readHead(file: SourceFile): Promise<Head> {
  let text = "";
  for await (const piece of readText(file, () => undefined)) {
    text += piece;
    if (text.length > characters) break;
  }
  // The last line may be cut off.
  if (text.length > characters) text = text.slice(0, characters).replace(/[^\r\n]+$/, "") || text.slice(0, characters);
  const named = file.separator ?? /^"?sep=([;,\t])/i.exec(text)?.[1];
  const heads = Object.values(separators).map((separator) => measure(text, separator));
  return (
    heads.find(({ separator }) => separator === named) ??
    heads.reduce((best, head) => (head.votes * head.width > best.votes * best.width ? head : best))
  );
}

function measure(text: string, separator: Separator): Head & { votes: number } {
  const reader = makeCsvReader(() => undefined, csvLimits, separator);
  const all = [...reader.push(text), ...reader.end()];
  const records = all.filter((record) => !isBlank(record) && !/^"?sep=./i.test(record.fields[0]!)).slice(0, looked);
  const counts = Map.groupBy(records, ({ fields }) => fields.length);
  const [width, most] = [...counts]
    .filter(([fields]) => fields > 1)
    .reduce<[number, CsvRecord[]]>((best, one) => (one[1].length > best[1].length ? one : best), [1, []]);
  return { separator, records, width, votes: most.length };
}
