import { AppError } from "../../platform/errors.ts";
import { findWideEncoding } from "./file-kind.ts";
import type { SourceFile } from "./source.ts";

export type Encoding = "utf-8" | "damaged utf-8" | "utf-16le" | "utf-16be" | "windows-1252" | "iso-8859-15";

/**
 * Decodes a file: UTF-16 by its first bytes, else UTF-8, else ISO 8859-15 or Windows-1252 by the letters. If the first
 * non-ASCII character is UTF-8, later invalid bytes become `lostByte` (a fault in a value) instead. Reads the file
 * twice, unless its encoding was chosen; `onBytes` counts both.
 *
 * Errors: invalid file_damaged.
 */
export async function* readText(file: SourceFile, onBytes: (bytes: number) => void): AsyncGenerator<string> {
  const encoding = file.encoding ?? (await findEncoding(file, onBytes));
  const isDamaged = encoding === "damaged utf-8";
  const decoder = new TextDecoder(isDamaged ? "utf-8" : encoding);
  const mark = (text: string): string => (isDamaged ? text.replaceAll("\ufffd", lostByte) : text);
  for await (const bytes of readBytes(file, onBytes)) yield mark(decoder.decode(bytes, { stream: true }));
  yield mark(decoder.decode());
}

/** A copy of a part of a file, for what is kept: a part of a string keeps all of that string in memory. */
export const detachText = (part: string): string => Buffer.from(part, "utf16le").toString("utf16le");

/** Stands for bytes that cannot be read, unlike U+FFFD, which another program may have written. */
export const lostByte = "\uffff";

export async function findEncoding(
  file: SourceFile,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<Encoding> {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let isUtf8 = false;
  let oneByte: Encoding | undefined;
  let before: Buffer = Buffer.alloc(0);
  for await (const bytes of readBytes(file, onBytes)) {
    const wide = before.length === 0 ? findWideEncoding(bytes) : undefined;
    if (wide !== undefined) return wide;
    const text = oneByte === undefined ? decode(() => strict.decode(bytes, { stream: true })) : null;
    if (text === null) {
      const last = Buffer.concat([before.subarray(-3), bytes]);
      if (oneByte === undefined && (isUtf8 || beginsAsUtf8(last))) return "damaged utf-8";
      const letters = last.toString("latin1");
      // Only Windows-1252 has characters here.
      if (/[\x80-\x9f]/.test(letters)) return "windows-1252";
      oneByte = latin9Letters.test(letters) ? "iso-8859-15" : (oneByte ?? "windows-1252");
    } else isUtf8 ||= beyondAscii.test(text);
    before = bytes;
  }
  if (oneByte !== undefined) return oneByte;
  return isUtf8 || decode(() => strict.decode()) !== null ? "utf-8" : "windows-1252";
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
