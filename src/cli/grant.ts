import type { GrantKey } from "../access/index.ts";
import type { GroupId, PersonRole } from "../directory/index.ts";
import { AppError } from "../platform/errors.ts";
import { bodyOf, readTagged, retryStale, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Service, type Verbs } from "./command.ts";
import { done, recordLines, tableOf } from "./lines.ts";
import { argsNamed, option, required, schoolRoles, UsageError } from "./option.ts";

type GrantUpdate = Schemas["GrantSettings"];
type NewAudience = Schemas["SignOnAudienceInput"];

const args = argsNamed("clientId", "schoolId");

type Audience = {
  to: "nobody" | "everybody" | "roles" | "groups";
  role?: PersonRole[] | undefined;
  group?: GroupId[] | undefined;
};

function readAudience({ to, role, group }: Audience): NewAudience {
  if ((to === "roles") !== (role !== undefined))
    throw new UsageError("--role belongs to --sign-on roles, which needs it.");
  if ((to === "groups") !== (group !== undefined))
    throw new UsageError("--group belongs to --sign-on groups, which needs it.");
  if (role !== undefined) return { kind: "ROLES", roles: role };
  if (group !== undefined) return { kind: "GROUPS", groupIds: group };
  return { kind: to === "everybody" ? "EVERYBODY" : "NOBODY" };
}

function audienceText({ kind, roles = [], groupIds = [] }: NewAudience): string {
  if (kind === "ROLES") return `roles ${roles.join(", ")}`;
  return kind === "GROUPS" ? `groups ${groupIds.join(", ") || "none"}` : kind.toLowerCase();
}

const oneGrant = "/admin/v1/schools/{schoolId}/grants/{clientId}";

const noGrant: GrantUpdate = { signOn: { kind: "NOBODY" }, sync: false, syncedGroupIds: [] };

async function readSettings({ api }: Service, path: GrantKey) {
  try {
    const { record, ifMatch } = await readTagged(api.GET(oneGrant, { params: { path } }));
    const { signOn, sync, syncedGroupIds } = record;
    const { kind, roles, groupIds } = signOn;
    const audience = { kind, ...(kind === "ROLES" && { roles }), ...(kind === "GROUPS" && { groupIds }) };
    return { before: { signOn: audience, sync, syncedGroupIds }, ifMatch };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "grant_not_found") throw error;
    return { before: noGrant, ifMatch: {} };
  }
}

const changeGrant = (
  service: Service,
  path: GrantKey,
  change: (before: GrantUpdate) => Partial<GrantUpdate>,
): Promise<Record<"before" | "after", GrantUpdate>> =>
  retryStale(async () => {
    const { before, ifMatch } = await readSettings(service, path);
    const after = { ...before, ...change(before) };
    await service.api.PUT(oneGrant, { params: { path, header: ifMatch }, body: after });
    return { before, after };
  });

export const verbs: Verbs = {
  set: makeApiCommand({
    summary: "Set which people of a school may sign in to an app. It takes effect at once, for tokens too.",
    args,
    options: {
      signOn: required(option.oneOf(["nobody", "everybody", "roles", "groups"] as const, "Who may sign in.")),
      role: option.someOf(schoolRoles, "With --sign-on roles: these."),
      group: option.groups("With --sign-on groups: the members of these."),
    },
    run: async (service, { args: key, options: { signOn: to, role, group } }) => {
      const signOn = readAudience({ to, role, group });
      await changeGrant(service, key, () => ({ signOn }));
      return done(`Sign-on: ${audienceText(signOn)}.`, { app: key.clientId, school: key.schoolId, signOn });
    },
  }),
};

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

/** Returns what is synced afterwards. Errors: UsageError. */
function readChoice({ set, add, remove, none }: Choice): (before: readonly string[]) => string[] {
  const ways = [set !== undefined, none, add !== undefined || remove !== undefined];
  if (ways.filter(Boolean).length !== 1) throw new UsageError("Give --set, --none, or --add and --remove.");
  if (none || set !== undefined) return () => [...new Set(set)];
  return (before) => [...new Set([...before, ...(add ?? [])])].filter((id) => !remove?.includes(id));
}

export const syncVerbs: Verbs = {
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
      const choose = readChoice(options);
      const { after } = await changeGrant(service, key, ({ syncedGroupIds }) => ({
        syncedGroupIds: choose(syncedGroupIds),
      }));
      const groups = after.syncedGroupIds;
      const lines = groups.length === 0 ? ["No group is synced."] : groups;
      return { lines, quiet: groups, data: { app: key.clientId, school: key.schoolId, groups } };
    },
  }),
};
