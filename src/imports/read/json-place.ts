import { parseTree, type Node, type ParseError } from "jsonc-parser";
import type { JsonElement } from "./json-array.ts";

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
