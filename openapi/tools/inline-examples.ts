import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Document } from "./document.ts";

type Example = { value?: unknown };

/**
 * Replaces each `$ref: Name.yaml#/value` in an example by that value, with the properties beside it as replacements.
 * Redocly does not follow references there.
 */
export function inlineExamples(bundle: Document, folder: string): void {
  const inline = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(inline);
    if (node === null || typeof node !== "object") return node;
    const { $ref, ...own } = node as { $ref?: unknown };
    const entries = Object.fromEntries(Object.entries(own).map(([key, value]) => [key, inline(value)]));
    const file = typeof $ref === "string" ? /^(\w+\.yaml)#\/value$/.exec($ref)?.[1] : undefined;
    if (file === undefined) return entries;
    const path = join(folder, file);
    const value = existsSync(path) ? (parse(readFileSync(path, "utf8")) as Example).value : undefined;
    if (value === undefined)
      throw new Error(`openapi/examples/${file} has no value, and another example refers to it.`);
    const inlined = inline(value);
    return Array.isArray(inlined) ? inlined : { ...(inlined as object), ...entries };
  };
  const { examples = {} } = (bundle.components ?? {}) as { examples?: Record<string, Example> };
  for (const example of Object.values(examples)) example.value = inline(example.value);
}
