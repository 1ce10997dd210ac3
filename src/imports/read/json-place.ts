import type { JsonElement } from "./json-array.ts";

export type JsonPath = readonly (string | number)[];

/** The line and column of a place within an element that was parsed; of the nearest place above it where it does not exist. */
export function findJsonPlace(element: JsonElement, path: JsonPath): { line: number; column: number } {
  return placeAt(element, findOffset(element.text, path));
}

/** Units: offset in characters from the beginning of the element. */
export function placeAt({ text, line, column }: JsonElement, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lastBreak = before.lastIndexOf("\n");
  if (lastBreak === -1) return { line, column: column + offset };
  return { line: line + before.split("\n").length - 1, column: offset - lastBreak };
}

function findOffset(text: string, path: JsonPath): number {
  let at = skipSpace(text, 0);
  for (const step of path) {
    const next = typeof step === "number" ? findItem(text, at, step) : findKey(text, at, step);
    if (next === -1) return at;
    at = next;
  }
  return at;
}

function findItem(text: string, array: number, index: number): number {
  let at = skipSpace(text, array + 1);
  for (let passed = 0; text[at] !== "]" && text[at] !== undefined; passed++) {
    if (passed === index) return at;
    at = skipComma(text, skipValue(text, at));
  }
  return -1;
}

function findKey(text: string, object: number, key: string): number {
  let at = skipSpace(text, object + 1);
  while (text[at] === '"') {
    const end = skipString(text, at);
    const value = skipSpace(text, skipSpace(text, end) + 1);
    if (JSON.parse(text.slice(at, end)) === key) return value;
    at = skipComma(text, skipValue(text, value));
  }
  return -1;
}

function skipValue(text: string, from: number): number {
  if (text[from] === '"') return skipString(text, from);
  let at = from;
  if (text[at] !== "{" && text[at] !== "[") {
    while (at < text.length && !",]} \n\r\t".includes(text[at]!)) at++;
    return at;
  }
  for (let depth = 0; at < text.length; at++) {
    if (text[at] === '"') at = skipString(text, at) - 1;
    else if (text[at] === "{" || text[at] === "[") depth += 1;
    else if (text[at] === "}" || text[at] === "]") depth -= 1;
    if (depth === 0) return at + 1;
  }
  return at;
}

function skipString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\r" || text[at] === "\t") at++;
  return at;
}

function skipComma(text: string, from: number): number {
  const at = skipSpace(text, from);
  return text[at] === "," ? skipSpace(text, at + 1) : at;
}
