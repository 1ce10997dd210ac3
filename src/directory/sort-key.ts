const punctuation = " _-‐‑–—,;:!¡?¿.…·'\"“”„«»()[]{}§@*/\\&#%`^°©®+<=>|~$";
const sameAs: Record<string, string> = { "’": "'", "‘": "'", "‚": "'" };

/** Letters that Unicode does not decompose; U+035C joins two letters. */
const spelledAs: Record<string, string> = {
  ß: "s\u035cs",
  æ: "a\u035ce",
  œ: "o\u035ce",
  ð: "d\u035c",
  ø: "o\u0338",
  ł: "l\u0335",
  đ: "d\u0335",
  ħ: "h\u0335",
};

const ownPlace: Record<string, string> = { ı: "i~", ŋ: "n~", ŧ: "t~", ə: "e~", ĸ: "q~", þ: "z~" };

const accents =
  "\u0301\u0300\u0306\u0302\u030c\u030a\u0308\u030b\u0303\u0307\u0338\u0327\u0328\u0304\u0335\u0309\u035c";

/**
 * A text whose bytes sort in German dictionary order: letters decide first, then accents, then case (small letters
 * first). Punctuation sorts before digits, digits before letters, letters before other scripts.
 *
 * Source: DIN 5007-1; beyond it, the Unicode collation algorithm.
 */
export function makeSortKey(text: string): string {
  let primary = "";
  let secondary = "";
  let tertiary = "";
  for (const character of text.normalize("NFKD")) {
    const small = character.toLowerCase();
    for (const part of spelledAs[small] ?? small) {
      if (/\p{M}/u.test(part)) {
        secondary += accentWeight(part);
        continue;
      }
      primary += primaryWeight(part);
      secondary += "0";
      tertiary += small === character ? "0" : "1";
    }
  }
  return [primary, secondary.replace(/0+$/, ""), tertiary.replace(/0+$/, "")].join(" ");
}

export function makePersonSortKey(name: { last: string; firstFull: string } | null): string {
  return name === null ? "~" : `${makeSortKey(name.last)} ${makeSortKey(name.firstFull)}`;
}

function primaryWeight(character: string): string {
  if (/[a-z0-9]/.test(character)) return character;
  const sign = punctuation.indexOf(sameAs[character] ?? character);
  if (sign >= 0) return "#" + String.fromCharCode(0x30 + sign);
  return ownPlace[character] ?? "{" + character.codePointAt(0)!.toString(16).padStart(6, "0");
}

function accentWeight(mark: string): string {
  const rank = accents.indexOf(mark);
  return rank >= 0 ? String.fromCharCode(0x41 + rank) : "{" + mark.codePointAt(0)!.toString(16).padStart(4, "0");
}
