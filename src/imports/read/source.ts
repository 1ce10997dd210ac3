import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { findKind, type FileKind } from "./file-kind.ts";

export type SourceFile = { name: string; size: number; open(): Promise<Readable> };

/** Errors: those of `findKind`. */
export async function openSourceFile(path: string, name = basename(path)): Promise<SourceFile & { kind: FileKind }> {
  const { size } = await stat(path);
  return {
    name,
    size,
    kind: await findKind(path),
    open: async () => createReadStream(path, { highWaterMark: chunkBytes }),
  };
}

const chunkBytes = 64 * 1024;
