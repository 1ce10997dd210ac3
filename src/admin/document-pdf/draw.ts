import { createRequire } from "node:module";
import { buffer } from "node:stream/consumers";
import PDFDocument from "pdfkit";
import { breakLongWords } from "../../platform/text/break-long-words.ts";

const { resolve } = createRequire(import.meta.url);

/** A document of headings and paragraphs, as many pages as it needs; `footer` is on each. */
export type PrintedDocument = {
  language: "de" | "en";
  title: string;
  lead: string;
  sections: readonly { heading: string; lines: readonly string[] }[];
  footer: string;
  now: Date;
};

const margin = 57;
const footerHeight = 34;

export async function drawDocument({ language, title, lead, sections, footer, now }: PrintedDocument): Promise<Buffer> {
  const document = new PDFDocument({
    size: "A4",
    margins: { top: margin, left: margin, right: margin, bottom: margin + footerHeight },
    lang: language,
    info: { Title: title, CreationDate: now, ModDate: now },
    bufferPages: true,
  });
  document.registerFont("plain", resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf"));
  document.registerFont("bold", resolve("dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf"));
  const drawn = buffer(document);
  const width = document.page.width - 2 * margin;
  const write = (text: string, options: PDFKit.Mixins.TextOptions = {}) =>
    document.text(
      breakLongWords(text, width, (part) => document.widthOfString(part)),
      options,
    );
  document.font("bold").fontSize(16);
  write(title).moveDown(0.5);
  document.font("plain").fontSize(10);
  write(lead);
  for (const { heading, lines } of sections) {
    document.moveDown(0.9).font("bold").fontSize(11);
    write(heading).moveDown(0.2);
    document.font("plain").fontSize(9.5);
    for (const line of lines) write(line === "" ? " " : line, { lineGap: 1.5 });
  }
  const { count } = document.bufferedPageRange();
  for (let page = 0; page < count; page++) {
    document.switchToPage(page);
    // Below the margin, where text would begin another page.
    document.page.margins.bottom = 0;
    const at = document.page.height - margin;
    document.font("plain").fontSize(7.5).fillColor("#444");
    document.text(`${footer} · ${page + 1}/${count}`, margin, at, { lineBreak: false });
  }
  document.end();
  return drawn;
}
