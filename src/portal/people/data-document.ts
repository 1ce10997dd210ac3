// Runs in a thread.
import { createRequire } from "node:module";
import { buffer } from "node:stream/consumers";
import PDFDocument from "pdfkit";
import type { Locale } from "../../platform/pages/index.ts";

export type Section = { heading: string; lines: string[] };

/** Shape: `now` is the date that the document names. */
export type DataDocument = { title: string; subtitle: string; sections: readonly Section[]; locale: Locale; now: Date };

const { resolve } = createRequire(import.meta.url);
const fontFile = (name: string): string => resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`);
const margin = 56;

/** Draws a document of headings and lines as PDF, A4, with an embedded font. */
export default async function drawDocument({ title, subtitle, sections, locale, now }: DataDocument): Promise<Buffer> {
  const info = { Title: title, CreationDate: now, ModDate: now };
  const document = new PDFDocument({ size: "A4", margin, lang: locale, info });
  document.registerFont("plain", fontFile("DejaVuSans"));
  document.registerFont("bold", fontFile("DejaVuSans-Bold"));
  const drawn = buffer(document);
  document.font("bold").fontSize(20).text(title);
  document.font("plain").fontSize(13).text(subtitle).moveDown();
  for (const { heading, lines } of sections) {
    document.moveDown().font("bold").fontSize(13).text(heading);
    document.font("plain").fontSize(10);
    for (const line of lines) document.text(line, { paragraphGap: 3 });
  }
  document.end();
  return drawn;
}
