import { buffer } from "node:stream/consumers";
import PDFDocument from "pdfkit";
import { createRequire } from "node:module";
type Start = {
  language: "de" | "en";
  title: string;
  author?: string;
  now: Date;
  margins: { top: number; left: number; right: number; bottom: number };
};

/** A PDF on A4 that a screen reader reads aloud: with a language, a title, headings and paragraphs (ISO 14289-1). */
export type TaggedPdf = {
  document: InstanceType<typeof PDFDocument>;
  /** Writes a heading or a paragraph below the last one. */
  write(as: "H1" | "H2" | "H3" | "P", text: string, options?: PDFKit.Mixins.TextOptions): void;
  /** Draws on each page the parts that are not read aloud, such as its number, in the plain font. */
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

const { resolve } = createRequire(import.meta.url);
const files = {
  plain: "DejaVuSans",
  bold: "DejaVuSans-Bold",
  // Tells 0 from O and 1 from l.
  mono: "DejaVuSansMono",
};

export type Font = keyof typeof files;

export function registerFonts(document: PDFKit.PDFDocument, fonts: readonly Font[]): void {
  for (const font of fonts) document.registerFont(font, resolve(`dejavu-fonts-ttf/ttf/${files[font]}.ttf`));
}

const notes = { de: "[Schriftzeichen hier nicht druckbar]", en: "[characters cannot be printed here]" };

/** Scripts written from left to right whose letters do not change their form within a word. */
const simpleScripts =
  /[\p{scx=Latin}\p{scx=Greek}\p{scx=Cyrillic}\p{scx=Armenian}\p{scx=Georgian}\p{scx=Tifinagh}\p{scx=Common}\p{scx=Inherited}]/u;
const missing = "\uffff";
/** With what joins words of a name, and marks of the last letter. */
const runs = new RegExp(`${missing}(?:[\\p{Zs}\\p{Pd}.'’\\p{M}\\p{Cf}]*${missing})*[\\p{M}\\p{Cf}]*`, "gu");

/** Puts a note in place of letters that the document's current font cannot draw. */
export function replaceUndrawable(document: PDFKit.PDFDocument, language: keyof typeof notes, text: string): string {
  const { font } = (document as unknown as WithFont)._font;
  const isDrawn = (character: string): boolean =>
    simpleScripts.test(character) && font.hasGlyphForCodePoint(character.codePointAt(0)!);
  const marked = text.replace(/[^ \t\r\n]/gu, (character) => (isDrawn(character) ? character : missing));
  return marked.replace(runs, notes[language]);
}

/** What the types of pdfkit leave out: the current font, as fontkit reads it. */
type WithFont = { _font: { font: { hasGlyphForCodePoint(code: number): boolean } } };

/** Longer runs of letters are not words and may be broken anywhere. */
const longestWord = 300;
const longestLine = 200;
const pieceLength = 10;

/**
 * Puts line breaks into words of hundreds of letters. What wraps lines measures the rest of a word again for each of
 * its lines: a text of 60,000 letters without a space takes minutes.
 *
 * Units: `measure` returns those of `width`.
 */
export const breakLongWords = (text: string, width: number, measure: (text: string) => number): string =>
  text.replace(longWords, (word) => breakWord(word, width, measure));

// White space that does not allow a line break, such as U+00A0, is part of a word.
const longWords = new RegExp(`[^ \\t\\r\\n]{${longestWord + 1},}`, "g");

function breakWord(word: string, width: number, measure: (text: string) => number): string {
  const letters = Array.from(word);
  let [broken, lineWidth, lineLength] = ["", 0, 0];
  for (let at = 0; at < letters.length; at += pieceLength) {
    const piece = letters.slice(at, at + pieceLength).join("");
    const pieceWidth = measure(piece);
    // Letters without a width never fill a line.
    if (lineLength > 0 && (lineWidth + pieceWidth > width || lineLength >= longestLine)) {
      broken += "\n";
      [lineWidth, lineLength] = [0, 0];
    }
    broken += piece;
    lineWidth += pieceWidth;
    lineLength += pieceLength;
  }
  return broken;
}
