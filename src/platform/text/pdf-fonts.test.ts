import PDFDocument from "pdfkit";
import { expect, test } from "vitest";
import { registerFonts, replaceUndrawable } from "./pdf-fonts.ts";

const document = new PDFDocument();
registerFonts(document, ["plain", "bold", "mono"]);
const note = "[Schriftzeichen hier nicht druckbar]";

test.each(["plain", "bold"] as const)("names are drawn as they are written, or a note stands there: %s", (font) => {
  const draw = (text: string) => replaceUndrawable(document.font(font), "de", text);
  const drawn = `Zoë Groß,Nguyễn Thị Hồng,Nguye\u0302\u0303n,Łucja Żółć,İlayda O’Neill-Ó,Жанна Ильина,Ελένη Παπαδοπούλου,
    Արամ Խաչատրյան,ნინო გელაშვილი,ⵎⴰⵙⵉⵏ,„7 b“ & Co. – 100 %: @_#/\t☎ €`;
  for (const text of drawn.split(",")) expect(draw(text)).toBe(text);
  const replaced = `አበበ ቢቂላ,முருகன் செல்வம்,王小明,山田 花子,タロー,김민준,محمد علي,עברית כהן,ܝܘܚܢܢ,ޢަލީ,ߒߞߏ,अमित शर्मा,রহিম,ਗੁਰਪ੍ਰੀਤ,
    સુરેશ,ଓଡ଼ିଆ,వెంకట్,ಕನ್ನಡ,മലയാളം,සිංහල,สมชาย ใจดี,ສົມສັກ,ភាសាខ្មែរ,မောင်မောင်,བསྟན་འཛིན,ᏣᎳᎩ,ᠮᠣᠩᠭᠣᠯ,عبد‌الله,د’علي,٧,👨‍👩‍👧,👍🏽,a\u064b`;
  for (const text of replaced.split(/,\s*/))
    expect([text, draw(text)]).toEqual([text, text.startsWith("a") ? `a${note}` : note]);
});

test("the note takes the place of those words only, in the language of the document", () => {
  const draw = (text: string) => replaceUndrawable(document.font("plain"), "en", text);
  const english = "[characters cannot be printed here]";
  expect(draw("Amina محمد علي (王), class 7b\nአበበ\nBo")).toBe(
    `Amina ${english} (${english}), class 7b\n${english}\nBo`,
  );
  expect(draw(`x${"王 ".repeat(30_000)}y`)).toBe(`x${english} y`);
});
