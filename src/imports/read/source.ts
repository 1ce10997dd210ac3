import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import type { Separator } from "./csv.ts";
import { findKind, type FileKind } from "./file-kind.ts";
import type { Encoding } from "./text.ts";

/** How the bytes of a table are read where somebody chose it; otherwise it is found. */
export type Reading = { encoding?: Encoding | undefined; separator?: Separator | undefined };

export type SourceFile = Reading & { name: string; size: number; open(): Promise<Readable> };

/** Errors: those of `findKind`. */
export async function openSourceFile(
  path: string,
  name = basename(path),
  { encoding, separator }: Reading = {},
): Promise<SourceFile & { kind: FileKind }> {
  const { size } = await stat(path);
  return {
    name,
    size,
    encoding,
    separator,
    kind: await findKind(path),
    open: async () => createReadStream(path, { highWaterMark: chunkBytes }),
  };
}

const chunkBytes = 64 * 1024;
