import { expect, test } from "vitest";
import { breakLongWords, registerFonts, replaceUndrawable } from "./tagged-pdf.ts";
import PDFDocument from "pdfkit";

const width = 100;

/** Breaks a text whose letters are all one wide, except combining marks; counts what is measured. */
function breakCounting(text: string) {
  let measured = 0;
  const broken = breakLongWords(text, width, (part) => {
    measured += part.length;
    return part.replace(/[\u0301\u200d]/g, "").length;
  });
  return { measured, lines: broken.split("\n"), broken };
}

test.each(["x", "a\u00a0", "a\u2060", "ش", "漢", "\u0301", "\u200d", "😀", "<b>&"])(
  "a word of 60,000 letters is measured once, and fills lines without losing a letter: %j",
  (letters) => {
    const text = `Vor ${letters.repeat(60_000 / letters.length)} nach`;
    const { measured, lines, broken } = breakCounting(text);
    expect(measured).toBeLessThanOrEqual(text.length);
    expect(broken.replaceAll("\n", "")).toBe(text);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(2 * 210);
    expect(lines.length).toBeLessThan(text.length / 50);
  },
);

test("words, addresses and lines of ordinary texts stay as they are", () => {
  const text = `Sehr geehrte Damen und Herren,\n\thttps://example.org/${"a".repeat(270)} ${"wort ".repeat(1000)}`;
  expect(breakCounting(text)).toMatchObject({ measured: 0, broken: text });
});

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
