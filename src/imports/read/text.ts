import { AppError } from "../../platform/errors.ts";
import type { SourceFile } from "./source.ts";

export type Encoding = "utf-8" | "utf-16le" | "windows-1252";

/**
 * Reads a file as text in pieces. What is not UTF-8 from end to end is Windows-1252, as older school programs write it;
 * UTF-16 is believed when it says so. A byte order mark is dropped.
 *
 * Shape:  the file is read twice, first for its encoding; `onBytes` is told of both.
 * Errors: invalid when the file cannot be unpacked.
 */
export async function* readText(file: SourceFile, onBytes: (bytes: number) => void): AsyncGenerator<string> {
  const decoder = new TextDecoder(await findEncoding(file, onBytes));
  for await (const bytes of readBytes(file, onBytes)) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}

export async function findEncoding(file: SourceFile, onBytes: (bytes: number) => void = () => undefined): Promise<Encoding> {
  const strict = new TextDecoder("utf-8", { fatal: true });
  let encoding: Encoding | undefined;
  for await (const bytes of readBytes(file, onBytes)) {
    if (encoding === undefined && bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
    encoding = "utf-8";
    if (!decodes(() => strict.decode(bytes, { stream: true }))) return "windows-1252";
  }
  return decodes(() => strict.decode()) ? "utf-8" : "windows-1252";
}

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

function decodes(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
