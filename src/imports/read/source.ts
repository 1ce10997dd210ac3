import { createReadStream } from "node:fs";
import { stat, open, type FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import type { Separator } from "./csv.ts";
import type { Encoding } from "./text.ts";
import { text as readAll } from "node:stream/consumers";
import { AppError } from "../../platform/errors.ts";
import { refuseWorkbook } from "./workbook.ts";
import { openParts } from "./zip.ts";

/** How the bytes of a table are read where somebody chose it; otherwise it is found. */
export type TableEncoding = { encoding?: Encoding | undefined; separator?: Separator | undefined };

export type SourceFile = TableEncoding & { name: string; size: number; open(): Promise<Readable> };

/** Errors: those of `findKind`. */
export async function openSourceFile(
  path: string,
  name = basename(path),
  { encoding, separator }: TableEncoding = {},
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

export type FileKind = "zip" | "xlsx" | "json" | "csv";

const startBytes = 4096;

/** Tells the kind of a file by its first bytes. Errors: invalid file_*, if no roster begins like this. */
export async function findKind(path: string): Promise<FileKind> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(startBytes), 0, startBytes, 0);
    const start = buffer.subarray(0, bytesRead);
    const bytes = start.toString("latin1");
    const text = new TextDecoder(findWideEncoding(start) ?? "latin1")
      .decode(start)
      .replace(/^(\ufeff|\xef\xbb\xbf)?\s*/, "");
    if (bytesRead === 0) throw refuse("file_empty");
    if (/^PK(\x03\x04|\x05\x06|\x07\x08)/.test(bytes)) return await findZipKind(path, bytes);
    if (bytes.startsWith("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")) throw refuse(await findOleKind(handle, start));
    const known = signatures.find(([pattern]) => pattern.test(bytes)) ?? texts.find(([pattern]) => pattern.test(text));
    if (known !== undefined) throw refuse(known[1]);
    if (isBinary(start)) throw refuse("file_is_binary");
    return isJson.test(text) ? "json" : "csv";
  } finally {
    await handle.close();
  }
}

const messages = {
  file_empty: "The file is empty.",
  file_is_picture: "The file is a picture or a film, not a list. Export the list as CSV or Excel workbook (.xlsx).",
  file_is_pdf: "The file is a PDF. Export the list as CSV or Excel workbook (.xlsx) instead.",
  file_is_document: "The file is a text document. Export the list as CSV or Excel workbook (.xlsx) instead.",
  file_is_web_page: "The file is a web page, whatever its name says. Open it in Excel and save it as .xlsx or CSV.",
  file_is_xml: "The file is XML. Export the list as CSV or Excel workbook (.xlsx) instead.",
  file_is_old_excel: "The file is an Excel workbook of another kind (.xls, .xlsb). Save it in Excel as .xlsx or CSV.",
  file_is_other_spreadsheet: "The file belongs to another spreadsheet program. Save it there as .xlsx or CSV.",
  file_is_protected: "The file is protected by a password. Open it in Excel, remove the password, and save it again.",
  file_is_binary: "The file is neither text nor an Excel workbook. Export the list as CSV or .xlsx.",
};

const refuse = (code: keyof typeof messages) => new AppError("invalid", code, messages[code]);

type Signature = [pattern: RegExp, code: keyof typeof messages];

const signatures: readonly Signature[] = [
  [
    /^(\xff\xd8\xff|\x89PNG\r\n|GIF8[79]a|BM[^]{4}\0\0\0\0|II\*\0|MM\0\*|RIFF[^]{4}WEBP|\0\0[^]{2}ftyp)/,
    "file_is_picture",
  ],
  [/^\xff\xfe\0\0/, "file_is_binary"],
];

