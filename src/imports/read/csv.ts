export type CsvRecord = { line: number; fields: string[] };
/** Units: line from 1; column is the number of the field within its record, from 1. */
export type CsvFault = { line: number; column: number; code: "quote_not_closed" | "quote_misplaced"; message: string };

export type CsvReader = {
  /** Takes the next piece of text, answers the records that are complete. */
  push(text: string): CsvRecord[];
  /** Answers what is left. */
  end(): CsvRecord[];
};

type Parsed = { fields: string[]; next: number; lines: number };
type Fault = { column: number; linesBefore: number; code: CsvFault["code"] };

/**
 * Reads CSV piece by piece and keeps the place of everything.
 *
 * Shape:  the delimiter is the one of `;`, `,` and tab that the first line has most of; quoted fields may hold delimiters,
 *         line breaks and doubled quotes; empty lines are passed over. After a fault it goes on with the next line.
 * Source: RFC 4180, with `;` and any line ending.
 */
export function makeCsvReader(onFault: (fault: CsvFault) => void): CsvReader {
  let rest = "";
  let line = 1;
  let delimiter = 0;

  const take = (isLast: boolean): CsvRecord[] => {
    const records: CsvRecord[] = [];
    if (delimiter === 0 && (isLast || rest.length > maxHeader || /[\r\n]/.test(rest))) delimiter = findDelimiter(rest);
    let position = 0;
    while (delimiter !== 0 && position < rest.length) {
      const parsed = parseRecord(rest, position, delimiter, isLast);
      if (parsed === "incomplete") break;
      if ("code" in parsed) {
        onFault({ line: line + parsed.linesBefore, column: parsed.column, code: parsed.code, message: messages[parsed.code] });
        position = skipLine(rest, position);
        line += 1;
        continue;
      }
      if (parsed.fields.length > 1 || parsed.fields[0] !== "") records.push({ line, fields: parsed.fields });
      position = parsed.next;
      line += parsed.lines;
    }
    rest = rest.slice(position);
    return records;
  };

  return {
    push(text) {
      rest += text;
      return take(false);
    },
    end: () => take(true),
  };
}

const messages = {
  quote_not_closed: "A quotation mark opens here and is never closed.",
  quote_misplaced: "Behind a closing quotation mark stands something else than the end of the field.",
};

const [quote, newline, carriage] = [0x22, 0x0a, 0x0d];
const maxHeader = 65_536;
/** A record longer than this is taken for a quotation mark that was forgotten. */
const maxRecord = 1_048_576;

function findDelimiter(text: string): number {
  const [first = ""] = text.split(/[\r\n]/, 1);
  const unquoted = first.replace(/"[^"]*"/g, "");
  const counts = [";", ",", "\t"].map((sign) => [sign, unquoted.split(sign).length] as const);
  return counts.toSorted((a, b) => b[1] - a[1])[0]![0].charCodeAt(0);
}

function parseRecord(text: string, from: number, delimiter: number, isLast: boolean): Parsed | Fault | "incomplete" {
  const fields: string[] = [];
  let at = from;
  let lines = 0;
  for (;;) {
    if (text.charCodeAt(at) === quote) {
      const linesBefore = lines;
      const end = findClosingQuote(text, at + 1);
      if (end === -1 || (end + 1 === text.length && !isLast)) {
        const isHopeless = isLast || text.length - from > maxRecord;
        return isHopeless && end === -1 ? { column: fields.length + 1, linesBefore, code: "quote_not_closed" } : "incomplete";
      }
      const value = text.slice(at + 1, end);
      lines += countLines(value);
      fields.push(value.includes('""') ? value.replaceAll('""', '"') : value);
      at = end + 1;
      if (at < text.length && !isEnd(text.charCodeAt(at), delimiter)) return { column: fields.length, linesBefore, code: "quote_misplaced" };
    } else {
      const start = at;
      while (at < text.length && !isEnd(text.charCodeAt(at), delimiter)) at++;
      fields.push(text.slice(start, at));
    }
    if (at === text.length) return isLast ? { fields, next: at, lines: lines + 1 } : "incomplete";
    const sign = text.charCodeAt(at);
    at += 1;
    if (sign === delimiter) continue;
    if (sign === carriage) {
      if (at === text.length && !isLast) return "incomplete";
      if (text.charCodeAt(at) === newline) at += 1;
    }
    return { fields, next: at, lines: lines + 1 };
  }
}

const isEnd = (sign: number, delimiter: number): boolean => sign === delimiter || sign === newline || sign === carriage;

/** Passes over doubled quotation marks, which stand for one. */
function findClosingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at !== -1 && text.charCodeAt(at + 1) === quote) at = text.indexOf('"', at + 2);
  return at;
}

const countLines = (text: string): number => (/[\r\n]/.test(text) ? text.split(/\r\n|\r|\n/).length - 1 : 0);

function skipLine(text: string, from: number): number {
  const rest = /\r\n|\r|\n/g;
  rest.lastIndex = from;
  const match = rest.exec(text);
  return match === null ? text.length : match.index + match[0].length;
}
