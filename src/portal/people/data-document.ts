// Runs in a thread.
import { createRequire } from "node:module";
import { buffer } from "node:stream/consumers";
import PDFDocument from "pdfkit";
import { makeTranslator, type Locale } from "../../platform/pages/index.ts";
import { makeTimes } from "../frame/zone.ts";
import { listSections, type PersonData, type Section } from "./data-sections.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };

/** `data` is the JSON of the admin API, `now` the date of the document. */
export type DataDocument = {
  data: ArrayBuffer;
  as: "pdf" | "json";
  name: string;
  locale: Locale;
  zone: string;
  now: Date;
};

const { resolve } = createRequire(import.meta.url);
const fontFile = (name: string): string => resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`);
const margin = 56;
const translator = makeTranslator({ de: german, en: english });

export default async function writeDocument({ data, as, name, locale, zone, now }: DataDocument): Promise<Buffer> {
  const read = JSON.parse(Buffer.from(data).toString()) as PersonData;
  if (as === "json") return Buffer.from(JSON.stringify(read, null, 2));
  const t = translator(locale);
  const sections = listSections(read, { t, times: makeTimes(locale, zone) });
  return draw({ title: t("data.documentTitle"), subtitle: name, sections }, { locale, now });
}

async function draw(
  { title, subtitle, sections }: { title: string; subtitle: string; sections: readonly Section[] },
  { locale, now }: { locale: Locale; now: Date },
): Promise<Buffer> {
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
