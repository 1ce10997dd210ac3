import { AppError } from "../../platform/errors.ts";
import type { SourceFile } from "./source.ts";

export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";

/**
 * Decodes a file: UTF-16 by its byte order mark, else UTF-8, else Windows-1252. If the first non-ASCII character is
 * UTF-8, later invalid bytes become U+FFFD (a fault in a value) instead. Reads the file twice; `onBytes` counts both.
 *
 * Errors: invalid file_damaged.
 */
export async function* readText(file: SourceFile, onBytes: (bytes: number) => void): AsyncGenerator<string> {
  const decoder = new TextDecoder(await findEncoding(file, onBytes));
  for await (const bytes of readBytes(file, onBytes)) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}

export async function findEncoding(
  file: SourceFile,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<Encoding> {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let isUtf8 = false;
  let before: Buffer = Buffer.alloc(0);
  for await (const bytes of readBytes(file, onBytes)) {
    if (before.length === 0 && bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
    if (before.length === 0 && bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
    const text = decode(() => strict.decode(bytes, { stream: true }));
    if (text === null)
      return isUtf8 || beginsAsUtf8(Buffer.concat([before.subarray(-3), bytes])) ? "utf-8" : "windows-1252";
    isUtf8 ||= beyondAscii.test(text);
    before = bytes;
  }
  return isUtf8 || decode(() => strict.decode()) !== null ? "utf-8" : "windows-1252";
}

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
