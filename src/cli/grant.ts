import type { GrantKey } from "../access/index.ts";
import type { GroupId, PersonRole } from "../directory/index.ts";
import { AppError } from "../platform/errors.ts";
import { readTagged, retryStale, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Service, type Verbs } from "./command.ts";
import { done } from "./lines.ts";
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

export const oneGrant = "/admin/v1/schools/{schoolId}/grants/{clientId}";

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

export const changeGrant = (
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
