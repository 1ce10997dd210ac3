import { makeSortKey } from "../../src/directory/index.ts";

const calls =
  "Ada Bo Cem Dana Elif Finn Greta Hanno Ida Jonas Kaya Leon Mia Nils Ole Paula Änne Øyvind Łucja Zoë Ruben Selma Tarik Ulla Vito Wanda Yara Emil".split(
    " ",
  );
const lasts =
  "Muster Beispiel Müller Groß Öztürk Schmidt Nguyễn Zander Becker Wagner Hoffmann Koch Richter Klein Wolf Neumann Schwarz Braun Krüger Hofmann Lange Werner Krause Lehmann Köhler Maier Kaiser Fuchs Peters Lang Scholz Möller Weiß Jung Hahn Vogel Keller Günther Frank Berger Winkler Roth Beck Lorenz Baumann Albrecht".split(
    " ",
  );

const spelledAs: Record<string, string> = { ß: "ss", ø: "o", Ø: "o", ł: "l", Ł: "l" };
const plain = (name: string): string =>
  name
    .replace(/[ßøØłŁ]/g, (letter) => spelledAs[letter]!)
    .normalize("NFKD")
    .replace(/[^A-Za-z]/g, "")
    .toLowerCase();

/** First names with the one that a person is called by; every second person has two. */
export const firstNames = calls.flatMap((call, n) => [
  { whole: call, call, key: makeSortKey(call), plain: plain(call) },
  ...[1, 2, 3].map((step) => {
    const whole = `${call} ${calls[(n + step) % calls.length]!}`;
    return { whole, call, key: makeSortKey(whole), plain: plain(call) };
  }),
]);

export const lastNames = lasts
  .flatMap((name, n) => [name, name, `${name}-${lasts[(n + 7) % lasts.length]!}`])
  .map((name) => ({ name, key: makeSortKey(name), plain: plain(name) }));

/** The groups of every school: 24 classes, 12 courses and 4 others. */
export const groupNames = [
  ...[5, 6, 7, 8, 9, 10].flatMap((grade) => ["a", "b", "c", "d"].map((letter) => `${grade}${letter}`)),
  ...["Deutsch", "Mathematik", "Englisch", "Französisch", "Kunst", "Ethik"].flatMap((name) => [
    `${name} 1`,
    `${name} 2`,
  ]),
  ...["Chor", "Ruderriege", "Schülerzeitung", "Kollegium"],
].map((name, n) => ({ name, key: makeSortKey(name), type: n < 24 ? "KLASSE" : n < 36 ? "KURS" : "SONSTIG" }));
