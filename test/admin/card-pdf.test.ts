// @module-tag slow
import { expect, test } from "vitest";
import { drawCards } from "../../src/admin/card-pdf/draw.ts";
import { fitText, lineHeight } from "../../src/admin/card-pdf/fit.ts";
import { makePrintable } from "../../src/platform/images/printable-image.ts";
import { makePng } from "../support/images.ts";
import { readPages, readPdf, readQr } from "../support/read-cards.ts";
import { layOutCards, pageSize, type PrintedCard, type PrintJob } from "../../src/admin/card-pdf/layout.ts";

const now = new Date("2026-02-03T08:00:00Z");
const token = "AbCdEfGhIjKlMnOpQr012-_A";
const names = ["Bo Muster", "Łucja Żółć", "İlayda Öztürk", "Nguyễn Thị Hồng", "Zoë Groß", "Жанна Ильина"];

const makeCard = (index: number): PrintedCard => ({
  name: names[index % names.length]!,
  className: "5a",
  username: `bo.muster${index}`,
  password: `Il1O0-${index}`,
  url: `https://login.example.org/card/${token.slice(0, 22)}${String(index).padStart(2, "0")}`,
  secret: String(1000 + index),
});
const makeJob = (count: number, wishes: Partial<PrintJob> = {}): PrintJob => ({
  language: "de",
  schoolName: "Goethe-Gymnasium",
  signInAddress: "https://login.example.org/sign-in",
  printsSecret: false,
  logo: null,
  letter: null,
  leftOut: [],
  cards: Array.from({ length: count }, (_, index) => makeCard(index)),
  ...wishes,
});
const asWritten = (text: string) => text;

test("cards are printed eight on a page, with names in any European letters and QR codes that a camera reads", async () => {
  const job = makeJob(10);
  const { pages, pictures } = readPdf(await drawCards(job, now));
  expect(pictures).toHaveLength(3);
  const cards = pages.slice(0, 2).join("\n").normalize("NFC");
  for (const { name, username, password, secret } of job.cards) {
    for (const text of [name!, username, password!]) expect(cards).toContain(text);
    expect(cards).not.toContain(secret!);
    expect(pages[2]).toContain(secret!);
  }
  for (const text of ["Goethe-Gymnasium", "Klasse 5a", "https://login.example.org/sign-in"])
    expect(cards).toContain(text);
  for (const [index, { url }] of job.cards.entries()) {
    const { text, millimetres } = readQr(pictures[Math.floor(index / 8)]!, index % 8);
    expect(text).toBe(url);
    expect(millimetres).toBeGreaterThan(25);
  }
});

test("a logo stands on every card, is in the document once and covers neither text nor QR code", async () => {
  const job = makeJob(9, { printsSecret: true, logo: makePrintable(makePng({ width: 40, height: 40, alpha: 255 })) });
  const drawn = await drawCards(job, now);
  const { pages, pictures } = readPdf(drawn);
  expect(drawn.toString("latin1").match(/\/Subtype \/Image/g)).toHaveLength(1);
  for (const [index, { url, name, secret }] of job.cards.entries()) {
    expect(readQr(pictures[Math.floor(index / 8)]!, index % 8).text).toBe(url);
    for (const text of [name!, secret!]) expect(pages.join("\n").normalize("NFC")).toContain(text);
  }
  const measure = (text: string) => text.length * 0.6;
  for (const url of [null, "https://login.example.org/card/x"]) {
    const cards = [{ ...makeCard(0), url, name: "Maximiliana Wilhelmine-Karoline ".repeat(6).trim() }];
    const [page] = [...layOutCards({ ...job, cards }, { plain: measure, bold: measure, mono: measure }, asWritten)];
    const [logo] = page!.filter((part) => part.kind === "logo");
    const below = page!.filter((part) => part.kind === "text" && part.y < logo!.y + logo!.height);
    for (const part of below as Extract<(typeof below)[number], { kind: "text" }>[])
      expect(
        part.x + measure(part.text) * part.size <= logo!.x || part.y + part.size * lineHeight <= logo!.y,
        part.text,
      ).toBe(true);
  }
});

