import { findGrant, setSync, setSyncedGroups } from "../access/index.ts";
import type { ClientId, GrantKey } from "../access/index.ts";
import { findGroup, type Group, type GroupId } from "../directory/index.ts";
import { found, inChange, inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Result } from "./command.ts";
import { done, recordLines, tableOf } from "./lines.ts";
import { argument, option, UsageError } from "./option.ts";
import * as far from "./remote/grant.ts";

const takes = { app: argument.text<ClientId>(), school: argument.school() };

const switched = ({ clientId: app, schoolId: school }: GrantKey, sync: boolean, changed: boolean): Result => {
  const state = `Sync is ${sync ? "on" : "off"}.`;
  return done(changed ? state : `No change. ${state}`, { app, school, sync, changed });
};

const makeSwitch = (sync: boolean, summary: string) =>
  makeCommand({
    summary,
    takes,
    run: async (tools, { given: { app: clientId, school: schoolId } }) => {
      const key = { clientId, schoolId };
      return switched(key, sync, await inChange(tools, (change) => setSync(change, { ...key, sync })));
    },
    remote: async (remote, { given: { app: clientId, school: schoolId } }) => {
      const key = { clientId, schoolId };
      const { before } = await far.changeGrant(remote, key, () => ({ sync }));
      return switched(key, sync, before.sync !== sync);
    },
  });

type Shown = Pick<Group, "name" | "status" | "members"> & { id: string };

function show({ clientId: app, schoolId: school }: GrantKey, sync: boolean, groups: readonly Shown[]): Result {
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

type Choice = { [Way in "set" | "add" | "remove"]?: readonly GroupId[] | undefined } & { none: boolean };

/** Errors: UsageError. */
function checkChoice({ set, add, remove, none }: Choice): void {
  const ways = [set !== undefined, none, add !== undefined || remove !== undefined];
  if (ways.filter(Boolean).length !== 1) throw new UsageError("Give --set, --none, or --add and --remove.");
}

const chosen = ({ set, add, remove, none }: Choice, before: readonly GroupId[]): readonly GroupId[] =>
  none ? [] : (set ?? [...before, ...(add ?? [])].filter((id) => !(remove ?? []).includes(id)));

function groupsChosen({ clientId: app, schoolId: school }: GrantKey, wanted: readonly GroupId[]): Result {
  const groups = [...new Set(wanted)];
  return {
    lines: groups.length === 0 ? ["No group is synced."] : groups,
    quiet: groups,
    data: { app, school, groups },
  };
}

export const sync: Noun = {
  verbs: {
    on: makeSwitch(true, "Let an app read the school and its synced groups with their members."),
    off: makeSwitch(false, "Hide the school from an app. The synced groups are kept for when it is switched on again."),
    show: makeCommand({
      summary: "Show whether a school syncs to an app, and which groups.",
      takes,
      run: async (tools, { given: { app: clientId, school: schoolId } }): Promise<Result> =>
        inDatabase(tools, async (db) => {
          const grant = await findGrant(db, { clientId, schoolId });
          const { sync, syncedGroups } = found(grant, "grant_not_found", "The school has given this app nothing.");
          const groups = await Promise.all(syncedGroups.map((id) => findGroup(db, id)));
          const existing = groups.filter((one) => one !== null);
          return show({ clientId, schoolId }, sync, existing);
        }),
      remote: async (remote, { given: { app: clientId, school: schoolId } }) => {
        const { sync, syncedGroups } = await far.findGrant(remote, { clientId, schoolId });
        return show({ clientId, schoolId }, sync, await far.findSynced(remote, syncedGroups));
      },
    }),
    groups: makeCommand({
      summary: "Choose the groups that a school syncs to an app, whether or not sync is on.",
      takes,
      options: {
        set: option.groups("Exactly these."),
        add: option.groups("Add these."),
        remove: option.groups("Remove these."),
        none: option.flag("Remove all."),
      },
      run: async (tools, { given: { app: clientId, school: schoolId }, options }) => {
        checkChoice(options);
        const key = { clientId, schoolId };
        const groups = await inChange(tools, async (change) => {
          await change.touchSchool(schoolId, clientId);
          const wanted = chosen(options, (await findGrant(change.tx, key))?.syncedGroups ?? []);
          await setSyncedGroups(change, { ...key, groups: wanted });
          return wanted;
        });
        return groupsChosen(key, groups);
      },
      remote: async (remote, { given: { app: clientId, school: schoolId }, options }) => {
        checkChoice(options);
        const key = { clientId, schoolId };
        const { after } = await far.changeGrant(remote, key, ({ syncedGroups }) => ({
          syncedGroups: chosen(options, syncedGroups),
        }));
        return groupsChosen(key, after.syncedGroups);
      },
    }),
  },
};
