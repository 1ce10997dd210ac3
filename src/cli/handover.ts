import { bodyOf } from "./admin-api.ts";
import { makeApiCommand, type Verbs } from "./command.ts";
import { counted, done } from "./lines.ts";
import { argsNamed, option, UsageError } from "./option.ts";

const one = "/admin/v1/handovers/{handoverId}";
const args = argsNamed("handoverId");

/** Reads `person=value`. Errors: UsageError. */
function readPairs(name: string, texts: readonly string[]): Map<string, string> {
  const pairs = texts.map((text) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)] as const);
  if (pairs.some(([person, value]) => person === "" || value === ""))
    throw new UsageError(`--${name}: write the person's id, = and the value.`);
  return new Map(pairs);
}

export const verbs: Verbs = {
  accept: makeApiCommand({
    summary: "Accept a hand-over: the pupils move with their logins.",
    args,
    options: {
      group: option.texts("The class of a pupil; both by id.", "person=group"),
      sourceId: option.texts("The id of a pupil in the files that this school imports.", "person=id"),
    },
    run: async ({ api }, { args: path, options: { group = [], sourceId = [] } }) => {
      const [groups, ids] = [readPairs("group", group), readPairs("source-id", sourceId)];
      const pupils = [...new Set([...groups.keys(), ...ids.keys()])].map((personId) => ({
        personId,
        ...(groups.has(personId) && { groupId: groups.get(personId)! }),
        ...(ids.has(personId) && { sourceSystemIdentifier: ids.get(personId)! }),
      }));
      const accepted = await bodyOf(api.POST(`${one}/acceptance`, { params: { path }, body: { pupils } }));
      return { ...done(`${counted(accepted.moved ?? 0, "pupil")} moved.`, accepted), quiet: [accepted.id] };
    },
  }),
};
