/**
 * Invisible characters that terminals, log viewers or browsers obey: controls, bidirectional and other format
 * characters, separators, lone surrogates, fillers. Excluded is what names need: the joiners of Persian and Indian
 * scripts, Japanese variation selectors, the grapheme joiner.
 */
const unprintable =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]--[\u034f\u200c\u200d\p{Variation_Selector}]]/v;
const everyUnprintable = new RegExp(unprintable, "gv");

export function findUnprintable(text: string): string | null {
  const codePoint = unprintable.exec(text)?.[0].codePointAt(0);
  return codePoint === undefined ? null : `U+${hex(codePoint).padStart(4, "0")}`;
}

export function escapeUnprintable(text: string): string {
  return unprintable.test(text) ? text.replace(everyUnprintable, escapeUnits) : text;
}

export const escapeLines = (text: string): string => text.split("\n").map(escapeUnprintable).join("\n");

const escapeUnits = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, index) => `\\u${hex(character.charCodeAt(index)).toLowerCase().padStart(4, "0")}`,
  ).join("");

const hex = (code: number): string => code.toString(16).toUpperCase();
