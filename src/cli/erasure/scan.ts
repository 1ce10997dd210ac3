import type { Matcher, What } from "./matcher.ts";

/** What the lines are: rows of a table as COPY writes them, or (null) any text. */
export type Section = { table: string; columns: readonly string[] } | null;

export type FoundRow = {
  section: Section;
  /** Counts from 1. */
  line: number;
  /** By column; of a text by "". */
  matches: ReadonlyMap<string, ReadonlySet<What>>;
  /** The value of a column; null if there is none. */
  read(column: string): string | null;
};

type Scan = {
  matcher: Matcher;
  section: Section;
  /** Whether the lines are SQL of pg_dump, in which rows begin and end. */
  isDump?: boolean;
  onRow(row: FoundRow): void;
  onBytes?: (bytes: number) => void;
};

/** A longer line is searched in parts that overlap, so that memory does not grow with it. */
const longestLine = 4 * 1024 ** 2;
const overlap = 4096;
const [lineFeed, tab] = [10, 9];

/** Searches a text line by line. Returns how many lines it has. */
export async function scan(source: AsyncIterable<Uint8Array>, options: Scan): Promise<number> {
  const lines = makeLines(options);
  let pending: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    options.onBytes?.(chunk.length);
    const bytes = pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([pending, chunk]);
    const end = bytes.lastIndexOf(lineFeed) + 1;
    if (end > 0) lines.addWhole(bytes.subarray(0, end));
    pending = bytes.subarray(end);
    if (pending.length > longestLine) {
      lines.addPart(pending);
      pending = pending.subarray(-overlap);
    }
  }
  if (pending.length > 0) lines.addWhole(pending);
  return lines.count();
}

const heading = /^COPY ((?:"[^"]+"|[\w$]+)\.)?("[^"]+"|[\w$]+) \((.*)\) FROM stdin;$/;
const unquote = (name: string): string => name.trim().replaceAll('"', "");

function sectionAt(line: string, present: Section): Section {
  if (line === "\\.") return null;
  const [, , table, columns] = (present === null && heading.exec(line)) || [];
  return table === undefined ? present : { table: unquote(table), columns: columns!.split(",").map(unquote) };
}

function makeLines({ matcher, section: first, isDump = false, onRow }: Scan) {
  let section = first;
  let line = 0;
  // For a line searched in parts: the matches so far, and how many columns end before the remaining part.
  let matches = new Map<string, Set<What>>();
  let columnsBefore = 0;

  function search(bytes: Buffer): string[] {
    const fields = section === null ? [bytes] : [...splitAt(bytes, tab)];
    for (const [at, field] of fields.entries()) {
      const column = section?.columns[columnsBefore + at] ?? "";
      for (const what of matcher.find(field)) matches.set(column, (matches.get(column) ?? new Set<What>()).add(what));
    }
    return columnsBefore === 0 ? fields.map(String) : [];
  }

  function endLine(bytes: Buffer): void {
    line++;
    if (isDump) {
      const next = sectionAt(bytes.subarray(0, 10_000).toString(), section);
      if (next !== section) return void (section = next);
    }
    if (!matcher.mayMatch(bytes) && matches.size === 0) return;
    const fields = search(bytes);
    const { columns = [] } = section ?? {};
    const read = (column: string) => {
      const value = fields[columns.indexOf(column)];
      return value === undefined || value === "\\N" ? null : value;
    };
    if (matches.size > 0) onRow({ section, line, matches, read });
    matches = new Map();
  }

  const hasSections = (bytes: Buffer) =>
    isDump && (bytes.includes("COPY") || bytes.includes("\n\\.") || bytes.indexOf("\\.") === 0);

  return {
    count: () => line,
    addPart(bytes: Buffer): void {
      search(bytes);
      columnsBefore += countOf(bytes.subarray(0, -overlap), tab);
    },
    addWhole(bytes: Buffer): void {
      const isRest = columnsBefore > 0 || matches.size > 0;
      if (!isRest && !matcher.mayMatch(bytes) && !hasSections(bytes)) {
        line += countOf(bytes, lineFeed) + (bytes.at(-1) === lineFeed ? 0 : 1);
        return;
      }
      const ended = bytes.at(-1) === lineFeed ? bytes.subarray(0, -1) : bytes;
      for (const one of splitAt(ended, lineFeed)) {
        endLine(one);
        columnsBefore = 0;
      }
    },
  };
}

function* splitAt(bytes: Buffer, separator: number): Generator<Buffer> {
  let from = 0;
  for (let at = bytes.indexOf(separator); at >= 0; at = bytes.indexOf(separator, from)) {
    yield bytes.subarray(from, at);
    from = at + 1;
  }
  yield bytes.subarray(from);
}

function countOf(bytes: Buffer, wanted: number): number {
  let count = 0;
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) count++;
  return count;
}
