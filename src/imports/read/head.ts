import { csvLimits, makeCsvReader, separators, type CsvRecord, type Separator } from "./csv.ts";
import type { SourceFile } from "./source.ts";
import { isBlank } from "./table.ts";
import { readText } from "./text.ts";

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