/** A heading may begin like one of these, too: what follows decides. */
const texts: readonly Signature[] = [
  [/^%PDF-\d\.\d\s/, "file_is_pdf"],
  [/^\{\\rtf\d/, "file_is_document"],
  [
    /^(<!--[^]*?-->\s*)*<(!doctype\s+html|(html|head|body|meta|table|div|style|script)[\s>][^;,\t]*(<|\s\w+=))/i,
    "file_is_web_page",
  ],
  [/^<(\?xml\s|!--|!doctype\s|[\p{L}_][\p{L}\p{N}:._-]*(\s[^<>]*)?>\s*<[\p{L}_])/iu, "file_is_xml"],
  [/^ID;P[^\r\n]*[\r\n]+[BCFOP];/, "file_is_other_spreadsheet"],
];

/** What a value of JSON begins with; `[Name];[Klasse]` and `{id};{name}` are headings. */
const isJson = /^(\[\s*([{"[\]]|$|(-?\d[\d.e+-]*|true|false|null)\s*([,\d]|\]\s*$))|\{\s*(["}]|$))/i;

/** Office programs keep their files as zip archives, too, whose parts have types (ECMA-376 part 2, 7.2.3). */
async function findZipKind(path: string, start: string): Promise<FileKind> {
  if (/mimetypeapplication\/vnd\.oasis\.opendocument\.(text|presentation)/.test(start))
    throw refuse("file_is_document");
  const { files, close } = await openParts(path).catch((cause: unknown) => {
    // The list of parts is at the end, which an incomplete file lacks.
    throw /PK\x03\x04[^]{26}(\[Content_Types\]\.xml|xl\/)/i.test(start)
      ? refuseWorkbook("workbook_damaged", cause)
      : cause;
  });
  try {
    const types = files.get("[content_types].xml");
    const known = [
      ...files.keys(),
      types && types.size <= mostTypes
        ? await types
            .open()
            .then(readAll)
            .catch(() => "")
        : "",
    ].join("\n");
    return zipKinds.find(([pattern]) => pattern.test(known))?.[1]() ?? "zip";
  } finally {
    close();
  }
}

/** Units: bytes. */
const mostTypes = 2 ** 20;

const zipKinds: readonly [RegExp, () => FileKind][] = [
  [/(spreadsheetml\.(sheet|template)|ms-excel\.(sheet|template|addin)\.macroenabled)\.main\+xml/i, () => "xlsx"],
  [/ms-excel\.sheet\.binary|\/workbook\.bin$/im, () => fail("file_is_old_excel")],
  [/(^|\/)workbook\.xml$/m, () => "xlsx"],
  [/^(content\.xml|index\/document\.iwa)$/m, () => fail("file_is_other_spreadsheet")],
  [/^(word\/document|ppt\/presentation)\.xml$/m, () => fail("file_is_document")],
];

const fail = (code: keyof typeof messages): never => {
  throw refuse(code);
};

/** Office files of the old kind, and encrypted ones of the new kind, share a container that lists its parts by name. */
async function findOleKind(handle: FileHandle, start: Buffer): Promise<keyof typeof messages> {
  const [shift, directory] = start.length < 52 ? [9, 0] : [start.readUInt16LE(30), start.readUInt32LE(48)];
  const { buffer } = await handle.read(Buffer.alloc(2 * startBytes), 0, 2 * startBytes, (directory + 1) * 2 ** shift);
  const names = buffer.toString("utf16le");
  if (names.includes("EncryptedPackage")) return "file_is_protected";
  if (names.includes("Workbook") || names.includes("Book")) return "file_is_old_excel";
  return names.includes("WordDocument") ? "file_is_document" : "file_is_binary";
}

/** Compressed data has a fifth of such bytes; text with a few damaged characters is a matter of its rows. */
function isBinary(start: Buffer): boolean {
  if (findWideEncoding(start) !== undefined) return false;
  const isUtf8 = !new TextDecoder().decode(start.subarray(0, -4)).includes("\ufffd");
  const controls = start.filter(
    (byte) =>
      (byte < 0x20 && ![0x09, 0x0a, 0x0c, 0x0d, 0x1a].includes(byte)) || (!isUtf8 && byte >= 0x7f && byte < 0xa0),
  );
  return controls.length > Math.max(8, start.length / 10);
}

/** UTF-16 by its byte order mark; without one, if every other byte of the first characters is zero. */
export function findWideEncoding(start: Buffer): "utf-16le" | "utf-16be" | undefined {
  const text = start.subarray(0, 8).toString("latin1");
  if (text.startsWith("\xff\xfe") || /^([^\0]\0){4}/.test(text)) return "utf-16le";
  return text.startsWith("\xfe\xff") || /^(\0[^\0]){4}/.test(text) ? "utf-16be" : undefined;
}
