import type { Font } from "../../platform/text/tagged-pdf.ts";
import { fitText, lineHeight, type Measure } from "./fit.ts";
import { bareClass, cardTexts, fillLetter, nameClass, type CardLanguage } from "./texts.ts";

/** `secret` is the PIN or picture, for the teacher's list if it is not on the card. */
export type PrintedCard = {
  name: string | null;
  className: string | null;
  username: string;
  password: string | null;
  url: string | null;
  secret: string | null;
};

export type PrintJob = {
  language: CardLanguage;
  schoolName: string;
  signInAddress: string;
  printsSecret: boolean;
  /** A PNG image without transparency, or a JPEG. */
  logo: Buffer | null;
  /** The text to parents above each card, with placeholders. */
  letter: string | null;
  cards: readonly PrintedCard[];
  leftOut: readonly { name: string; className: string | null; reason: string }[];
};

/** Something at a place of a page. Units: points from the left and top edges. */
export type Part =
  | { kind: "text"; font: Font; size: number; x: number; y: number; text: string; isQuiet: boolean }
  | { kind: "qr"; x: number; y: number; size: number; url: string }
  | { kind: "logo"; x: number; y: number; width: number; height: number }
  | { kind: "cut"; x1: number; y1: number; x2: number; y2: number };

type Page = Part[];

export const pageSize = { width: 595.28, height: 841.89 };
const [columns, rows] = [2, 4];
const edge = 20;
/** Above the cards: the class, its school and the number of the page. */
const header = 24;
const top = edge + header;
const card = { width: (pageSize.width - 2 * edge) / columns, height: (pageSize.height - edge - top) / rows };
const padding = { x: 14, y: 11 };
const inner = { width: card.width - 2 * padding.x, height: card.height - 2 * padding.y };
const qrSize = 88;
const left = inner.width - qrSize - 10;
/** Below the QR code, or in its place. */
const logoBelow = { x: inner.width - qrSize, y: 122, width: qrSize, height: 34 };
const logoAlone = { x: inner.width - qrSize, y: 16, width: qrSize, height: qrSize };

const ofHeader = { originX: edge + padding.x, originY: edge, y: 4, width: pageSize.width - 2 * (edge + padding.x) };

const letterEdge = 57;
const letterCard = { x: (pageSize.width - card.width) / 2, y: pageSize.height - edge - card.height };
const letterWidth = pageSize.width - 2 * letterEdge;
const letterTop = 130;
const letterHeight = letterCard.y - letterEdge - letterTop - 20;

type Box = {
  x?: number;
  y: number;
  width?: number;
  height: number;
  size: number;
  font?: Font;
  isQuiet?: boolean;
};

/**
 * Lays out eight cards on a page, with cutting lines, class by class. Each page is made when it is read. `drawable`
 * returns a text with notes in place of what the font cannot draw; a name with a note has the username beside it.
 */
export function* layOutCards(
  job: PrintJob,
  measure: Record<Font, Measure>,
  drawable: (text: string, font: Font) => string,
): Generator<Page> {
  const place = (text: string, at: Box & { originX: number; originY: number }): Part[] => {
    const { x = 0, width = inner.width, font = "plain", isQuiet = false } = at;
    const { size, lines } = fitText(drawable(text, font), { width, height: at.height, size: at.size }, measure[font]);
    return lines.map((line, index) => ({
      kind: "text",
      font,
      size,
      text: line,
      isQuiet,
      x: at.originX + x,
      y: at.originY + at.y + index * size * lineHeight,
    }));
  };
  const layOutPage = (some: readonly PrintedCard[], title: string): Page => [
    ...place(title, { ...ofHeader, font: "bold", height: header - 6, size: 11 }),
    ...cutLines,
    ...some.flatMap((one, index) =>
      layOutAt(one, edge + (index % columns) * card.width, top + Math.floor(index / columns) * card.height),
    ),
  ];
  const layOutAt = (one: PrintedCard, x: number, y: number): Part[] => {
    const [originX, originY] = [x + padding.x, y + padding.y];
    const logo = one.url === null ? logoAlone : logoBelow;
    return layOutCard(job, one, (text, box) => place(text, { ...box, originX, originY })).concat(
      one.url === null
        ? []
        : [{ kind: "qr", x: originX + inner.width - qrSize, y: originY + 16, size: qrSize, url: one.url }],
      job.logo === null ? [] : [{ kind: "logo", ...logo, x: originX + logo.x, y: originY + logo.y }],
    );
  };
  const t = cardTexts(job.language);
  const layOutLetter = (text: string, one: PrintedCard): Page => {
    const at = { originX: letterEdge, originY: letterEdge, width: letterWidth };
    const ofClass = one.className === null ? "" : nameClass(t, one.className);
    const name = one.name ?? one.username;
    const values = { name, class: bareClass(one.className ?? "–"), school: job.schoolName, address: job.signInAddress };
    return [
      ...place(job.schoolName, { ...at, y: 0, height: 36, size: 14, font: "bold", width: letterWidth - qrSize - 10 }),
      ...place([t("toParents"), name, ofClass].join("\n"), { ...at, y: 54, height: 50, size: 11 }),
      ...place(fillLetter(text, { ...values, username: one.username }), {
        ...at,
        y: letterTop,
        height: letterHeight,
        size: 11,
      }),
      ...letterCuts,
      ...layOutAt(one, letterCard.x, letterCard.y),
      ...(job.logo === null ? [] : [letterLogo]),
    ];
  };
  const named = job.cards.map((one) => {
    const name = one.name && drawable(one.name, "plain");
    return name === one.name ? one : { ...one, name: `${name} (${one.username})` };
  });
  for (const [className, cards] of Map.groupBy(named, (one) => one.className)) {
    const pages = chunksOf(cards, columns * rows);
    const ofClass = className === null ? t("noClass") : nameClass(t, className);
    const title = [ofClass, t("count", { count: cards.length }), job.schoolName].join(" · ");
    if (job.letter !== null) for (const one of cards) yield layOutLetter(job.letter, one);
    else
      for (const [index, some] of pages.entries())
        yield layOutPage(
          some,
          pages.length === 1 ? title : `${title} · ${t("page", { page: index + 1, pages: pages.length })}`,
        );
    if (!job.printsSecret)
      yield* layOutList(place, {
        title: t("list"),
        lines: cards
          .filter(({ secret }) => secret !== null)
          .map((one) => [one.name ?? one.username, one.className ?? "", one.secret!]),
        font: "mono",
      });
  }
  yield* layOutList(place, {
    title: t("leftOut"),
    lines: job.leftOut.map(({ name, className: ofClass, reason }) => [name, ofClass ?? "", reason]),
    font: "plain",
  });
}

