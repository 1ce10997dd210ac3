import { bodyOf, type Schemas } from "./admin-api.ts";
import type { Result, Service } from "./command.ts";
import type { Extension, Extensions } from "./contract-commands.ts";
import { recordLines, tableOf } from "./lines.ts";
import { option, UsageError } from "./option.ts";

type Grant = Schemas["Grant"];

/** A grant has the roles and groups of every kind; a change names those of its kind only. */
const keepSignOn: NonNullable<Extension["body"]> = (body, _options, { before }) => {
  const { kind, roles, groupIds } = (before as Grant).signOn;
  return { signOn: { kind, ...(kind === "ROLES" && { roles }), ...(kind === "GROUPS" && { groupIds }) }, ...body };
};

async function show({ clientId: app, schoolId: school, sync, syncedGroupIds }: Grant, { api }: Service) {
  const groups: Pick<Schemas["AdminGroup"], "id" | "name" | "status" | "members">[] = [];
  for (const groupId of syncedGroupIds) {
    const group = await bodyOf(api.GET("/admin/v1/groups/{groupId}", { params: { path: { groupId } } }));
    groups.push({ id: group.id, name: group.name, status: group.status, members: group.members });
  }
  const table = tableOf(groups, {
    "group id": ({ id }) => id,
    status: ({ status }) => status,
    name: ({ name }) => name,
    members: ({ members }) => String(members),
  });
  const lines = recordLines({ sync: sync ? "on" : "off", "synced groups": String(groups.length) });
  return { table, lines, quiet: syncedGroupIds, data: { app, school, sync, groups } } satisfies Result;
}

type Choice = { [Way in "set" | "add" | "remove"]?: readonly string[] } & { none?: boolean };

/** Returns what is synced afterwards. Errors: UsageError. */
function readChoice({ set, add, remove, none = false }: Choice): (before: readonly string[]) => string[] {
  const ways = [set !== undefined, none, add !== undefined || remove !== undefined];
  if (ways.filter(Boolean).length !== 1) throw new UsageError("Give --set, --none, or --add and --remove.");
  if (none || set !== undefined) return () => [...new Set(set)];
  return (before) => [...new Set([...before, ...(add ?? [])])].filter((id) => !remove?.includes(id));
}

export const extensions: Extensions = {
  on: { body: keepSignOn },
  off: { body: keepSignOn },
  show: { print: (grant: Grant, _options, service) => show(grant, service) },
  groups: {
    options: {
      set: option.groups("Exactly these."),
      add: option.groups("Add these."),
      remove: option.groups("Remove these."),
      none: option.flag("Remove all."),
    },
    // A wrong choice is refused before anything is read.
    instead: (_service, options) => void readChoice(options),
    body: (body, options, of) => {
      const syncedGroupIds = readChoice(options)((of.before as Grant).syncedGroupIds);
      return keepSignOn({ ...body, syncedGroupIds }, options, of);
    },
  },
};
