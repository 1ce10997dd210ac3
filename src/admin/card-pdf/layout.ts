import { fitText, lineHeight, type Measure } from "./fit.ts";
import { cardWords, type CardLanguage } from "./texts.ts";

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
  cards: readonly PrintedCard[];
};

export type Font = "plain" | "bold" | "mono";

/** Something at a place of a page. Units: points from the left and top edges. */
export type Part =
  | { kind: "text"; font: Font; size: number; x: number; y: number; text: string; isQuiet: boolean }
  | { kind: "qr"; x: number; y: number; size: number; url: string }
  | { kind: "logo"; x: number; y: number; width: number; height: number }
  | { kind: "cut"; x1: number; y1: number; x2: number; y2: number };

export type Page = Part[];

export const pageSize = { width: 595.28, height: 841.89 };
const [columns, rows] = [2, 4];
const edge = 20;
const card = { width: (pageSize.width - 2 * edge) / columns, height: (pageSize.height - 2 * edge) / rows };
const padding = 14;
const inner = { width: card.width - 2 * padding, height: card.height - 2 * padding };
const qrSize = 88;
const left = inner.width - qrSize - 10;
/** Below the QR code, or in its place. */
const logoBelow = { x: inner.width - qrSize, y: 122, width: qrSize, height: 34 };
const logoAlone = { x: inner.width - qrSize, y: 16, width: qrSize, height: qrSize };

type Box = {
  x?: number;
  y: number;
  width?: number;
  height: number;
  size: number;
  font?: Font;
  isQuiet?: boolean;
};

/** Lays out eight cards on a page, with cutting lines. Each page is made when it is read. */
export function* layOutCards(job: PrintJob, measure: Record<Font, Measure>): Generator<Page> {
  const place = (text: string, at: Box & { originX: number; originY: number }): Part[] => {
    const { x = 0, width = inner.width, font = "plain", isQuiet = false } = at;
    const { size, lines } = fitText(text, { width, height: at.height, size: at.size }, measure[font]);
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
  const layOutPage = (some: readonly PrintedCard[]): Page => [
    ...cutLines,
    ...some.flatMap((one, index) => {
      const originX = edge + (index % columns) * card.width + padding;
      const originY = edge + Math.floor(index / columns) * card.height + padding;
      const logo = one.url === null ? logoAlone : logoBelow;
      return layOutCard(job, one, (text, box) => place(text, { ...box, originX, originY })).concat(
        one.url === null
          ? []
          : [{ kind: "qr", x: originX + inner.width - qrSize, y: originY + 16, size: qrSize, url: one.url }],
        job.logo === null ? [] : [{ kind: "logo", ...logo, x: originX + logo.x, y: originY + logo.y }],
      );
    }),
  ];
  for (const some of chunksOf(job.cards, columns * rows)) yield layOutPage(some);
  if (!job.printsSecret) yield* layOutList(job, place);
}

function layOutCard(
  { language, schoolName, signInAddress, printsSecret, logo }: PrintJob,
  { name, className, username, password, url, secret }: PrintedCard,
  put: (text: string, box: Box) => Part[],
): Part[] {
  const words = cardWords[language];
  const width = url === null && logo === null ? inner.width : left;
  const label = (text: string, y: number) => put(text, { y, height: 10, size: 7, width, isQuiet: true });
  return [
    ...put(schoolName, { y: 0, height: 12, size: 9, isQuiet: true }),
    ...put(name ?? username, { y: 16, height: 38, size: 15, width, font: "bold" }),
    ...(className === null ? [] : put(`${words.class} ${className}`, { y: 55, height: 13, size: 10, width })),
    ...label(words.username, 72),
    ...put(username, { y: 81, height: 18, size: 12, width, font: "mono" }),
    ...(password === null ? [] : label(words.password, 102)),
    ...(password === null ? [] : put(password, { y: 111, height: 19, size: 13, width, font: "mono" })),
    ...(url === null ? [] : put(words.scan, { x: inner.width - qrSize, y: 107, height: 10, size: 7, width: qrSize })),
    ...(secret === null || !printsSecret ? [] : label(words.secret, 133)),
    ...(secret === null || !printsSecret ? [] : put(secret, { y: 142, height: 15, size: 11, width, font: "mono" })),
    ...put(`${words.signIn} ${signInAddress}`, { y: inner.height - 12, height: 12, size: 8 }),
  ];
}

const cutLines: Part[] = [
  ...Array.from({ length: columns + 1 }, (_, index): Part => {
    const x = edge + index * card.width;
    return { kind: "cut", x1: x, x2: x, y1: 0, y2: pageSize.height };
  }),
  ...Array.from({ length: rows + 1 }, (_, index): Part => {
    const y = edge + index * card.height;
    return { kind: "cut", x1: 0, x2: pageSize.width, y1: y, y2: y };
  }),
];

const listEdge = 50;
const listRow = 24;

/** Lists PINs and pictures separately, for the teacher. */
function layOutList(
  { language, cards }: PrintJob,
  place: (text: string, at: Box & { originX: number; originY: number }) => Part[],
): Page[] {
  const secrets = cards.filter(({ secret }) => secret !== null);
  const onPage = Math.floor((pageSize.height - 3 * listEdge) / listRow);
  const width = pageSize.width - 2 * listEdge;
  return chunksOf(secrets, onPage).map((some) => [
    ...place(cardWords[language].list, {
      originX: listEdge,
      originY: listEdge,
      y: 0,
      height: 20,
      size: 14,
      width,
      font: "bold",
    }),
    ...some.flatMap(({ name, username, className, secret }, index) => {
      const at = { originX: listEdge, originY: listEdge + 40 + index * listRow, y: 0, height: 18, size: 11 };
      return [
        ...place(name ?? username, { ...at, width: width * 0.6 }),
        ...place(className ?? "", { ...at, x: width * 0.62, width: width * 0.16 }),
        ...place(secret!, { ...at, x: width * 0.8, width: width * 0.2, font: "mono" }),
      ];
    }),
  ]);
}

const chunksOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size));
