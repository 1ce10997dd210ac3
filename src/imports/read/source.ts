import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Readable } from "node:stream";

export type SourceFile = { name: string; size: number; open(): Promise<Readable> };

export type FileKind = "zip" | "json" | "csv";

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

async function findKind(path: string): Promise<FileKind> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(512), 0, 512, 0);
    const start = buffer.subarray(0, bytesRead);
    if (start.subarray(0, 2).toString("latin1") === "PK") return "zip";
    return /^(\xef\xbb\xbf|\xff\xfe)?[\s\0]*[[{]/.test(start.toString("latin1")) ? "json" : "csv";
  } finally {
    await handle.close();
  }
}
