import { Readable } from "node:stream";
import { stringify } from "csv-stringify";
import { startExport } from "../../platform/http/index.ts";
import { csvFile } from "../../platform/text/csv.ts";
import type { Download } from "./area.ts";
import { askedBy, type PageRequest } from "./page-request.ts";

/** A longer file is cut, and its last line says so. */
const mostPages = 400;

export type CsvRow = Record<string, string | number>;
export type CsvPage = { rows: CsvRow[]; next: string | null };

type CsvFile = {
  name: string;
  columns: readonly { key: string; header: string }[];
  readPage: (cursor: string | null) => Promise<CsvPage>;
};

export async function handCsv(request: PageRequest, { name, columns, readPage }: CsvFile): Promise<Download> {
  const inTurn = startExport(askedBy(request));
  const read = (cursor: string | null) => inTurn(() => readPage(cursor));
  const cut = { [columns[0]!.key]: request.t("frame.csvCut") };
  const rows = Readable.from(writeRows(await read(null), read, cut));
  const file = stringify({ ...csvFile(request.locale), columns: [...columns] });
  rows.once("error", (error) => file.destroy(error));
  file.once("close", () => rows.destroy());
  return { file: rows.pipe(file), type: "text/csv; charset=utf-8", name };
}

async function* writeRows(first: CsvPage, read: CsvFile["readPage"], cut: CsvRow): AsyncGenerator<CsvRow> {
  let page = first;
  for (let count = 1; ; count += 1) {
    yield* page.rows;
    if (page.next === null) return;
    if (count === mostPages) {
      yield cut;
      return;
    }
    page = await read(page.next);
  }
}
