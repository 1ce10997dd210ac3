import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { finished } from "node:stream/promises";
import type { ImportFormat } from "../../imports/index.ts";
import { SourceError } from "./failure.ts";
import type { SourceTools } from "./source.ts";

const startBytes = 512;
/** The end of an archive: its last record, and a comment of at most 64 KiB. */
const endBytes = 22 + 65_535;

async function readEnds(path: string): Promise<{ start: string; end: string; size: number }> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const part = async (from: number, length: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, Math.max(0, from));
      return buffer.subarray(0, bytesRead).toString("latin1");
    };
    return { start: await part(0, startBytes), end: await part(size - endBytes, endBytes), size };
  } finally {
    await file.close();
  }
}

const isJson = /^(\xef\xbb\xbf)?\s*[[{]/;

/** The format that the file seems to have; the import decides. */
export async function describeFile(path: string): Promise<{ format: ImportFormat }> {
  const { start } = await readEnds(path);
  return { format: start.startsWith("PK") ? "ONEROSTER" : isJson.test(start) ? "SCHULCONNEX" : "PLAIN" };
}

/** Errors: SourceError HALF for an archive or JSON without its end, EMPTY for a file without content. */
export async function refuseHalf(path: string): Promise<void> {
  const { start, end, size } = await readEnds(path);
  if (size === 0 || /^(\xef\xbb\xbf)?\s*$/.test(start)) throw new SourceError("EMPTY", "the file has no content");
  const isCut = start.startsWith("PK")
    ? !end.includes("PK\x05\x06")
    : /^(\xef\xbb\xbf)?\s*\[\s*([{\]"]|$)/.test(start) && !/[\]]\s*$/.test(end);
  if (isCut) throw new SourceError("HALF", "the end of the file is missing");
}

export type NewFile = ReturnType<typeof createFile>;

/** Makes a file that is written piece by piece, at the speed of the disk; its errors are thrown at the next piece. */
export function createFile({ makeFile, signal }: Pick<SourceTools, "makeFile" | "signal">) {
  const path = makeFile();
  const stream = createWriteStream(path, { flags: "wx", mode: 0o600 }).on("error", () => undefined);
  return {
    path,
    async write(text: string): Promise<void> {
      if (stream.errored !== null) throw stream.errored;
      if (!stream.write(text)) await once(stream, "drain", { signal });
    },
    async end(text = ""): Promise<void> {
      stream.end(text);
      await finished(stream);
    },
  };
}
