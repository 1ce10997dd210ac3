// Runs in a thread.
import { startTaggedPdf, type TaggedPdf } from "../../platform/text/tagged-pdf.ts";
import { addTexts, makeTranslator, type Locale } from "../../platform/pages/index.ts";
import { frameTexts } from "../frame/texts.ts";
import { makeTimes } from "../frame/zone.ts";
import { writeLetter, type Letter, type LetterOptions } from "./data-letter.ts";
import type { PersonData, Section } from "./data-sections.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };

/** `data` is the JSON of the admin API, `now` the date of the document. */
export type DataDocument = LetterOptions & {
  data: ArrayBuffer;
  as: "pdf" | "json";
  locale: Locale;
  zone: string;
  now: Date;
};

const margin = 62;
const translator = makeTranslator({ de: addTexts(frameTexts.de, german), en: addTexts(frameTexts.en, english) });

export default async function writeDocument({ data, as, zone, now, ...options }: DataDocument): Promise<Buffer> {
  const read = JSON.parse(Buffer.from(data).toString()) as PersonData;
  if (as === "json") return Buffer.from(JSON.stringify(read, null, 2));
  const { locale } = options;
  return draw(writeLetter(read, options, { t: translator(locale), times: makeTimes(locale, zone) }), { locale, now });
}

function draw(letter: Letter, { locale, now }: { locale: Locale; now: Date }): Promise<Buffer> {
  const [name = "", ...address] = letter.sender;
  const margins = { top: margin, left: margin, right: margin, bottom: margin };
  const pdf = startTaggedPdf({ language: locale, title: letter.title, author: name, now, margins });
  const { document, write } = pdf;
  document.font("bold").fontSize(11);
  write("P", name);
  document.font("plain").fontSize(9.5);
  write("P", address.join("\n"));
  document.moveDown(2.5).fontSize(10);
  write("P", letter.recipient.join("\n"));
  document.moveDown(1.5);
  write("P", letter.place, { align: "right" });
  document.moveDown(1.5).font("bold").fontSize(13);
  write("H1", letter.title);
  document.moveDown(0.8).font("plain").fontSize(10);
  for (const line of letter.opening) write("P", line, { paragraphGap: 5, lineGap: 1.5 });
  for (const section of letter.sections) drawSection(pdf, section, "H2");
  document.addPage().font("bold").fontSize(13);
  write("H2", letter.dataHeading);
  for (const section of letter.data) drawSection(pdf, section, "H3");
  numberPages(pdf, `${name} · ${letter.title}`);
  return pdf.finish();
}

function drawSection({ document, write }: TaggedPdf, { heading, lines }: Section, as: "H2" | "H3"): void {
  // Keeps a heading together with its first lines.
  if (document.y > document.page.height - margin - 70) document.addPage();
  document.moveDown(0.9).font("bold").fontSize(10.5);
  write(as, heading);
  document.moveDown(0.2).font("plain").fontSize(9.5);
  for (const line of lines) write("P", line, { paragraphGap: 3, lineGap: 1.2 });
}

const numberWidth = 50;

/** Writes the foot of every page, below its margin. */
function numberPages({ document, drawFeet }: TaggedPdf, text: string): void {
  drawFeet(text, (drawable, page, pages) => {
    const [width, y] = [document.page.width - 2 * margin, document.page.height - 40];
    document.fontSize(8);
    document.text(drawable, margin, y, { width: width - numberWidth, height: 10, ellipsis: true });
    document.text(`${page + 1} / ${pages}`, margin, y, { width, align: "right" });
  });
}
