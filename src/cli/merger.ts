import type { SchoolId } from "../directory/index.ts";
import { changeText } from "./agreement.ts";
import { bodyOf, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Verbs } from "./command.ts";
import { counted, done, type Columns } from "./lines.ts";
import { option, required } from "./option.ts";
import { argsOf, lists } from "./verbs.ts";

const ofSchool = "/admin/v1/schools/{schoolId}/mergers";
const one = `${ofSchool}/{mergerId}` as const;

const columns: Columns<Schemas["SchoolMerger"]> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  from: ({ from }) => from.name,
  into: ({ into }) => into.name,
  people: ({ people }) => String(people),
  groups: ({ groups }) => String(groups),
  "undo until": ({ undoUntil }) => undoUntil,
};

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

export const verbs: Verbs = {
  create: makeApiCommand({
    summary: "Merge a school into another one: everybody moves with their groups, and what apps get goes with them.",
    args: argsOf(ofSchool),
    options: {
      into: required(option.id<SchoolId>("The id of the school that receives everybody.")),
      keepSourceIds: option.flag("Keep the ids of the source system, except those that the other school has given."),
      dryRun: option.flag("Only show what would happen."),
    },
    run: async ({ api }, { args: path, options: { into: intoSchoolId, keepSourceIds, dryRun } }) => {
      const body = { intoSchoolId, keepSourceIds };
      const params = { path, query: { "dry-run": dryRun }, ...withIdempotencyKey() };
      const made = await bodyOf(api.POST(ofSchool, { params, body }));
      if (!("id" in made)) return preview(made);
      return {
        ...done(`${counted(made.people, "person", "people")} moved to ${made.into.name}.`, made),
        quiet: [made.id],
      };
    },
  }),
  list: lists(ofSchool, {
    summary: "List the mergers of a school into another one, and of others into it.",
    name: "mergers",
    columns,
  }),
  undo: makeApiCommand({
    summary: "Undo a merger, within 30 days: who came and is still there goes back.",
    args: argsOf(one),
    run: async ({ api }, { args: path }) =>
      done("The merger is undone.", await bodyOf(api.DELETE(one, { params: { path } }))),
  }),
};
