// Runs in a thread.
import { createRequire } from "node:module";
import { buffer } from "node:stream/consumers";
import PDFDocument from "pdfkit";
import { breakLongWords } from "../../platform/text/break-long-words.ts";
import { addTexts, makeTranslator, type Locale } from "../../platform/pages/index.ts";
import frameGerman from "../frame/locales/de.json" with { type: "json" };
import frameEnglish from "../frame/locales/en.json" with { type: "json" };
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

const { resolve } = createRequire(import.meta.url);
const fontFile = (name: string): string => resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`);
const margin = 62;
const translator = makeTranslator({ de: addTexts(frameGerman, german), en: addTexts(frameEnglish, english) });

export default async function writeDocument({ data, as, zone, now, ...options }: DataDocument): Promise<Buffer> {
  const read = JSON.parse(Buffer.from(data).toString()) as PersonData;
  if (as === "json") return Buffer.from(JSON.stringify(read, null, 2));
  const { locale } = options;
  const letter = writeLetter(read, options, { t: translator(locale), times: makeTimes(locale, zone) });
  return draw(letter, { locale, now });
}

type Drawing = InstanceType<typeof PDFDocument>;

function write(document: Drawing, text: string, options: PDFKit.Mixins.TextOptions = {}): Drawing {
  const width = document.page.width - 2 * margin;
  return document.text(
    breakLongWords(text, width, (part) => document.widthOfString(part)),
    options,
  );
}

async function draw(letter: Letter, { locale, now }: { locale: Locale; now: Date }): Promise<Buffer> {
  const info = { Title: letter.title, Author: letter.sender[0] ?? "", CreationDate: now, ModDate: now };
  const document = new PDFDocument({ size: "A4", margin, lang: locale, info, bufferPages: true });
  document.registerFont("plain", fontFile("DejaVuSans"));
  document.registerFont("bold", fontFile("DejaVuSans-Bold"));
  const drawn = buffer(document);
  const [name = "", ...address] = letter.sender;
  write(document.font("bold").fontSize(11), name);
  write(document.font("plain").fontSize(9.5), address.join("\n"));
  write(document.moveDown(2.5).fontSize(10), letter.recipient);
  write(document.moveDown(1.5), letter.place, { align: "right" });
  write(document.moveDown(1.5).font("bold").fontSize(13), letter.title);
  document.moveDown(0.8).font("plain").fontSize(10);
  for (const line of letter.opening) write(document, line, { paragraphGap: 5, lineGap: 1.5 });
  for (const section of letter.sections) drawSection(document, section);
  write(document.addPage().font("bold").fontSize(13), letter.dataHeading);
  for (const section of letter.data) drawSection(document, section);
  numberPages(document, `${name} · ${letter.title}`);
  document.end();
  return drawn;
}

function drawSection(document: Drawing, { heading, lines }: Section): void {
  // Keeps a heading together with its first lines.
  if (document.y > document.page.height - margin - 70) document.addPage();
  write(document.moveDown(0.9).font("bold").fontSize(10.5), heading).moveDown(0.2);
  document.font("plain").fontSize(9.5);
  for (const line of lines) write(document, line, { paragraphGap: 3, lineGap: 1.2 });
}

const numberWidth = 50;

/** Writes the foot of every page, below its margin. */
function numberPages(document: Drawing, text: string): void {
  const { count } = document.bufferedPageRange();
  for (let index = 0; index < count; index += 1) {
    document.switchToPage(index);
    document.page.margins.bottom = 0;
    const [width, y] = [document.page.width - 2 * margin, document.page.height - 40];
    document.font("plain").fontSize(8);
    document.text(text, margin, y, { width: width - numberWidth, height: 10, ellipsis: true });
    document.text(`${index + 1} / ${count}`, margin, y, { width, align: "right" });
  }
}
