import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import jsQR from "jsqr";
import { PNG } from "pngjs";

/** The text of the pages of a PDF, and each page as a picture of 200 points an inch. */
export function readPdf(pdf: Buffer): { pages: string[]; pictures: PNG[] } {
  const folder = mkdtempSync(join(tmpdir(), "cards-"));
  try {
    const file = join(folder, "cards.pdf");
    writeFileSync(file, pdf);
    execFileSync("pdftoppm", ["-r", "200", "-png", "-gray", file, join(folder, "page")]);
    const pictures = readdirSync(folder)
      .filter((name) => name.endsWith(".png"))
      .toSorted()
      .map((name) => PNG.sync.read(readFileSync(join(folder, name))));
    return { pages: readPages(pdf), pictures };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const readPdfText = (pdf: Buffer): string =>
  execFileSync("pdftotext", ["-layout", "-", "-"], { input: pdf }).toString();

/** The text of the pages of a PDF. */
export const readPages = (pdf: Buffer): string[] => readPdfText(pdf).split("\f").slice(0, -1);

/** The pictures in a PDF, a line each. */
export const listPdfImages = (pdf: Buffer): string[] =>
  execFileSync("pdfimages", ["-list", "-"], { input: pdf }).toString().split("\n").slice(2, -1);

/** What the QR code of a card says, and how wide it is in millimetres. Shape: `place` counts the cards of a page. */
export function readQr({ data, width, height }: PNG, place: number): { text: string | undefined; millimetres: number } {
  const [columns, rows] = [2, 4];
  const [cellWidth, cellHeight] = [Math.floor(width / columns), Math.floor(height / rows)];
  const [left, top] = [(place % columns) * cellWidth, Math.floor(place / columns) * cellHeight];
  const cell = new Uint8ClampedArray(cellWidth * cellHeight * 4);
  for (let y = 0; y < cellHeight; y++) {
    const from = ((top + y) * width + left) * 4;
    cell.set(data.subarray(from, from + cellWidth * 4), y * cellWidth * 4);
  }
  const found = jsQR.default(cell, cellWidth, cellHeight);
  const { topLeftCorner: start, topRightCorner: end } = found?.location ?? {};
  return { text: found?.data, millimetres: start && end ? ((end.x - start.x) / 200) * 25.4 : 0 };
}
