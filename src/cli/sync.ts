import type { GrantKey } from "../access/index.ts";
import { bodyOf, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Verbs, type Result } from "./command.ts";
import { changeGrant, oneGrant } from "./grant.ts";
import { done, recordLines, tableOf } from "./lines.ts";
import { argsNamed, option, UsageError } from "./option.ts";

const args = argsNamed("clientId", "schoolId");

const makeSwitch = (sync: boolean, summary: string) =>
  makeApiCommand({
    summary,
    args,
    run: async (service, { args: key }) => {
      const { before } = await changeGrant(service, key, () => ({ sync }));
      const changed = before.sync !== sync;
      const line = `${changed ? "" : "No change. "}Sync is ${sync ? "on" : "off"}.`;
      return done(line, { app: key.clientId, school: key.schoolId, sync, changed });
    },
  });

function show(
  { clientId: app, schoolId: school }: GrantKey,
  sync: boolean,
  groups: readonly Schemas["AdminGroup"][],
): Result {
  const shown = groups.map(({ id, name, status, members }) => ({ id, name, status, members }));
  const table = tableOf(shown, {
    "group id": ({ id }) => id,
    status: ({ status }) => status,
    name: ({ name }) => name,
    members: ({ members }) => String(members),
  });
  const lines = recordLines({ sync: sync ? "on" : "off", "synced groups": String(groups.length) });
  return { table, lines, quiet: shown.map(({ id }) => id), data: { app, school, sync, groups: shown } };
}

type Choice = { [Way in "set" | "add" | "remove"]?: readonly string[] | undefined } & { none: boolean };

function checkChoice({ set, add, remove, none }: Choice): void {
  const ways = [set !== undefined, none, add !== undefined || remove !== undefined];
  if (ways.filter(Boolean).length !== 1) throw new UsageError("Give --set, --none, or --add and --remove.");
}

const chosen = ({ set, add, remove, none }: Choice, before: readonly string[]): readonly string[] =>
  none ? [] : (set ?? [...before, ...(add ?? [])].filter((id) => !(remove ?? []).includes(id)));

function groupsChosen({ clientId: app, schoolId: school }: GrantKey, wanted: readonly string[]): Result {
  const groups = [...new Set(wanted)];
  return {
    lines: groups.length === 0 ? ["No group is synced."] : groups,
    quiet: groups,
    data: { app, school, groups },
  };
}

export const verbs: Verbs = {
  on: makeSwitch(true, "Let an app read the school and its synced groups with their members."),
  off: makeSwitch(false, "Hide the school from an app. The synced groups are kept for when it is switched on again."),
  show: makeApiCommand({
    summary: "Show whether a school syncs to an app, and which groups.",
    args,
    run: async ({ api }, { args: path }) => {
      const { sync, syncedGroupIds } = await bodyOf(api.GET(oneGrant, { params: { path } }));
      const groups: Schemas["AdminGroup"][] = [];
      for (const groupId of syncedGroupIds)
        groups.push(await bodyOf(api.GET("/admin/v1/groups/{groupId}", { params: { path: { groupId } } })));
      return show(path, sync, groups);
    },
  }),
  groups: makeApiCommand({
    summary: "Choose the groups that a school syncs to an app, whether or not sync is on.",
    args,
    options: {
      set: option.groups("Exactly these."),
      add: option.groups("Add these."),
      remove: option.groups("Remove these."),
      none: option.flag("Remove all."),
    },
    run: async (service, { args: key, options }) => {
      checkChoice(options);
      const { after } = await changeGrant(service, key, ({ syncedGroupIds }) => ({
        syncedGroupIds: [...new Set(chosen(options, syncedGroupIds))],
      }));
      return groupsChosen(key, after.syncedGroupIds);
    },
  }),
};
