// @ts-expect-error It has no types.
import { Parser as SaxParser } from "saxen";
import { findWideEncoding } from "./source.ts";
import { openParts } from "./zip.ts";

export type WorkbookFault = "workbook_damaged" | "workbook_too_large";

export class WorkbookError extends Error {
  readonly code: WorkbookFault;
  constructor(code: WorkbookFault) {
    super(code);
    this.code = code;
  }
}

/** Units: bytes of the unpacked parts that are read; characters of one text or tag. */
const most = { bytes: 64 * 2 ** 20, text: 2 * 2 ** 20, sheets: 1000 };

export type Attributes = Readonly<Record<string, string | undefined>>;
/** Elements by their path of names without prefixes, such as `/worksheet/sheetData/row`. */
type Handlers = {
  open?(path: string, attributes: () => Attributes): void;
  text?(path: string, text: string): void;
  close?(path: string): void;
  /** Called between pieces of the part; false ends the reading. */
  next?(): Promise<boolean> | boolean;
};

type Parser = {
  on(name: "openTag", handle: (name: string, attributes: () => Record<string, string> | false) => void): Parser;
  on(name: "closeTag" | "text" | "cdata" | "attention", handle: (text: string) => void): Parser;
  write(xml: string): void;
  end(): void;
};

const entities: Record<string, string> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' };

/** The characters that XML allows (XML 1.0, 2.2); a document type and its entities are refused. */
const decode = (text: string): string =>
  text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (_, decimal?: string, hex?: string, name: string = "") => {
    const code = decimal ? Number(decimal) : hex ? parseInt(hex, 16) : entities[name]?.charCodeAt(0);
    if (
      code === undefined ||
      code > 0x10ffff ||
      !/[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(String.fromCodePoint(code))
    )
      throw new WorkbookError("workbook_damaged");
    return String.fromCodePoint(code);
  });

const withoutPrefix = (name: string): string => name.slice(name.indexOf(":") + 1);

/** ECMA-376 part 2, 7.2: a part is UTF-8 or UTF-16. */
async function parse(pieces: AsyncIterable<Buffer>, handlers: Handlers): Promise<void> {
  const paths = [""];
  let waiting = 0;
  const parser = new (SaxParser as new () => Parser)()
    .on("openTag", (name, attributes) => {
      waiting = 0;
      paths.push(`${paths.at(-1)}/${withoutPrefix(name)}`);
      handlers.open?.(paths.at(-1)!, () =>
        Object.fromEntries(
          Object.entries(attributes() || {}).map(([key, value]) => [withoutPrefix(key), decode(value)]),
        ),
      );
    })
    .on("closeTag", () => {
      waiting = 0;
      const path = paths.pop()!;
      handlers.close?.(path);
    })
    .on("text", (text) => handlers.text?.(paths.at(-1)!, decode(text)))
    .on("cdata", (text) => handlers.text?.(paths.at(-1)!, text))
    .on("attention", () => {
      throw new WorkbookError("workbook_damaged");
    });
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const bytes of pieces) {
    decoder ??= new TextDecoder(findWideEncoding(bytes) ?? "utf-8", { fatal: true });
    waiting += bytes.length;
    if (waiting > most.text) throw new WorkbookError("workbook_too_large");
    parser.write(decoder.decode(bytes, { stream: true }));
    if ((await handlers.next?.()) === false) return;
  }
  parser.write(decoder?.decode() ?? "");
  parser.end();
  await handlers.next?.();
}

/** xsd:boolean */
export const isTrue = (value: string | undefined): boolean => value === "1" || value === "true";

/** ECMA-376 part 1, 22.9.2.19 (ST_Xstring). */
export const unescapeText = (text: string): string =>
  text.replace(/_x([0-9a-f]{4})_/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));

type Relation = { id: string; type: string; part: string };

