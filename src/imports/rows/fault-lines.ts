import { withPrismaTransaction, type PrismaDb } from "../../platform/database/db.ts";
import { run, sql, statement, table, update } from "../../platform/database/sql.ts";
import { openSourceFile, type TableEncoding, type SourceFile } from "../read/source.ts";
import { detachText, readText } from "../read/text.ts";
import { openArchive } from "../read/zip.ts";
import type { ImportId } from "../state/record.ts";
import remedies from "./remedies.json" with { type: "json" };

/** What to do about a fault. */
export const remedyOf = (code: string): string =>
  (remedies as Record<string, string>)[code] ?? "Correct the value and upload the file again.";

type Piece = { from: number; text: string };

const pieceLength = 600;
const before = 200;

const e = table("importError", "e");
const setTexts = statement<{ importId: string; rows: readonly number[]; texts: readonly string[] }>()`
  ${update("importError", "e", { lineText: sql`line.text` })}
  FROM unnest(${"rows"}::int[], ${"texts"}::text[]) AS line (row, text)
  WHERE ${e.importId} = ${"importId"} AND ${e.row} = line.row`;

/** Stores the text at each fault: the part around it of a long line, the first line of a multi-line record. */
export async function keepFaultLines(
  db: PrismaDb,
  importId: ImportId,
  { path, fileName, encoding }: { path: string; fileName?: string | undefined } & Pick<TableEncoding, "encoding">,
): Promise<void> {
  const source = await openSourceFile(path, fileName, { encoding });
  const archive = source.kind === "zip" ? await openArchive(path) : undefined;
  const files: ReadonlyMap<string, SourceFile> = archive?.files ?? new Map([[source.name, source]]);
  const pieces = (await db.prisma.importError.findMany({ where: { importId } })).map(({ column, ...fault }) => ({
    ...fault,
    from: source.kind === "json" ? Math.max(0, (column ?? 1) - before) : 0,
    text: "",
  }));
  try {
    for (const [name, ofFile] of Map.groupBy(pieces, ({ file }) => file)) {
      const file = files.get(name);
      const lines = Map.groupBy(ofFile, ({ line }) => line);
      const texts = file && readText(file, () => undefined);
      if (texts !== undefined) await collectLines(texts, lines);
    }
  } finally {
    archive?.close();
  }
  const pairs = pieces.filter(({ text }) => text !== "");
  const rows = pairs.map(({ row }) => row);
  const texts = pairs.map(({ text }) => text.replaceAll(/[\0\uffff]/g, "\ufffd"));
  await withPrismaTransaction(db, (tx) => run(tx, setTexts, { importId, rows, texts }));
}

async function collectLines(texts: AsyncIterable<string>, lines: ReadonlyMap<number, Piece[]>): Promise<void> {
  let [line, at] = [1, 0];
  let wasCarriage = false;
  for await (const text of texts) {
    for (const [part, end] of splitLines(wasCarriage && text.startsWith("\n") ? text.slice(1) : text)) {
      for (const piece of lines.get(line) ?? []) {
        const from = Math.max(0, piece.from + piece.text.length - at);
        piece.text += detachText(part.slice(from, Math.max(from, piece.from + pieceLength - at)));
      }
      at = end === "" ? at + part.length : 0;
      if (end !== "") line += 1;
    }
    if (text !== "") wasCarriage = text.endsWith("\r");
  }
}

function* splitLines(text: string): Generator<[part: string, end: string]> {
  let from = 0;
  for (const { 0: end, index } of text.matchAll(/\r\n|\r|\n/g)) {
    yield [text.slice(from, index), end];
    from = index + end.length;
  }
  if (from < text.length) yield [text.slice(from), ""];
}
