import { isDeepStrictEqual } from "node:util";
import { comparedKeys } from "./changed-parts.ts";
import type { Document } from "./document.ts";

/** A property, or a value of an enum, that a schema did not have before. */
export type Addition = { name: string; description: string | undefined };

/** Lists the additions by schema, for the schemas of both bundles that differ in nothing else. */
export function listAdditions(before: Document, after: Document): Map<string, Addition[]> {
  const [old, now] = [before.components?.schemas ?? {}, after.components?.schemas ?? {}];
  return new Map(
    Object.keys(old).flatMap((name): [string, Addition[]][] => {
      const additions = additionsTo(old[name], now[name]);
      return additions === null || additions.length === 0 ? [] : [[name, additions]];
    }),
  );
}

type Node = Record<string, unknown>;
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);

/** Null if there is another difference than additions; `at` is the name of the node. */
function additionsTo(before: unknown, after: unknown, at = "", areMembers = false): Addition[] | null {
  if (Array.isArray(before) && Array.isArray(after) && at === "enum")
    return before.every((value) => after.includes(value))
      ? after
          .filter((value) => !before.includes(value))
          .map((value) => ({ name: String(value), description: undefined }))
      : null;
  if (!isNode(before) || !isNode(after)) return isDeepStrictEqual(before, after) ? [] : null;
  const keys = new Set([before, after].flatMap((node) => comparedKeys(node, areMembers)));
  const parts = [...keys].map((key) => {
    if (areMembers && !(key in before)) return [presentAddition(key, after[key])];
    if (key === "required") return isRequiredOfAdded(before, after) ? [] : null;
    return additionsTo(before[key], after[key], key, key === "properties" && !areMembers);
  });
  return parts.includes(null) ? null : parts.flatMap((part) => part!);
}

const presentAddition = (name: string, property: unknown): Addition => ({
  name,
  description: (property as { description?: string }).description?.trim().replaceAll(/\s+/g, " "),
});

/** Whether the same properties are required as before, apart from those that are new. */
function isRequiredOfAdded(before: Node, after: Node): boolean {
  const [old, now] = [before["required"] ?? [], after["required"] ?? []] as [string[], string[]];
  const known = (before["properties"] ?? {}) as Node;
  return isDeepStrictEqual(old.toSorted(), now.filter((name) => name in known).toSorted());
}