test("each class begins on a page of its own, with its name, and people who are left out are listed at the end", async () => {
  const classes = [...Array<string>(9).fill("5a"), "Klasse 5b", null];
  const cards = classes.map((className, index) => ({ ...makeCard(index), className, secret: null }));
  const leftOut = [{ name: "Gesa Gast", className: "5b", reason: "ist Gast" }];
  const { pages } = readPdf(await drawCards(makeJob(0, { cards, leftOut }), now));
  const heads = pages.map((page) => page.trim().split("\n")[0]!.replace(/ +/g, " ").trim());
  expect(heads).toEqual([
    "Klasse 5a · 9 Karten · Goethe-Gymnasium · Seite 1 von 2",
    "Klasse 5a · 9 Karten · Goethe-Gymnasium · Seite 2 von 2",
    "Klasse 5b · 1 Karte · Goethe-Gymnasium",
    "Ohne Klasse · 1 Karte · Goethe-Gymnasium",
    "Nicht dabei",
  ]);
  expect(pages[4]).toMatch(/Gesa Gast +5b +ist Gast/);
});

test("a letter has its text with the values of each pupil, and the card below it", async () => {
  const letter = "Liebe Eltern,\n\n{Name} ({Klasse}) hat den Namen {username}.\nAdresse: {Adresse}\n\n{Schule}";
  const { pages, pictures } = readPdf(await drawCards(makeJob(2, { letter }), now));
  expect(pages).toHaveLength(3);
  const { name, className, username, password, url } = makeCard(1);
  for (const text of [`${name} (${className}) hat den Namen ${username}.`, password!, "Goethe-Gymnasium"])
    expect(pages[1]).toContain(text);
  expect(pages[1]).toMatch(/An die Eltern von\n.*Adresse: https:\/\/login\.example\.org\/sign-in/s);
  expect(pages[1]).not.toContain("{");
  // The card is in the middle of the lower edge: in the left or the right half of the lowest row is its QR code.
  expect([6, 7].map((place) => readQr(pictures[1]!, place).text)).toContain(url);
});

test("a name that the fonts cannot draw is a note with the username, on cards, letters and the list", async () => {
  const cards = [
    { ...makeCard(0), name: "Abebe አበበ" },
    { ...makeCard(1), name: "محمد علي" },
  ];
  for (const letter of [null, "Liebe Eltern, {Name} aus {Klasse}"]) {
    const leftOut = [{ name: "முருகன்", className: "王", reason: "ist Gast" }];
    const job = makeJob(0, { cards, letter, leftOut, schoolName: "学校 Berlin" });
    const texts = readPages(await drawCards(job, now)).map((page) => page.replaceAll(/\s+/g, " "));
    const note = "[Schriftzeichen hier nicht druckbar]";
    expect(texts.join(" ")).not.toMatch(/[\p{scx=Ethi}\p{sc=Arab}\p{sc=Han}\p{sc=Taml}\0]/u);
    const list = texts.at(-2);
    expect(list).toContain(`Abebe ${note} (bo.muster0) 5a 1000`);
    expect(list).toContain(`${note} (bo.muster1) 5a 1001`);
    expect(texts.at(-1)).toContain(`${note} ${note} ist Gast`);
    expect(texts[0]).toContain(`${note} Berlin`);
    if (letter !== null) expect(texts[1]).toContain(`Liebe Eltern, ${note} (bo.muster1) aus 5a`);
  }
});

