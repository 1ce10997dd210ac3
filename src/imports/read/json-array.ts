/** One element of the outer array, as it stands in the file. Units: line and column from 1, column in characters. */
export type JsonElement = { text: string; line: number; column: number };
export type JsonFault = { line: number; column: number; code: "not_an_array" | "json_broken"; message: string };

export type JsonArrayReader = { push(text: string): JsonElement[]; end(): JsonElement[] };

/**
 * Cuts a JSON array into its elements piece by piece, without reading what is in them.
 *
 * Shape:  what holds no array is one fault, at the place where it was noticed; nothing is read behind it.
 */
export function makeJsonArrayReader(onFault: (fault: JsonFault) => void): JsonArrayReader {
  let state: "before" | "between" | "inside" | "after" | "broken" = "before";
  let needsComma = false;
  let depth = 0;
  let inString = false;
  let escaped = false;
  let pieces = "";
  let start = { line: 1, column: 1 };
  let line = 1;
  let column = 0;

  const fail = (code: JsonFault["code"], message: string) => {
    state = "broken";
    onFault({ line, column, code, message });
  };

  /** Answers whether the element ends before this sign, or with it. */
  const insideSign = (sign: string): "goes on" | "ends here" | "ended before" => {
    if (inString) {
      if (escaped) escaped = false;
      else if (sign === "\\") escaped = true;
      else if (sign === '"') inString = false;
      return "goes on";
    }
    if (sign === '"') inString = true;
    else if (sign === "{" || sign === "[") depth += 1;
    else if (sign === "}" || sign === "]") {
      if (depth === 0) return "ended before";
      depth -= 1;
      if (depth === 0) return "ends here";
    } else if (sign === "," && depth === 0) return "ended before";
    return "goes on";
  };

  const outsideSign = (sign: string): void => {
    if (isSpace(sign)) return;
    if (state === "before") {
      if (sign === "[") state = "between";
      else fail("not_an_array", "The file is not a JSON array of records.");
    } else if (state === "after") fail("json_broken", "Something stands behind the end of the array.");
    else if (sign === "]") state = "after";
    else if (sign === "," && needsComma) needsComma = false;
    else if (needsComma || sign === ",") fail("json_broken", "Between two records there is exactly one comma.");
    else {
      state = "inside";
      start = { line, column };
      depth = 0;
      inString = false;
      escaped = false;
    }
  };

  const take = (text: string): JsonElement[] => {
    const elements: JsonElement[] = [];
    let from = state === "inside" ? 0 : -1;
    const finish = (end: number) => {
      elements.push({ text: pieces + text.slice(from, end), ...start });
      pieces = "";
      from = -1;
      state = "between";
      needsComma = true;
    };
    for (let at = 0; at < text.length && state !== "broken"; at++) {
      const sign = text[at]!;
      column += 1;
      if (state !== "inside") outsideSign(sign);
      // The sign that begins an element is also its first.
      if ((state as string) === "inside") {
        if (from === -1) from = at;
        const seen = insideSign(sign);
        if (seen === "ends here") finish(at + 1);
        else if (seen === "ended before") {
          finish(at);
          outsideSign(sign);
        }
      }
      if (sign === "\n") {
        line += 1;
        column = 0;
      }
    }
    if ((state as string) === "inside") {
      pieces += text.slice(from);
      if (pieces.length > maxElement) fail("json_broken", "A record is longer than 4 million characters.");
    }
    return elements;
  };

  return {
    push: take,
    end() {
      if (state !== "after" && state !== "broken") fail(state === "before" ? "not_an_array" : "json_broken", "The file ends before the array does.");
      return [];
    },
  };
}

const maxElement = 4_000_000;
const isSpace = (sign: string): boolean => sign === " " || sign === "\n" || sign === "\r" || sign === "\t";
