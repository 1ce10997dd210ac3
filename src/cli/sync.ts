import { findGrant, setSync, setSyncedGroups } from "../access/index.ts";
import type { ClientId } from "../access/index.ts";
import { findGroup } from "../directory/index.ts";
import { done, found, inChange, inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Result } from "./command.ts";
import { recordLines, tableOf } from "./lines.ts";
import { argument, option, UsageError } from "./option.ts";

const takes = { app: argument.text<ClientId>(), school: argument.school() };

const makeSwitch = (sync: boolean, summary: string) =>
  makeCommand({
    summary,
    takes,
    run: async (tools, { given: { app: clientId, school: schoolId } }) => {
      const changed = await inChange(tools, (change) => setSync(change, { clientId, schoolId, sync }));
      const state = `Sync is ${sync ? "on" : "off"}.`;
      return done(changed ? state : `No change. ${state}`, { app: clientId, school: schoolId, sync, changed });
    },
  });

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
          const groups = (await Promise.all(syncedGroups.map((id) => findGroup(db, id)))).filter((one) => one !== null);
          const shown = groups.map(({ id, name, status, members }) => ({ id, name, status, members }));
          const table = tableOf(shown, {
            "group id": ({ id }) => id,
            status: ({ status }) => status,
            name: ({ name }) => name,
            members: ({ members }) => String(members),
          });
          const lines = recordLines({ sync: sync ? "on" : "off", "synced groups": String(groups.length) });
          const data = { app: clientId, school: schoolId, sync, groups: shown };
          return { table, lines, quiet: shown.map(({ id }) => id), data };
        }),
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
      run: async (tools, { given: { app: clientId, school: schoolId }, options: { set, add, remove, none } }) => {
        const ways = [set !== undefined, none, add !== undefined || remove !== undefined];
        if (ways.filter(Boolean).length !== 1) throw new UsageError("Give --set, --none, or --add and --remove.");
        const key = { clientId, schoolId };
        const groups = await inChange(tools, async (change) => {
          await change.touchSchool(schoolId, clientId);
          const before = (await findGrant(change.tx, key))?.syncedGroups ?? [];
          const wanted = none ? [] : (set ?? [...before, ...(add ?? [])].filter((id) => !(remove ?? []).includes(id)));
          await setSyncedGroups(change, { ...key, groups: wanted });
          return [...new Set(wanted)];
        });
        const lines = groups.length === 0 ? ["No group is synced."] : groups;
        return { lines, quiet: groups, data: { app: clientId, school: schoolId, groups } };
      },
    }),
  },
};
