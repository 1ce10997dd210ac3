import { Readable } from "node:stream";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { open as openZip, type Entry, type ZipFile } from "yauzl";
import { AppError } from "../../platform/errors.ts";
import type { SourceFile } from "./source.ts";

/** Files by lower-case name. */
export type Archive = { files: ReadonlyMap<string, SourceFile>; close(): void };

/** Nothing is unpacked. Errors: invalid archive_refused. */
async function openWith(
  path: string,
  choose: (zip: ZipFile, entries: readonly Entry[]) => Map<string, SourceFile>,
): Promise<Archive> {
  const opening = promisify<string, object, ZipFile>(openZip)(path, { lazyEntries: true, autoClose: false });
  const zip = await opening.catch((cause: unknown) => {
    throw refuse("The file cannot be read as a zip archive.", cause);
  });
  try {
    return { files: choose(zip, await listEntries(zip)), close: () => zip.close() };
  } catch (error) {
    zip.close();
    throw error;
  }
}

const toFile = (zip: ZipFile, entry: Entry, name: string): [string, SourceFile] => [
  name,
  { name, size: entry.uncompressedSize, open: () => openEntry(zip, entry) },
];

/** The parts of an archive by path, in lower case. */
export const openParts = (path: string): Promise<Archive> =>
  openWith(path, (zip, all) => new Map(all.map((entry) => toFile(zip, entry, entry.fileName.toLowerCase()))));

/** The CSV files of an archive by name. Refused too if encrypted, duplicate or suspiciously large. */
export const openArchive = (path: string): Promise<Archive> => openWith(path, toFiles);

const maxBytes = 4 * 2 ** 30;
/** CSV compresses about tenfold; zip bombs a thousandfold. */
const maxRatio = { from: 64 * 2 ** 20, times: 100 };
const maxEntries = 1000;

function listEntries(zip: ZipFile): Promise<Entry[]> {
  return new Promise((resolve, reject) => {
    const entries: Entry[] = [];
    zip.on("entry", (entry: Entry) => {
      entries.push(entry);
      if (entries.length > maxEntries) reject(refuse("The zip archive holds too many files."));
      else zip.readEntry();
    });
    zip.once("end", () => resolve(entries));
    zip.once("error", (cause) => reject(refuse("The zip archive is damaged.", cause)));
    zip.readEntry();
  });
}

function toFiles(zip: ZipFile, entries: readonly Entry[]): Map<string, SourceFile> {
  const files = new Map<string, SourceFile>();
  for (const entry of entries) {
    const name = entry.fileName.split("/").at(-1)!.toLowerCase();
    if (!name.endsWith(".csv") || entry.fileName.startsWith("__MACOSX/")) continue;
    if (entry.isEncrypted()) throw refuse("The zip archive is encrypted.");
    if (files.has(name)) throw refuse(`The zip archive holds ${name} twice.`);
    if (entry.uncompressedSize > maxRatio.from && entry.uncompressedSize > maxRatio.times * entry.compressedSize) {
      throw refuse(`The zip archive claims to unpack ${name} to more than ${maxRatio.times} times its size.`);
    }
    files.set(...toFile(zip, entry, name));
  }
  if ([...files.values()].reduce((sum, { size }) => sum + size, 0) > maxBytes)
    throw refuse("The zip archive unpacks to more than 4 GiB.");
  return files;
}

function openEntry(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (cause: Error | null, stream) =>
      cause === null
        ? resolve(Readable.from(checkSum(stream, entry), { objectMode: false }))
        : reject(refuse("The zip archive is damaged.", cause)),
    );
  });
}

/** yauzl compares the size only. */
async function* checkSum(stream: Readable, entry: Entry): AsyncGenerator<Buffer> {
  let sum = 0;
  for await (const bytes of stream as AsyncIterable<Buffer>) {
    sum = crc32(bytes, sum);
    yield bytes;
  }
  if (sum !== entry.crc32) throw new Error(`${entry.fileName} has another checksum than the archive says.`);
}

const refuse = (message: string, cause?: unknown) =>
  new AppError("invalid", "archive_refused", message, undefined, { cause });
