import type { Extensions } from "./contract-commands.ts";
import { option, UsageError } from "./option.ts";

/** Reads `person=value`. Errors: UsageError. */
function readPairs(name: string, texts: readonly string[]): Map<string, string> {
  const pairs = texts.map((text) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)] as const);
  if (pairs.some(([person, value]) => person === "" || value === ""))
    throw new UsageError(`--${name}: write the person's id, = and the value.`);
  return new Map(pairs);
}

export const extensions: Extensions = {
  accept: {
    options: {
      group: option.texts("The class of a pupil; both by id.", "person=group"),
      sourceId: option.texts("The id of a pupil in the files that this school imports.", "person=id"),
    },
    body: (_body, { group = [], sourceId = [] }: { group?: readonly string[]; sourceId?: readonly string[] }) => {
      const [groups, ids] = [readPairs("group", group), readPairs("source-id", sourceId)];
      const pupils = [...new Set([...groups.keys(), ...ids.keys()])].map((personId) => ({
        personId,
        ...(groups.has(personId) && { groupId: groups.get(personId) }),
        ...(ids.has(personId) && { sourceSystemIdentifier: ids.get(personId) }),
      }));
      return { pupils };
    },
  },
};
