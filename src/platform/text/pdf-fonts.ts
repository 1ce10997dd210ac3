import { createRequire } from "node:module";

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

/** Those whose letters are drawn one after the other from left to right, and that have no other forms within a word. */
const simpleScripts =
  /[\p{scx=Latin}\p{scx=Greek}\p{scx=Cyrillic}\p{scx=Armenian}\p{scx=Georgian}\p{scx=Tifinagh}\p{scx=Common}\p{scx=Inherited}]/u;
const missing = "\uffff";
/** With what joins words of a name, and marks of the last letter. */
const runs = new RegExp(`${missing}(?:[\\p{Zs}\\p{Pd}.'’\\p{M}\\p{Cf}]*${missing})*[\\p{M}\\p{Cf}]*`, "gu");

/** Puts a note in place of what the document's current font cannot draw as it is written. */
export function replaceUndrawable(document: PDFKit.PDFDocument, language: keyof typeof notes, text: string): string {
  const { font } = (document as unknown as WithFont)._font;
  const isDrawn = (character: string): boolean =>
    simpleScripts.test(character) && font.hasGlyphForCodePoint(character.codePointAt(0)!);
  const marked = text.replace(/[^ \t\r\n]/gu, (character) => (isDrawn(character) ? character : missing));
  return marked.replace(runs, notes[language]);
}

/** What the types of pdfkit leave out: the current font, as fontkit reads it. */
type WithFont = { _font: { font: { hasGlyphForCodePoint(code: number): boolean } } };
