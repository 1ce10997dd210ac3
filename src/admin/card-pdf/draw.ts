// Runs in a thread.
import { buffer } from "node:stream/consumers";
import PDFDocument from "pdfkit";
import { create } from "qrcode";
import { makePrintable } from "../../platform/images/printable-image.ts";
import { registerFonts, replaceUndrawable, type Font } from "../../platform/text/tagged-pdf.ts";
import type { Measure } from "./fit.ts";
import { layOutCards, pageSize, type Part, type PrintJob } from "./layout.ts";
import { cardTexts } from "./texts.ts";

/** `logo` is the image as the school uploaded it. */
export type Print = { job: Omit<PrintJob, "logo">; logo: Uint8Array | null; now: Date };

export default ({ job, logo, now }: Print): Promise<Buffer> =>
  drawCards({ ...job, logo: logo && makePrintable(logo) }, now);

export async function drawCards(job: PrintJob, now: Date): Promise<Buffer> {
  const t = cardTexts(job.language);
  const document = new PDFDocument({
    size: [pageSize.width, pageSize.height],
    margin: 0,
    autoFirstPage: false,
    lang: job.language,
    info: {
      Title: t(job.letter === null ? "title" : "letters"),
      CreationDate: now,
      ModDate: now,
    },
  });
  registerFonts(document, ["plain", "bold", "mono"]);
  const measureIn =
    (font: Font): Measure =>
    (text) =>
      document.font(font).fontSize(1).widthOfString(text);
  const measure = { plain: measureIn("plain"), bold: measureIn("bold"), mono: measureIn("mono") };
  const drawable = (text: string, font: Font) => replaceUndrawable(document.font(font), job.language, text);
  const drawn = buffer(document);
  // As a text, by which pdfkit finds the image again, so that the document holds it once.
  const logo = job.logo === null ? null : `data:image/any;base64,${job.logo.toString("base64")}`;
  let isEmpty = true;
  for (const page of layOutCards(job, measure, drawable)) {
    isEmpty = false;
    document.addPage();
    for (const part of page) {
      if (part.kind !== "logo") drawPart(document, part);
      else if (logo !== null) drawLogo(document, logo, part);
    }
  }
  if (isEmpty) document.addPage();
  document.end();
  return drawn;
}

function drawLogo(document: PDFKit.PDFDocument, logo: string, part: LogoPart): void {
  const { x, y, width, height } = part;
  document.image(logo, x, y, { fit: [width, height], align: "center", valign: "center" });
}

type LogoPart = Extract<Part, { kind: "logo" }>;

function drawPart(document: PDFKit.PDFDocument, part: Exclude<Part, LogoPart>): void {
  if (part.kind === "qr") return drawQr(document, part);
  if (part.kind === "cut") {
    const { x1, y1, x2, y2 } = part;
    document.moveTo(x1, y1).lineTo(x2, y2).lineWidth(0.4).dash(3, { space: 3 }).stroke("#777").undash();
    return;
  }
  const { font, size, x, y, text, isQuiet } = part;
  document
    .font(font)
    .fontSize(size)
    .fillColor(isQuiet ? "#444" : "#000");
  document.text(text, x, y, { lineBreak: false });
}

/** Adjacent modules of a row are one rectangle. */
function drawQr(document: PDFKit.PDFDocument, { x, y, size, url }: Extract<Part, { kind: "qr" }>): void {
  const { modules } = create(url, { errorCorrectionLevel: "M" });
  const module = size / modules.size;
  for (let row = 0; row < modules.size; row++) {
    for (let column = 0; column < modules.size; column++) {
      const from = column;
      while (column < modules.size && modules.get(row, column) === 1) column++;
      if (column > from) document.rect(x + from * module, y + row * module, (column - from) * module, module);
    }
  }
  document.fill("#000");
}
