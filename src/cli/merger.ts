import type { Schemas } from "./admin-api.ts";
import type { Result } from "./command.ts";
import { changeText, type Extensions } from "./contract-commands.ts";
import { counted, done } from "./lines.ts";

const outcomes: Record<Schemas["MergedAppOutcome"], string> = {
  MOVED: "the receiving school gives it the same groups",
  JOINED: "the groups are added to what the receiving school gives it",
  LEFT_BEHIND: "it gets nothing of these groups",
};

const preview = (data: Schemas["SchoolMergerPreview"]): Result => ({
  lines: [
    `${counted(data.people, "person", "people")} and ${counted(data.groups, "group")} would move.`,
    ...(data.renamedGroups.length === 0 ? [] : [`Renamed: ${data.renamedGroups.join(", ")}.`]),
    ...(data.removedSourceIds === 0 ? [] : [`Without their id of the source system: ${data.removedSourceIds}.`]),
    ...data.apps.map(
      ({ name, outcome, losesAudience }) =>
        `${name}: ${outcomes[outcome]}.${losesAudience ? " Choose again who may sign in by role." : ""}`,
    ),
    ...data.views.map(changeText),
  ],
  data,
});

const show = (merger: Schemas["SchoolMergerPreview"] | Schemas["SchoolMerger"]): Result => {
  if (!("id" in merger)) return preview(merger);
  const line = `${counted(merger.people, "person", "people")} moved to ${merger.into.name}.`;
  return { ...done(line, merger), quiet: [merger.id] };
};

export const extensions: Extensions = { create: { print: show } };
