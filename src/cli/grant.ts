import { findGrant, listGrants, setSignOn, setSync, setSyncedGroups, withdrawGrant } from "../access/index.ts";
import type { ClientId, SignOnAudience } from "../access/index.ts";
import type { GroupId, PersonRole, SchoolId } from "../directory/index.ts";
import { done, found, inChange, inDatabase } from "./change.ts";
import { makeCommand, type Noun } from "./command.ts";
import { alignColumns, grantLines } from "./lines.ts";
import { argument, option, required, UsageError } from "./option.ts";

const takes = { app: argument.text<ClientId>(), school: argument.id<SchoolId>() };

type Audience = {
  to: "nobody" | "everybody" | "roles" | "groups";
  role?: PersonRole[] | undefined;
  group?: GroupId[] | undefined;
};

function readAudience({ to, role, group }: Audience): SignOnAudience {
  if ((to === "roles") !== (role !== undefined))
    throw new UsageError("--role belongs to --sign-on roles, which needs it.");
  if ((to === "groups") !== (group !== undefined))
    throw new UsageError("--group belongs to --sign-on groups, which needs it.");
  if (role !== undefined) return { kind: "ROLES", roles: role as [PersonRole, ...PersonRole[]] };
  if (group !== undefined) return { kind: "GROUPS", groups: group };
  return { kind: to === "everybody" ? "EVERYBODY" : "NOBODY" };
}

export const grant: Noun = {
  summary: "Grants: who of a school may sign in to an app. What the app may read is switched with sync.",
  verbs: {
    set: makeCommand({
      summary: "Set who of a school may sign in to an app. It takes effect at once, for tokens too.",
      takes,
      options: {
        signOn: required(option.oneOf(["nobody", "everybody", "roles", "groups"] as const, "Who may sign in.")),
        role: option.someOf<PersonRole>(["STUDENT", "TEACHER", "OTHER"], "With --sign-on roles: these."),
        group: option.ids<GroupId>("With --sign-on groups: the members of these."),
      },
      run: async (tools, { given: { app: clientId, school: schoolId }, options: { signOn: to, role, group } }) => {
        const signOn = readAudience({ to, role, group });
        await inChange(tools, (change) => setSignOn(change, { clientId, schoolId, signOn }));
        return done("The grant is set.", { app: clientId, school: schoolId, signOn });
      },
    }),
    withdraw: makeCommand({
      summary: "Take sign-on and sync back from an app, and forget its synced groups.",
      takes,
      run: async (tools, { given: { app: clientId, school: schoolId } }) => {
        await inChange(tools, (change) => withdrawGrant(change, { clientId, schoolId }));
        return done("The grant is withdrawn.", { app: clientId, school: schoolId });
      },
    }),
    show: makeCommand({
      summary: "Show what a school gives an app.",
      takes,
      run: async (tools, { given: { app: clientId, school: schoolId } }) => {
        const shown = found(
          await inDatabase(tools, (db) => findGrant(db, { clientId, schoolId })),
          "grant_not_found",
          "The school has given this app nothing.",
        );
        return { lines: grantLines(shown), data: shown };
      },
    }),
    list: makeCommand({
      summary: "List the grants of an app, of a school, or all.",
      options: {
        app: option.text("Only grants of this app."),
        school: option.id<SchoolId>("Only grants by this school."),
        limit: option.count("How many at most; 1000 if left out."),
      },
      run: async (tools, { options: { app, school: schoolId, limit = 1000 } }) => {
        const of = {
          ...(app !== undefined && { clientId: app as ClientId }),
          ...(schoolId !== undefined && { schoolId }),
        };
        const all = await inDatabase(tools, (db) => listGrants(db, { ...of, limit: limit + 1 }));
        const grants = all.slice(0, limit);
        const rows = grants.map(({ clientId, schoolId: school, signOn, sync, syncedGroups }) => [
          clientId,
          school,
          `sign-on ${signOn.kind.toLowerCase()}`,
          `sync ${sync ? "on" : "off"}`,
          `${syncedGroups.length} groups`,
        ]);
        return {
          lines: [...alignColumns(rows), ...(all.length > limit ? ["There are more: raise --limit."] : [])],
          data: { grants, more: all.length > limit },
        };
      },
    }),
  },
};

const makeSwitch = (sync: boolean, summary: string) =>
  makeCommand({
    summary,
    takes,
    run: async (tools, { given: { app: clientId, school: schoolId } }) => {
      const differs = await inChange(tools, (change) => setSync(change, { clientId, schoolId, sync }));
      return done(`Sync is ${sync ? "on" : "off"}${differs ? "" : ", as it was"}.`, {
        app: clientId,
        school: schoolId,
        sync,
        changed: differs,
      });
    },
  });

export const sync: Noun = {
  summary: "Sync: what of a school an app may read.",
  verbs: {
    on: makeSwitch(true, "Let an app read the school and its synced groups with their members."),
    off: makeSwitch(false, "Hide the school from an app; the choice of groups is remembered."),
    groups: makeCommand({
      summary: "Choose the groups that a school syncs to an app, whether or not sync is on.",
      takes,
      options: {
        set: option.ids<GroupId>("Exactly these."),
        add: option.ids<GroupId>("These too."),
        remove: option.ids<GroupId>("No longer these."),
        none: option.flag("None at all."),
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
        return {
          lines: groups.length === 0 ? ["No group is synced."] : groups,
          data: { app: clientId, school: schoolId, groups },
        };
      },
    }),
  },
};
