import { buffer } from "node:stream/consumers";
import PDFDocument from "pdfkit";
import { breakLongWords } from "./break-long-words.ts";
import { registerFonts, replaceUndrawable } from "./pdf-fonts.ts";

type Drawing = InstanceType<typeof PDFDocument>;
type Start = {
  language: "de" | "en";
  title: string;
  author?: string;
  now: Date;
  margins: { top: number; left: number; right: number; bottom: number };
};

/** A PDF on A4 that a screen reader reads aloud: with a language, a title, headings and paragraphs (ISO 14289-1). */
export type TaggedPdf = {
  document: Drawing;
  /** Writes a heading or a paragraph below the last one. */
  write(as: "H1" | "H2" | "H3" | "P", text: string, options?: PDFKit.Mixins.TextOptions): void;
  /** Draws on each page what is not read aloud, such as its number, in the plain font. */
  drawFeet(text: string, draw: (drawable: string, page: number, pages: number) => void): void;
  finish(): Promise<Buffer>;
};

export function startTaggedPdf({ language, title, author = "", now, margins }: Start): TaggedPdf {
  const info = { Title: title, Author: author, CreationDate: now, ModDate: now };
  const about = { lang: language, info, tagged: true, displayTitle: true, pdfVersion: "1.7" as const };
  const document = new PDFDocument({ size: "A4", margins, ...about, bufferPages: true });
  registerFonts(document, ["plain", "bold"]);
  const drawn = buffer(document);
  const root = document.struct("Document");
  document.addStructure(root);
  const width = document.page.width - margins.left - margins.right;
  const drawable = (text: string) => replaceUndrawable(document, language, text);
  return {
    document,
    write(as, text, options = {}) {
      const widthOf = (part: string) => document.widthOfString(part);
      root.add(
        document.struct(as, {}, () => void document.text(breakLongWords(drawable(text), width, widthOf), options)),
      );
    },
    drawFeet(text, draw) {
      const { count } = document.bufferedPageRange();
      document.font("plain");
      for (let page = 0; page < count; page++) {
        document.switchToPage(page);
        // Below the margin, where text would begin another page.
        document.page.margins.bottom = 0;
        document.markContent("Artifact", { type: "Pagination" });
        draw(drawable(text), page, count);
        document.endMarkedContent();
      }
    },
    finish() {
      root.end();
      document.end();
      return drawn;
    },
  };
}