function layOutCard(
  { language, schoolName, signInAddress, printsSecret, logo }: PrintJob,
  { name, className, username, password, url, secret }: PrintedCard,
  put: (text: string, box: Box) => Part[],
): Part[] {
  const t = cardTexts(language);
  const width = url === null && logo === null ? inner.width : left;
  const label = (text: string, y: number) => put(text, { y, height: 10, size: 7, width, isQuiet: true });
  return [
    ...put(schoolName, { y: 0, height: 12, size: 9, isQuiet: true }),
    ...put(name ?? username, { y: 16, height: 38, size: 15, width, font: "bold" }),
    ...(className === null ? [] : put(nameClass(t, className), { y: 55, height: 13, size: 10, width })),
    ...label(t("username"), 72),
    ...put(username, { y: 81, height: 18, size: 12, width, font: "mono" }),
    ...(password === null ? [] : label(t("password"), 102)),
    ...(password === null ? [] : put(password, { y: 111, height: 19, size: 13, width, font: "mono" })),
    ...(url === null ? [] : put(t("scan"), { x: inner.width - qrSize, y: 107, height: 10, size: 7, width: qrSize })),
    ...(secret === null || !printsSecret ? [] : label(t("secret"), 133)),
    ...(secret === null || !printsSecret ? [] : put(secret, { y: 142, height: 15, size: 11, width, font: "mono" })),
    ...put(`${t("signIn")} ${signInAddress}`, { y: inner.height - 12, height: 12, size: 8 }),
  ];
}

const cutLines: Part[] = [
  ...Array.from({ length: columns + 1 }, (_, index): Part => {
    const x = edge + index * card.width;
    return { kind: "cut", x1: x, x2: x, y1: top, y2: pageSize.height };
  }),
  ...Array.from({ length: rows + 1 }, (_, index): Part => {
    const y = top + index * card.height;
    return { kind: "cut", x1: 0, x2: pageSize.width, y1: y, y2: y };
  }),
];

const letterLogo: Part = {
  kind: "logo",
  x: pageSize.width - letterEdge - qrSize,
  y: letterEdge - 12,
  width: qrSize,
  height: 60,
};

const letterCuts: Part[] = [
  { kind: "cut", x1: 0, x2: pageSize.width, y1: letterCard.y, y2: letterCard.y },
  ...[letterCard.x, letterCard.x + card.width].map((x): Part => ({
    kind: "cut",
    x1: x,
    x2: x,
    y1: letterCard.y,
    y2: pageSize.height,
  })),
];

const listEdge = 50;
const listRow = 24;

type Line = [name: string, className: string, last: string];

/** Lists people for the teacher, with the PIN of their card or the reason why they have no PIN. */
function* layOutList(
  place: (text: string, at: Box & { originX: number; originY: number }) => Part[],
  { title, lines, font }: { title: string; lines: readonly Line[]; font: Font },
): Generator<Page> {
  const onPage = Math.floor((pageSize.height - 3 * listEdge) / listRow);
  const width = pageSize.width - 2 * listEdge;
  for (const some of chunksOf(lines, onPage))
    yield [
      ...place(title, { originX: listEdge, originY: listEdge, y: 0, height: 20, size: 14, width, font: "bold" }),
      ...some.flatMap(([name, className, last], index) => {
        const at = { originX: listEdge, originY: listEdge + 40 + index * listRow, y: 0, height: 18, size: 11 };
        return [
          ...place(name, { ...at, width: width * 0.5 }),
          ...place(className, { ...at, x: width * 0.52, width: width * 0.12 }),
          ...place(last, { ...at, x: width * 0.66, width: width * 0.34, font }),
        ];
      }),
    ];
}

const chunksOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size));
