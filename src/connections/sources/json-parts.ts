import { createReadStream } from "node:fs";
import { SourceError } from "./failure.ts";

/** An item of a list, or another property of the object around the lists. A list that is not in an object is "". */
export type JsonPart = { name: string; value: unknown; isItem: boolean };

/** A part is parsed at once. */
const limits = { characters: 2 ** 20, depth: 32 };

/**
 * Reads a file with a JSON list, or an object with lists, part by part, so that memory does not grow with it.
 *
 * Errors: SourceError HALF if the text ends too early, ANSWERED_BADLY if it is no such JSON.
 */
export async function* readJsonParts(path: string): AsyncGenerator<JsonPart> {
  const reader = makeJsonReader();
  for await (const text of createReadStream(path, { encoding: "utf8" })) yield* reader.push(text as string);
  reader.end();
}

export function makeJsonReader() {
  /** The brackets that are open, outermost first. */
  const open: string[] = [];
  let [piece, list, inString, escaped, isOver] = ["", "", false, false, false];

  const isObject = () => open.length === 1 && open[0] === "{";
  const isList = () => open.at(-1) === "[" && (open.length === 1 || (open.length === 2 && open[0] === "{"));
  const take = (text: string): void => {
    piece += text;
    if (piece.length > limits.characters) throw bad("has a record that is too long");
  };
  const toPart = (): JsonPart[] => {
    const text = piece.trim();
    piece = "";
    if (text === "") return [];
    if (isList()) return [{ name: list, value: parse(text), isItem: true }];
    return Object.entries(parse(`{${text}}`) as object).map(([name, value]) => ({
      name,
      value: value as unknown,
      isItem: false,
    }));
  };
  const openBracket = (bracket: string): void => {
    if (open.length === 0 || (bracket === "[" && isObject())) {
      const text = piece.trim();
      if (isOver || (open.length === 0 ? text !== "" : !text.endsWith(":"))) throw bad("is no JSON list or object");
      list = text === "" ? "" : String(parse(text.slice(0, -1)));
      piece = "";
    } else if (open.length === limits.depth) throw bad("is nested too deeply");
    open.push(bracket);
  };

  return {
    push(text: string): JsonPart[] {
      const parts: JsonPart[] = [];
      let from = 0;
      for (let at = 0; at < text.length; at++) {
        const sign = text[at]!;
        if (inString) {
          if (escaped) escaped = false;
          else if (sign === "\\") escaped = true;
          else inString = sign !== '"';
        } else if (sign === '"') inString = true;
        else if ("{[}],".includes(sign)) {
          const level = open.length;
          if (sign === "{" || sign === "[") {
            const isBoundary = level === 0 || (sign === "[" && isObject());
            if (isBoundary) take(text.slice(from, at));
            if (isBoundary) from = at + 1;
            openBracket(sign);
          } else {
            if (isList() || isObject()) {
              take(text.slice(from, at));
              from = at + 1;
              parts.push(...toPart());
            }
            if (sign === ",") continue;
            if (open.pop() !== (sign === "}" ? "{" : "[")) throw bad("has brackets that do not match");
            isOver = open.length === 0;
          }
        }
      }
      take(text.slice(from));
      return parts;
    },
    end(): void {
      if (open.length > 0) throw new SourceError("HALF", "the JSON ends too early");
      if (!isOver || piece.trim() !== "") throw bad("is no JSON list or object");
    },
  };
}

const bad = (what: string, cause?: unknown): SourceError =>
  new SourceError("ANSWERED_BADLY", `the answer ${what}`, { cause });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The message of the error quotes the text, which may hold names.
    throw bad("is no JSON", { name: (error as Error).name });
  }
}
