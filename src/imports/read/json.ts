import { parseTree, type Node, type ParseError } from "jsonc-parser";
import { StringDecoder } from "node:string_decoder";

/** The unparsed text of an element. Units: line, column (characters) and number from 1. */
export type JsonElement = { text: string; line: number; column: number; number: number };
/** `number` is that of the element; 0 if the fault is one of the array. */
export type JsonFault = {
  line: number;
  column: number;
  number: number;
  code: "not_an_array" | "json_broken" | "record_too_long" | "record_too_deep";
  message: string;
};

export const jsonLimits = { element: 1_048_576, depth: 32 };

/** Own code: an element that is too long or too deep is a fault with its position, before anything parses it. */
export function makeJsonArrayReader(onFault: (fault: JsonFault) => void, limits = jsonLimits) {
  let state: "before" | "between" | "inside" | "after" | "broken" = "before";
  let needsComma = false;
  let depth = 0;
  let inString = false;
  let escaped = false;
  let pieces = "";
  let isSkipped = false;
  let start = { line: 1, column: 1, number: 0 };
  let line = 1;
  let column = 0;

  const fail = (code: JsonFault["code"], message: string): void => {
    state = "broken";
    onFault({ line, column, number: 0, code, message });
  };

  const skip = (code: JsonFault["code"], message: string): void => {
    if (!isSkipped) onFault({ ...start, code, message });
    isSkipped = true;
    pieces = "";
  };

  const insideSign = (sign: number): "continues" | "ends here" | "ended before" => {
    if (inString) {
      if (escaped) escaped = false;
      else if (sign === signs.escape) escaped = true;
      else if (sign === signs.quote) inString = false;
      return "continues";
    }
    if (sign === signs.quote) inString = true;
    else if (sign === signs.openObject || sign === signs.openArray) {
      depth += 1;
      if (depth > limits.depth) skip("record_too_deep", `The record has more than ${limits.depth} levels.`);
    } else if (sign === signs.closeObject || sign === signs.closeArray) {
      if (depth === 0) return "ended before";
      depth -= 1;
      if (depth === 0) return "ends here";
    } else if (sign === signs.comma && depth === 0) return "ended before";
    return "continues";
  };

  const outsideSign = (sign: number): void => {
    if (isSpace(sign)) return;
    if (state === "before") {
      if (sign === signs.openArray) state = "between";
      else fail("not_an_array", "The file is not a JSON array of records.");
    } else if (state === "after") fail("json_broken", "There is text after the end of the array.");
    else if (sign === signs.closeArray) state = "after";
    else if (sign === signs.comma && needsComma) needsComma = false;
    else if (needsComma || sign === signs.comma) fail("json_broken", "Between two records there is exactly one comma.");
    else {
      state = "inside";
      start = { line, column, number: start.number + 1 };
      [depth, inString, escaped, isSkipped] = [0, false, false, false];
    }
  };

  const gather = (piece: string): void => {
    if (pieces.length + piece.length > limits.element)
      skip("record_too_long", `The record is longer than ${limits.element} characters.`);
    if (!isSkipped) pieces += piece;
  };

  const take = (text: string): JsonElement[] => {
    const elements: JsonElement[] = [];
    let from = state === "inside" ? 0 : -1;
    const finish = (end: number): void => {
      gather(text.slice(from, end));
      if (!isSkipped) elements.push({ text: pieces, ...start });
      [pieces, from, state, needsComma] = ["", -1, "between", true];
    };
    for (let at = 0; at < text.length && state !== "broken"; at++) {
      const sign = text.charCodeAt(at);
      column += 1;
      if (state !== "inside") outsideSign(sign);
      // The first character of an element is handled as part of it, too.
      if ((state as string) === "inside") {
        if (from === -1) from = at;
        const seen = insideSign(sign);
        if (seen === "ends here") finish(at + 1);
        else if (seen === "ended before") {
          finish(at);
          outsideSign(sign);
        }
      }
      if (sign === signs.newline) {
        line += 1;
        column = 0;
      }
    }
    if ((state as string) === "inside") gather(text.slice(from));
    return elements;
  };

  return {
    push: take,
    end(): JsonElement[] {
      if (state !== "after" && state !== "broken")
        fail(state === "before" ? "not_an_array" : "json_broken", "The file ends before the array does.");
      return [];
    },
  };
}

const signs = {
  quote: 0x22,
  escape: 0x5c,
  openObject: 0x7b,
  closeObject: 0x7d,
  openArray: 0x5b,
  closeArray: 0x5d,
  comma: 0x2c,
  newline: 0x0a,
};
const isSpace = (sign: number): boolean => sign === 0x20 || sign === 0x0a || sign === 0x0d || sign === 0x09;

export type JsonPath = readonly (string | number)[];
type JsonPlace = { line: number; column: number };

export type JsonPlaces = ReturnType<typeof makeJsonPlaces>;

export function makeJsonPlaces(element: JsonElement) {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  let lineStarts: number[] | undefined;
  const childrenOf = new Map<Node, Map<string, Node>>();

  const read = (): Node | undefined => {
    lineStarts ??= findLineStarts(element.text);
    return (root ??= parseTree(element.text, errors, { disallowComments: true, allowTrailingComma: false }));
  };
  const child = (node: Node, step: string | number): Node | undefined => {
    if (typeof step === "number") return node.type === "array" ? node.children?.[step] : undefined;
    if (!childrenOf.has(node)) childrenOf.set(node, toProperties(node));
    return childrenOf.get(node)!.get(step);
  };
  const placeAt = (offset: number): JsonPlace => {
    const { line, column } = element;
    const before = countUpTo(lineStarts!, offset);
    return before === 0
      ? { line, column: column + offset }
      : { line: line + before, column: offset - lineStarts![before - 1]! + 1 };
  };

  return {
    find(path: JsonPath): JsonPlace {
      let node = read();
      for (const step of path) {
        const next = node && child(node, step);
        if (next === undefined) break;
        node = next;
      }
      return placeAt(node?.offset ?? 0);
    },
    findError(): JsonPlace {
      read();
      return placeAt(errors[0]?.offset ?? element.text.length);
    },
  };
}

function toProperties(node: Node): Map<string, Node> {
  const properties = new Map<string, Node>();
  for (const { children } of node.type === "object" ? (node.children ?? []) : []) {
    const [key, value] = children ?? [];
    if (key !== undefined && value !== undefined) properties.set(key.value as string, value);
  }
  return properties;
}

function findLineStarts(text: string): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** Binary search: how many of the ascending numbers are at most `limit`. */
function countUpTo(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Parses an array of JSON record by record, so that memory does not grow with it. Errors: those of `refuse`. */
export async function* readJsonRecords(
  bytes: AsyncIterable<Buffer>,
  refuse: (fault: JsonFault["code"] | "json_cut") => Error,
): AsyncGenerator<unknown[]> {
  const decoder = new StringDecoder("utf8");
  let fault: JsonFault | undefined;
  const reader = makeJsonArrayReader((error) => (fault ??= error));
  const parse = (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      throw refuse("json_broken");
    }
  };
  let isFirst = true;
  for await (const chunk of bytes) {
    const text = decoder.write(chunk);
    const records = reader.push(isFirst ? text.replace(/^\ufeff/, "") : text).map((element) => parse(element.text));
    if (text !== "") isFirst = false;
    if (fault !== undefined) throw refuse(fault.code);
    if (records.length > 0) yield records;
  }
  reader.end();
  if (fault !== undefined) throw refuse("json_cut");
}
