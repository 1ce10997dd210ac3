import { AppError } from "../../platform/errors.ts";
import { findWideEncoding, type SourceFile } from "./source.ts";

export type Encoding =
  "utf-8" | "damaged utf-8" | "utf-16le" | "utf-16be" | "windows-1252" | "iso-8859-15" | "macintosh" | "ibm850";

/**
 * Decodes a file: UTF-16 by its first bytes, else UTF-8, else an encoding of one byte by its letters. If the first
 * non-ASCII character is UTF-8, later invalid bytes become `lostByte` (a fault in a value) instead. Reads the file
 * twice, unless its encoding was chosen; `onBytes` counts both. The character 0x1A ends a file of DOS.
 *
 * Errors: invalid file_damaged.
 */
export async function* readText(file: SourceFile, onBytes: (bytes: number) => void): AsyncGenerator<string> {
  const encoding = file.encoding ?? (await findEncoding(file, onBytes)).encoding;
  const isDamaged = encoding === "damaged utf-8";
  const decode = makeDecoder(isDamaged ? "utf-8" : encoding);
  const mark = (text: string): string => (isDamaged ? text.replaceAll("\ufffd", lostByte) : text);
  let end = "";
  for await (const bytes of readBytes(file, onBytes)) {
    const text = end + mark(decode(bytes));
    end = /\x1a[\x1a\0\s]*$/.exec(text)?.[0] ?? "";
    yield text.slice(0, text.length - end.length);
  }
  yield mark(decode());
}

const ibm850 =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0";

/** Decodes piece by piece; without bytes, returns the rest. */
function makeDecoder(encoding: Exclude<Encoding, "damaged utf-8">): (bytes?: Buffer) => string {
  if (encoding === "ibm850")
    return (bytes) =>
      (bytes?.toString("latin1") ?? "").replace(/[\x80-\xff]/g, (sign) => ibm850[sign.charCodeAt(0) - 128]!);
  const decoder = new TextDecoder(encoding);
  return (bytes) => (bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true }));
}

/** A copy of a part of a file, for what is kept: a part of a string keeps all of that string in memory. */
export const detachText = (part: string): string => Buffer.from(part, "utf16le").toString("utf16le");

/** Stands for bytes that cannot be read, unlike U+FFFD, which another program may have written. */
export const lostByte = "\uffff";

/** An encoding that the letters allow, with the first words that it makes of them. */
export type PossibleEncoding = { encoding: Encoding; samples: string[] };
export type FoundEncoding = { encoding: Encoding; possible: PossibleEncoding[] };

const mostWords = 2000;

/** `possible` has several if the letters do not decide. */
export async function findEncoding(file: SourceFile, onBytes: (bytes: number) => void = () => undefined) {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const words = new Set<string>();
  let isUtf8 = false;
  let isOneByte = false;
  let before: Buffer = Buffer.alloc(0);
  for await (const bytes of readBytes(file, onBytes)) {
    const wide = before.length === 0 ? findWideEncoding(bytes) : undefined;
    if (wide !== undefined) return certain(wide);
    const text = isOneByte ? null : decode(() => strict.decode(bytes, { stream: true }));
    if (text === null) {
      const last = Buffer.concat([before.subarray(-3), bytes]);
      if (!isOneByte && (isUtf8 || beginsAsUtf8(last))) return certain("damaged utf-8");
      isOneByte = true;
      for (const [word] of last.toString("latin1").matchAll(/[a-z\x80-\xff]{1,100}/gi))
        if (words.size < mostWords && /[\x80-\xff]/.test(word)) words.add(word);
    } else isUtf8 ||= beyondAscii.test(text);
    before = bytes;
  }
  if (!isOneByte && (isUtf8 || decode(() => strict.decode()) !== null)) return certain("utf-8");
  return chooseEncoding([...words]);
}

const certain = (encoding: Encoding): FoundEncoding => ({ encoding, possible: [] });

/** By the letters; without any reason, Windows-1252. */
function chooseEncoding(words: readonly string[]): FoundEncoding {
  const text = words.join(" ");
  const isLatin9 = !/[\x80-\x9f]/.test(text) && latin9Letters.test(text);
  const candidates = (["ibm850", "macintosh", isLatin9 ? "iso-8859-15" : "windows-1252"] as const)
    .map((encoding) => {
      const read = makeDecoder(encoding)(Buffer.from(text, "latin1")).split(" ");
      const scores = read.flatMap(scoreLetters);
      const wrong = scores.filter((score) => score < 0).length;
      const usual = encoding === "windows-1252" || encoding === "iso-8859-15" ? 3 : 0;
      const score = scores.reduce((sum, one) => sum + one, usual);
      return { encoding, score, isPossible: 4 * wrong < scores.length, samples: read.slice(0, 3) };
    })
    .toSorted((a, b) => b.score - a.score);
  const possible = candidates.filter(({ isPossible }, index) => index === 0 || isPossible);
  const { encoding } = candidates[0]!;
  return possible.length < 2
    ? certain(encoding)
    : { encoding, possible: possible.map(({ encoding: one, samples }) => ({ encoding: one, samples })) };
}

/** How likely the letters beyond ASCII of a word are in a German list of names. */
function scoreLetters(word: string): number[] {
  const signs = Array.from(word);
  if (!signs.some((sign) => /\p{L}/u.test(sign))) return [];
  return signs.flatMap((sign, index) => {
    const [last = "", next = ""] = [signs[index - 1], signs[index + 1]];
    if (!beyondAscii.test(sign) || /[´‘’`–]/.test(sign)) return [];
    const isUpper = /\p{Lu}/u.test(sign);
    const isOddCase = (isUpper && last !== "" && /[a-z]/.test(word)) || (!isUpper && /\p{Lu}/u.test(next));
    const isEszett = sign === "ß" && !/[aeiouyäöü]/i.test(last);
    if (!/[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]/.test(sign) || isOddCase || isEszett) return [-3];
    if (last === "" && /\p{Ll}/u.test(sign)) return [-1];
    return [/[äöüß]/i.test(sign) ? 3 : 1];
  });
}

/** Š š ž Œ œ Ÿ beside a letter, or Ž at the start of a word; in Windows-1252 these are signs such as ¦ ¨ ½ ´. */
const latin9Letters = /[a-z][\xa6\xa8\xb8\xbc\xbd\xbe]|[\xa6\xa8\xb8\xbc\xbd\xbe][a-z]|(^|[^a-z])\xb4[a-z]/i;

const beyondAscii = /[^\u0000-\u007f]/;

/** Whether the first non-ASCII character is UTF-8; false if the bytes begin within one. */
const beginsAsUtf8 = (bytes: Buffer): boolean => {
  const first = beyondAscii.exec(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes))?.[0];
  return first !== undefined && first !== "\ufffd";
};

async function* readBytes(file: SourceFile, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
  const stream = await file.open();
  try {
    for await (const bytes of stream) {
      onBytes((bytes as Buffer).length);
      yield bytes as Buffer;
    }
  } catch (cause) {
    throw new AppError("invalid", "file_damaged", `${file.name} cannot be read to its end.`, undefined, { cause });
  }
}

function decode(work: () => string): string | null {
  try {
    return work();
  } catch {
    return null;
  }
}
