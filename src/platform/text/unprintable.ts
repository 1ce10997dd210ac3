/**
 * Characters that a reader does not see but a terminal, a log viewer or a browser obeys: controls, bidirectional and
 * other format characters, line and paragraph separators, halves of surrogate pairs, fillers, and the unassigned
 * places that Unicode keeps for more of them. Left out is what names are spelled with: the joiners of Persian and of
 * Indian scripts, the variation selectors of Japanese, the grapheme joiner.
 */
const unprintable =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]--[\u034f\u200c\u200d\p{Variation_Selector}]]/v;
const everyUnprintable = new RegExp(unprintable, "gv");

/** The first such character, as U+202E; null where the text has none. */
export function findUnprintable(text: string): string | null {
  const found = unprintable.exec(text)?.[0].codePointAt(0);
  return found === undefined ? null : `U+${hex(found).padStart(4, "0")}`;
}

/** Writes such characters as a JavaScript string does, so that they can be read and do nothing. JSON stays JSON. */
export function escapeUnprintable(text: string): string {
  return unprintable.test(text) ? text.replace(everyUnprintable, escapeUnits) : text;
}

/** As `escapeUnprintable`, for a text of several lines: line feeds stay. */
export const escapeLines = (text: string): string => text.split("\n").map(escapeUnprintable).join("\n");

const escapeUnits = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, index) => `\\u${hex(character.charCodeAt(index)).toLowerCase().padStart(4, "0")}`,
  ).join("");

const hex = (code: number): string => code.toString(16).toUpperCase();
