import { withPrismaTransaction, type PrismaDb } from "../platform/database/db.ts";
import { run, sql, statement, table, update } from "../platform/database/sql.ts";
import { openSourceFile, type SourceFile } from "./read/source.ts";
import { readText } from "./read/text.ts";
import { openArchive } from "./read/zip.ts";
import type { ImportId } from "./record.ts";

type Piece = { row: number; from: number; text: string };

const pieceLength = 600;
const before = 200;

const e = table("importError", "e");
const setTexts = statement<{ importId: string; rows: readonly number[]; texts: readonly string[] }>(
  ({ importId, rows, texts }) => sql`
  ${update("importError", "e", { lineText: sql`line.text` })}
  FROM unnest(${rows}::int[], ${texts}::text[]) AS line (row, text)
  WHERE ${e.importId} = ${importId} AND ${e.row} = line.row`,
);

/** Of a long line the part around the fault, of a multi-line record the first line. */
export async function keepFaultLines(
  db: PrismaDb,
  importId: ImportId,
  { path, fileName }: { path: string; fileName?: string | undefined },
): Promise<void> {
  const faults = await db.prisma.importError.findMany({ where: { importId } });
  const inJson = (await openSourceFile(path)).kind === "json";
  const wanted = new Map<string, Map<number, Piece[]>>();
  for (const { file, line, column, row } of faults) {
    const lines = wanted.get(file) ?? wanted.set(file, new Map()).get(file)!;
    const pieces = lines.get(line) ?? lines.set(line, []).get(line)!;
    pieces.push({ row, from: inJson ? Math.max(0, (column ?? 1) - before) : 0, text: "" });
  }
  await withFiles(path, fileName, async (files) => {
    for (const [name, lines] of wanted) {
      const file = files.get(name);
      if (file !== undefined)
        await collectLines(
          readText(file, () => undefined),
          lines,
        );
    }
  });
  const pieces = [...wanted.values()].flatMap((lines) => [...lines.values()].flat()).filter(({ text }) => text !== "");
  const rows = pieces.map(({ row }) => row);
  const texts = pieces.map(({ text }) => text.replaceAll("\0", "\ufffd"));
  await withPrismaTransaction(db, (tx) => run(tx, setTexts, { importId, rows, texts }));
}

async function withFiles(
  path: string,
  fileName: string | undefined,
  work: (files: ReadonlyMap<string, SourceFile>) => Promise<void>,
): Promise<void> {
  const file = await openSourceFile(path, fileName);
  if (file.kind !== "zip") return work(new Map([[file.name, file]]));
  const archive = await openArchive(path);
  const files = new Map([...archive.files.values()].map((entry) => [entry.name, entry]));
  await work(files).finally(() => archive.close());
}

export async function collectLines(texts: AsyncIterable<string>, lines: ReadonlyMap<number, Piece[]>): Promise<void> {
  let [line, at] = [1, 0];
  let wasCarriage = false;
  for await (const text of texts) {
    for (const [part, end] of splitLines(wasCarriage && text.startsWith("\n") ? text.slice(1) : text)) {
      for (const piece of lines.get(line) ?? []) {
        const from = Math.max(0, piece.from + piece.text.length - at);
        piece.text += part.slice(from, Math.max(from, piece.from + pieceLength - at));
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