test("a long letter stays on its page, above the card", () => {
  const measure = {
    plain: (text: string) => text.length * 0.6,
    bold: (text: string) => text.length * 0.65,
    mono: (text: string) => text.length * 0.6,
  };
  const letter = Array.from({ length: 40 }, () => "{Name} und noch ein Wort")
    .join("\n")
    .repeat(2)
    .slice(0, 2_000);
  const job = { ...makeJob(1, { letter }), logo: null };
  const [page] = [...layOutCards(job, measure, asWritten)];
  const cut = page!.find((part) => part.kind === "cut")!;
  const lines = page!.filter((part) => part.kind === "text" && part.text.includes("noch ein Wort"));
  expect(lines.length).toBeGreaterThan(40);
  for (const line of lines)
    if (line.kind === "text" && cut.kind === "cut") expect(line.y + line.size).toBeLessThan(cut.y1);
});

test("the PIN stands on the card where the school has it printed there, and then on no list", async () => {
  const { pages } = readPdf(await drawCards(makeJob(2, { printsSecret: true }), now));
  expect(pages).toHaveLength(1);
  for (const secret of ["1000", "1001"]) expect(pages[0]).toContain(secret);
});

test("cards are printed in English too", async () => {
  const { pages } = readPdf(await drawCards(makeJob(1, { language: "en" }), now));
  for (const text of ["Class 5a", "Username", "Password", "Scan with the camera", "Sign in: https:"])
    expect(pages[0]).toContain(text);
  expect(pages[1]).toContain("For the teacher only");
  for (const text of ["Klasse", "Passwort", "Anmelden"]) expect(pages.join()).not.toContain(text);
});

test("the same cards give the same layout, and no text leaves its card, however long it is", () => {
  const half = { plain: (text: string) => text.length * 0.6, bold: (text: string) => text.length * 0.7 };
  const measure = { ...half, mono: half.plain };
  const long = {
    ...makeCard(0),
    name: "Maximiliana Wilhelmine-Karoline ".repeat(6).trim(),
    className: `5a ${"x".repeat(200)}`,
    username: "u".repeat(255),
    password: "p".repeat(120),
  };
  const job = makeJob(0, { schoolName: "Schule ".repeat(28).trim(), cards: Array.from({ length: 9 }, () => long) });
  const pages = [...layOutCards(job, measure, asWritten)];
  expect([...layOutCards(job, measure, asWritten)]).toEqual(pages);
  expect(pages).toHaveLength(3);
  const [edge, columns, rows] = [20, 2, 4];
  const top = edge + 24;
  const cell = { width: (pageSize.width - 2 * edge) / columns, height: (pageSize.height - edge - top) / rows };
  for (const part of pages.slice(0, 2).flat()) {
    if (part.kind !== "text") continue;
    expect(part.y).toBeGreaterThanOrEqual(edge);
    const [column, row] = [Math.floor((part.x - edge) / cell.width), Math.floor((part.y - top) / cell.height)];
    if (row < 0) {
      expect(part.x + measure[part.font](part.text) * part.size).toBeLessThanOrEqual(pageSize.width - edge);
      continue;
    }
    expect(part.x + measure[part.font](part.text) * part.size).toBeLessThanOrEqual(edge + (column + 1) * cell.width);
    expect(part.y + part.size * 1.25).toBeLessThanOrEqual(top + (row + 1) * cell.height);
  }
  const written = pages[0]!
    .flatMap((part) => (part.kind === "text" && part.font === "mono" ? [part.text] : []))
    .join("");
  expect(written).toContain("p".repeat(120));
});

test("a text is broken between words first, then made smaller, and cut only at the smallest size", () => {
  const measure = (text: string) => text.length;
  expect(fitText("Bo Muster", { width: 90, height: 12.5, size: 10 }, measure)).toEqual({
    size: 10,
    lines: ["Bo Muster"],
  });
  expect(fitText("Bo Muster", { width: 60, height: 25, size: 10 }, measure)).toEqual({
    size: 10,
    lines: ["Bo", "Muster"],
  });
  expect(fitText("Mustermann", { width: 80, height: 12.5, size: 10 }, measure)).toEqual({
    size: 8,
    lines: ["Mustermann"],
  });
  expect(fitText("x".repeat(99), { width: 40, height: 6, size: 10 }, measure).lines).toEqual(["xxxxxxxxx…"]);
});
