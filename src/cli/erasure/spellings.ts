/** The ways in which a value may be written, as sources of regular expressions. */
export type Spellings = {
  /** On text, with the flags iu. */
  text: string;
  /** On bytes read as Latin-1, with the flag i: UTF-8, Latin-1, escapes and hexadecimal digits. */
  bytes: string;
};

// Sources: DIN 5007; what German registers, user names and sort keys make of other letters.
const spelledAs: Readonly<Record<string, readonly string[]>> = {
  ä: ["ae", "a"],
  ö: ["oe", "o"],
  ü: ["ue", "u"],
  ß: ["ss"],
  æ: ["ae"],
  œ: ["oe"],
  ø: ["oe", "o"],
  å: ["aa", "a"],
  ł: ["l"],
  đ: ["d"],
};
const pairs: Readonly<Record<string, string>> = { ae: "ä", oe: "ö", ue: "ü", ss: "ß" };

const anyOf = (sources: readonly string[]): string => `(?:${[...new Set(sources)].join("|")})`;
const escape = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
const isAscii = (text: string): boolean => /^\p{ASCII}*$/u.test(text);

const hexOf = (bytes: Uint8Array): string =>
  [...bytes]
    .map((byte) => {
      const [high, low] = [byte >> 4, byte & 15].map((digit) => digit.toString(16)) as [string, string];
      const isLetter = (byte | 32) >= 0x61 && (byte | 32) <= 0x7a;
      return `${isLetter ? `[${(byte >> 4) & 13}${(byte >> 4) | 2}]` : high}${low}`;
    })
    .join("");
const latin1Source = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
const isLatin1 = (text: string): boolean => /^[\u0000-\u00ff]*$/.test(text);

/** Escapes of JSON, of addresses and of nginx for text that is not ASCII; backslashes may be doubled. */
const escapesOf = (text: string): string[] => [
  [...Array(text.length).keys()].map((at) => `\\\\+u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  ...["%", "\\\\+x"].map((sign) => [...Buffer.from(text)].map((byte) => `${sign}${byte.toString(16)}`).join("")),
];

const variantsOf = (text: string): string[] => {
  const cases = [text.toLowerCase(), text.toUpperCase()];
  return [...new Set([...cases, ...cases.map((variant) => variant.normalize("NFD"))])];
};

/** One letter, or several that may be written as one: each of `texts` in every encoding. */
function lettersOf(texts: readonly string[]): Spellings {
  const variants = texts.flatMap(variantsOf);
  const escapes = variants.filter((text) => !isAscii(text)).flatMap(escapesOf);
  const encoded = variants.flatMap((text) => [
    Buffer.from(text),
    ...(isLatin1(text) ? [Buffer.from(text, "latin1")] : []),
  ]);
  return {
    text: anyOf([...variants.map(escape), ...escapes]),
    bytes: anyOf([...encoded.map(latin1Source), ...escapes, ...encoded.map(hexOf)]),
  };
}

/** Between the words of a name: spaces, hyphens and what addresses, sort keys and tables write for them. */
const gap: Spellings = {
  text: "(?:[\\s_.,+'’-]|%20|\\\\+[nrt]|#\\d)+",
  bytes: "(?:[\\s_.,+'-]|\\xe2\\x80\\x99|%20|\\\\+[nrt]|#\\d|20|2[cde7]|5f|09|e28099)+",
};

const joined = (parts: readonly Spellings[]): Spellings => ({
  text: parts.map(({ text }) => text).join(""),
  bytes: parts.map(({ bytes }) => bytes).join(""),
});

/** Matches a name in all German spellings (ß or ss; ü, ue or u), in any case, with any text between its words. */
export function spellName(name: string): Spellings {
  const text = name.normalize("NFC").toLowerCase();
  const parts: Spellings[] = [];
  for (let at = 0; at < text.length;) {
    const pair = text.slice(at, at + 2);
    const [letter] = text.slice(at) as unknown as [string];
    const separators = /^[\s_.,'’-]+/.exec(text.slice(at))?.[0];
    if (separators !== undefined) parts.push(gap);
    else if (Object.hasOwn(pairs, pair)) parts.push(lettersOf([pair, pairs[pair]!]));
    else {
      const plain = letter.normalize("NFD").replaceAll(/\p{M}/gu, "");
      parts.push(lettersOf([letter, ...(spelledAs[letter] ?? []), plain]));
    }
    at += separators?.length ?? (Object.hasOwn(pairs, pair) ? 2 : letter.length);
  }
  return joined(parts);
}

/** Exactly these characters without case, also where an address escapes them. */
export const spellExactly = (value: string): Spellings =>
  joined(
    Array.from(value.normalize("NFC"), (letter) => {
      const { text, bytes } = lettersOf([letter]);
      const escaped = isAscii(letter) && !/\w/.test(letter) ? [encodeByte(letter)] : [];
      return { text: anyOf([text, ...escaped]), bytes: anyOf([bytes, ...escaped]) };
    }),
  );
const encodeByte = (letter: string): string => `%${letter.charCodeAt(0).toString(16).padStart(2, "0")}`;

/** A UUID with and without hyphens; without them it is its 16 bytes in hexadecimal digits too. */
export function spellId(id: string): Spellings {
  const parts = id.toLowerCase().split("-");
  const hex = parts.map((part) => hexOf(Buffer.from(part))).join("(?:2d)?");
  return { text: parts.join("-?"), bytes: anyOf([parts.join("-?"), hex]) };
}

const inBothAlphabets = (text: string): string => text.replaceAll("+", "[+-]").replaceAll("/", "[/_]");
const shortestBase64 = 8;

/** How base64 and base64url write the bytes, wherever they begin; empty for a value that is too short. */
export function base64Forms(bytes: Uint8Array): string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const core = text.slice([0, 2, 3][before], Math.floor(((before + bytes.length) * 8) / 6));
    return core.length >= shortestBase64 ? [inBothAlphabets(core)] : [];
  });
}
