// Runs in a thread.
import { startTaggedPdf } from "../../platform/text/tagged-pdf.ts";

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

export default function drawDocument({ language, title, lead, sections, footer, now }: PrintedDocument) {
  const margins = { top: margin, left: margin, right: margin, bottom: margin + footerHeight };
  const { document, write, drawFeet, finish } = startTaggedPdf({ language, title, now, margins });
  document.font("bold").fontSize(16);
  write("H1", title);
  document.moveDown(0.5).font("plain").fontSize(10);
  write("P", lead);
  for (const { heading, lines } of sections) {
    document.moveDown(0.9).font("bold").fontSize(11);
    write("H2", heading);
    document.moveDown(0.2).font("plain").fontSize(9.5);
    for (const line of lines) write("P", line === "" ? " " : line, { lineGap: 1.5 });
  }
  drawFeet(footer, (text, page, pages) => {
    const at = document.page.height - margin;
    document.fontSize(7.5).fillColor("#444");
    document.text(`${text} · ${page + 1}/${pages}`, margin, at, { lineBreak: false });
  });
  return finish();
}
