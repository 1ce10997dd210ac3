export type CsvRecord = { line: number; fields: string[] };
/** Units: line from 1; column is the field's number from 1. */
export type CsvFault = { line: number; column: number; code: keyof typeof messages; message: string };

/** Units: characters. `again` limits how much is read a second time after faults. */
export const csvLimits = { header: 65_536, record: 1_048_576, again: 16_777_216 };

const messages = {
  quote_not_closed: "A quotation mark opens here and is never closed.",
  quote_misplaced: "A closing quotation mark is not followed by the end of the field.",
  record_too_long:
    `The record is longer than ${csvLimits.record} characters. ` +
    "Each record ends with a line break; is a quotation mark missing?",
};

/**
 * Reads CSV incrementally in linear time, with the memory of one record. Without a given separator the first line
 * decides between `;`, `,` and tab. After a fault it continues with the next line. csv-parse 7.0 does not continue, and
 * reports an open quote at the last line.
 *
 * Source: RFC 4180, with `;` and any line ending.
 */
export function makeCsvReader(onFault: (fault: CsvFault) => void, limits = csvLimits, separator?: string) {
  let text = "";
  let delimiter = separator?.charCodeAt(0) ?? 0;
  let isLast = false;
  let visited = 0;
  let again = limits.again;
  /** `from` is the start of the current record, `at` the current position. */
  let [from, line, at, fieldFrom, lines] = [0, 1, 0, 0, 0];
  let fields: string[] = [];
  let mode: "field" | "plain" | "quoted" | "ended" | "skipping" = "field";
  let records: CsvRecord[] = [];

  const begin = (next: number): void => {
    [from, at, lines, fields, mode] = [next, next, 0, [], "field"];
  };

  const fail = (code: CsvFault["code"], place: { line: number; column: number }): void => {
    onFault({ ...place, code, message: messages[code] });
    // A stray quotation mark hides the following lines, so they are read again, up to the limit.
    const next = findNextLine(text, from, at);
    visited += (next === -1 ? at : next) - from;
    if (next !== -1 && at - next <= again) {
      again -= at - next;
      line += 1;
      return begin(next);
    }
    const end = text.charCodeAt(at - 1) === carriage ? at - 1 : at;
    line += countLines(text.slice(from, end));
    begin(end);
    mode = "skipping";
  };

  const finishField = (value: string): void => {
    fields.push(value);
    const isDelimiter = at < text.length && text.charCodeAt(at) === delimiter;
    mode = isDelimiter ? "field" : "ended";
    if (isDelimiter) at += 1;
  };

  const readPlain = (): boolean => {
    const start = at;
    while (at < text.length && !isEnd(text.charCodeAt(at), delimiter)) at++;
    visited += at - start + 1;
    if (at === text.length && !isLast) return false;
    finishField(text.slice(fieldFrom, at));
    return true;
  };

  const readQuoted = (): boolean => {
    const start = at;
    const end = findClosingQuote(text, at);
    // A quotation mark at the end of a chunk may be the first of a doubled one.
    const isOpen = end === -1 || (end + 1 === text.length && !isLast);
    at = isOpen ? (end === -1 ? text.length : end) : end + 1;
    visited += at - start + 1;
    if (isOpen) {
      if (isLast) fail("quote_not_closed", { line: line + lines, column: fields.length + 1 });
      return isLast;
    }
    const value = text.slice(fieldFrom, end);
    const place = { line: line + lines, column: fields.length + 1 };
    if (at < text.length && !isEnd(text.charCodeAt(at), delimiter)) {
      fail("quote_misplaced", place);
      return true;
    }
    lines += countLines(value);
    finishField(value.includes('""') ? value.replaceAll('""', '"') : value);
    return true;
  };

  const readLineEnd = (): boolean => {
    if (at === text.length && !isLast) return false;
    if (text.charCodeAt(at) === carriage && at + 1 === text.length && !isLast) return false;
    if (mode === "ended" && (fields.length > 1 || fields[0] !== "")) records.push({ line, fields });
    line += lines + 1;
    begin(at + (text.charCodeAt(at) === carriage && text.charCodeAt(at + 1) === newline ? 2 : 1));
    return true;
  };

  const step = (): boolean => {
    if (mode !== "skipping" && at - from > limits.record) {
      if (mode === "quoted") fail("quote_not_closed", { line: line + lines, column: fields.length + 1 });
      else fail("record_too_long", { line, column: 1 });
    }
    if (at >= text.length && (!isLast || mode === "skipping" || (mode === "field" && fields.length === 0)))
      return false;
    if (mode === "field") {
      mode = text.charCodeAt(at) === quote ? "quoted" : "plain";
      if (mode === "quoted") at += 1;
      fieldFrom = at;
      return true;
    }
    if (mode === "plain") return readPlain();
    if (mode === "quoted") return readQuoted();
    if (mode === "skipping") {
      const start = at;
      while (at < text.length && !isBreak(text.charCodeAt(at))) at++;
      visited += at - start + 1;
      from = at;
    }
    return readLineEnd();
  };

  const take = (piece: string, last: boolean): CsvRecord[] => {
    text = text.slice(from) + piece;
    [at, fieldFrom, from, isLast, records] = [at - from, fieldFrom - from, 0, last, []];
    if (delimiter === 0 && (last || text.length > limits.header || /[\r\n]/.test(text)))
      delimiter = findDelimiter(text);
    if (delimiter !== 0) while (step());
    return records;
  };

  return {
    push: (piece: string) => take(piece, false),
    end: () => take("", true),
    get visited() {
      return visited;
    },
  };
}

export const separators = { SEMICOLON: ";", COMMA: ",", TAB: "\t" } as const;
export type SeparatorName = keyof typeof separators;
export type Separator = (typeof separators)[SeparatorName];

const [quote, newline, carriage] = [0x22, 0x0a, 0x0d];

function findDelimiter(text: string): number {
  const [first = ""] = text.split(/[\r\n]/, 1);
  const unquoted = first.replace(/"[^"]*"/g, "");
  const counts = Object.values(separators).map((sign) => [sign, unquoted.split(sign).length] as const);
  return counts.toSorted((a, b) => b[1] - a[1])[0]![0].charCodeAt(0);
}

const isBreak = (sign: number): boolean => sign === newline || sign === carriage;
const isEnd = (sign: number, delimiter: number): boolean => sign === delimiter || isBreak(sign);

function findClosingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at !== -1 && text.charCodeAt(at + 1) === quote) at = text.indexOf('"', at + 2);
  return at;
}

const countLines = (text: string): number => (/[\r\n]/.test(text) ? text.split(/\r\n|\r|\n/).length - 1 : 0);

/** The start of the next line; -1 unless it is before `to`. */
function findNextLine(text: string, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    if (!isBreak(text.charCodeAt(at))) continue;
    const next = at + (text.charCodeAt(at) === carriage && text.charCodeAt(at + 1) === newline ? 2 : 1);
    return next < to ? next : -1;
  }
  return -1;
}