/** Parts are found by their relationships, whatever they are called; names of parts ignore case. */
export async function openWorkbook(path: string) {
  const { files, close } = await openParts(path);
  const counted = new Set<string>();
  let bytes = 0;
  const read = async (part: string, handlers: Handlers): Promise<void> => {
    const file = files.get(part.toLowerCase());
    if (file === undefined) throw new WorkbookError("workbook_damaged");
    if (!counted.has(part)) bytes += file.size;
    counted.add(part);
    if (bytes > most.bytes) throw new WorkbookError("workbook_too_large");
    await parse((await file.open()) as AsyncIterable<Buffer>, handlers);
  };
  const readRelations = async (source: string): Promise<Relation[]> => {
    const relations: Relation[] = [];
    const part = source.replace(/[^/]*$/, "_rels/$&.rels");
    if (!files.has(part.toLowerCase())) return [];
    await read(part, {
      open(name, attributes) {
        if (name !== "/Relationships/Relationship") return;
        const { Id: id = "", Type: type = "", Target: target = "", TargetMode: mode } = attributes();
        if (mode === "External") return;
        const { pathname } = new URL(target, `file:///${source}`);
        relations.push({ id, type: type.replace(/^.*\//, ""), part: decodeURIComponent(pathname).slice(1) });
      },
    });
    return relations;
  };
  const main = (await readRelations("")).find(({ type }) => type === "officeDocument")?.part ?? "xl/workbook.xml";
  const relations = await readRelations(main);
  const partOf = (type: string): string | undefined => relations.find((one) => one.type === type)?.part;

  const listSheets = async () => {
    const all: { name: string; id: string; isHidden: boolean }[] = [];
    let countsFrom1904 = false;
    await read(main, {
      open(element, attributes) {
        if (element === "/workbook/workbookPr") countsFrom1904 = isTrue(attributes()["date1904"]);
        if (element !== "/workbook/sheets/sheet") return;
        const { name = "", id = "", state = "visible" } = attributes();
        all.push({ name: unescapeText(name), id, isHidden: state !== "visible" });
        if (all.length > most.sheets) throw new WorkbookError("workbook_too_large");
      },
    });
    const sheets = all.flatMap(({ id, ...sheet }) => {
      const relation = relations.find((one) => one.id === id);
      if (relation === undefined) throw new WorkbookError("workbook_damaged");
      // The others are charts, dialogs and macros.
      return relation.type === "worksheet" ? [{ ...sheet, part: relation.part }] : [];
    });
    return { sheets, countsFrom1904 };
  };

  /** The text of rich text is that of its runs; what tells how to pronounce it is left out. */
  const readStrings = async (): Promise<string[]> => {
    const part = partOf("sharedStrings");
    const strings: string[] = [];
    let pieces = "";
    if (part === undefined || !files.has(part.toLowerCase())) return [];
    await read(part, {
      text: (element, text) => void (/^\/sst\/si(\/r)?\/t$/.test(element) && (pieces += text)),
      close(element) {
        if (element !== "/sst/si") return;
        strings.push(unescapeText(pieces));
        pieces = "";
      },
    });
    return strings;
  };

  /** For each style of cells, the code of its number format. */
  const readFormats = async (): Promise<string[]> => {
    const part = partOf("styles");
    const codes = new Map<string, string>();
    const styles: string[] = [];
    if (part === undefined || !files.has(part.toLowerCase())) return [];
    await read(part, {
      open(element, attributes) {
        const { numFmtId = "0", formatCode = "" } = /\/(numFmt|xf)$/.test(element) ? attributes() : {};
        if (element === "/styleSheet/numFmts/numFmt") codes.set(numFmtId, formatCode);
        if (element === "/styleSheet/cellXfs/xf") styles.push(numFmtId);
      },
    });
    return styles.map((id) => codes.get(id) ?? (isBuiltInDate(Number(id)) ? "yyyy-mm-dd" : "General"));
  };

  return { read, listSheets, readStrings, readFormats, close };
}

/** ECMA-376 part 1, 18.8.30; those from 27 and 50 on are dates of East Asian versions. */
const isBuiltInDate = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58);
