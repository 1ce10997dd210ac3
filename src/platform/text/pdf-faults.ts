import { promisify } from "node:util";
import { inflate } from "node:zlib";

const most = { inflated: 8 * 2 ** 20, objectStreams: 2000, openings: 10, dictionary: 2000 };

const refused: readonly [names: string, fault: string][] = [
  ["Encrypt", "The PDF is encrypted."],
  ["JavaScript JS AA XFA", "The PDF contains scripts."],
  ["Launch SubmitForm ImportData GoToE Rendition Movie Sound RichMedia", "The PDF starts programs or media."],
  ["EmbeddedFile EmbeddedFiles FileAttachment", "The PDF contains other files."],
];
const faults = new Map(refused.flatMap(([names, fault]) => names.split(" ").map((name) => [name, fault] as const)));
const delimiter = "[\\0\\s()<>[\\]{}/%]";
const refusedName = new RegExp(`/(${[...faults.keys()].join("|")})(?=${delimiter}|$)`);

/** An action when the file is opened that does more than show a page. */
const opening = /\/OpenAction(?!\s*\[|\s*<<(?:(?!\/Next\b|>>)[^]){0,500}\/S\s*\/GoTo\b)/;

/**
 * Finds what a reader of the file would start, or what it hides; null if there is nothing. Names are compared as
 * readers do, and looked for in compressed objects too.
 * Source: ISO 32000-1, sections 7.3.5 (#xx in names) and 7.5.7 (object streams).
 */
export async function findPdfFault(pdf: Buffer): Promise<string | null> {
  const bytes = pdf.toString("latin1");
  if (!/^%PDF-\d\.\d/.test(bytes) || !bytes.slice(-1024).includes("%%EOF")) return "It is not a PDF.";
  const objects = await inflateObjects(pdf, bytes);
  if (objects === null) return "The PDF has compressed parts that cannot be read.";
  const text = [bytes, ...objects].map(decodeNames).join("\n");
  const [, name] = refusedName.exec(text) ?? [];
  if (name !== undefined) return faults.get(name)!;
  return findOpeningFault(text);
}

const decodeNames = (text: string): string =>
  text.replace(/#([\da-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

function findOpeningFault(text: string): string | null {
  const actions = listMatches(text, /\/OpenAction(?:\s+(\d+)\s+(\d+)\s+R\b|[^]{0,500})/g);
  const values = actions?.flatMap(([value, id, generation]) => {
    if (id === undefined) return [value];
    const objects = listMatches(text, new RegExp(`(?<!\\d)${id}\\s+${generation}\\s+obj\\b([^]{0,500})`, "g")) ?? [];
    return objects.length === 0 ? [value] : objects.map(([, object]) => `/OpenAction ${object!}`);
  });
  return values?.every((value) => !opening.test(value)) ? null : "The PDF does something when it is opened.";
}

/** Null if there are more than any real file has. */
function listMatches(text: string, pattern: RegExp): RegExpExecArray[] | null {
  const matches: RegExpExecArray[] = [];
  for (const match of text.matchAll(pattern)) if (matches.push(match) > most.openings) return null;
  return matches;
}

// A letter of a PDF name can also be written as #xx.
const objectStream = /\/(?:O|#4f)(?:b|#62)(?:j|#6a)(?:S|#53)(?:t|#74)(?:m|#6d)(?![a-z\d#])/gi;
const isDeflated = /\/Filter\s*\[?\s*\/FlateDecode\s*\]?\s*(?:\/|>>)/;

/** Null if an object stream cannot be read, or they hold too much. */
async function inflateObjects(pdf: Buffer, bytes: string): Promise<string[] | null> {
  const inflated: string[] = [];
  let left = most.inflated;
  for (const { index } of bytes.matchAll(objectStream)) {
    const [before] = /^[^]*?stream\r?\n/.exec(bytes.slice(index, index + most.dictionary)) ?? [""];
    const from = Math.max(index - most.dictionary, bytes.lastIndexOf("obj", index - 1));
    const dictionary = decodeNames(bytes.slice(Math.max(0, from), index) + before);
    const end = bytes.indexOf("endstream", index + before.length);
    if (before === "" || end < 0 || !isDeflated.test(dictionary) || dictionary.includes("/DecodeParms")) return null;
    const options = { maxOutputLength: Math.max(1, left) };
    const content = await promisify(inflate)(pdf.subarray(index + before.length, end), options).catch(() => null);
    if (content === null || inflated.length === most.objectStreams) return null;
    left -= content.length;
    inflated.push(nameObjects(content.toString("latin1"), Number(/\/First\s+(\d+)/.exec(dictionary)?.[1] ?? 0)));
  }
  return inflated;
}

/** Writes the id of each object before it, as outside compressed parts. */
function nameObjects(content: string, first: number): string {
  const ids = [...content.slice(0, first).matchAll(/(\d+)\s+(\d+)/g)].map(([, id, offset]) => ({
    id,
    start: first + Number(offset),
  }));
  return [
    content.slice(0, ids[0]?.start),
    ...ids.map(({ id, start }, at) => `${id} 0 obj ${content.slice(start, ids[at + 1]?.start)}`),
  ].join("\n");
}
