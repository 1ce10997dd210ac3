import type { GroupId, PersonId, PersonRole } from "../directory/index.ts";
import { AppError } from "../platform/errors.ts";
import { bodyOf, omitUndefined } from "./admin-api.ts";
import { makeApiCommand, type Service, type Verbs } from "./command.ts";
import { withOwnId, type Extensions } from "./contract-commands.ts";
import { done } from "./lines.ts";
import { argsNamed, option, required, schoolRoles } from "./option.ts";

const oneGroup = "/admin/v1/groups/{groupId}";
const oneMember = `${oneGroup}/members/{personId}` as const;
const args = argsNamed("groupId", "personId");

const role = option.oneOf(schoolRoles, "The person's role in this group; their role at school if left out.");

async function roleIn(
  { api }: Service,
  { groupId, personId }: { groupId: GroupId; personId: PersonId },
): Promise<PersonRole | undefined> {
  await bodyOf(api.GET(oneGroup, { params: { path: { groupId } } }));
  const person = await bodyOf(api.GET("/admin/v1/people/{personId}", { params: { path: { personId } } }));
  return person.groups.find(({ id }) => id === groupId)?.role;
}

export const verbs: Verbs = {
  add: makeApiCommand({
    summary: "Add a person to a group of one of their schools.",
    args,
    options: { role },
    run: async (service, { args: path, options }) => {
      if ((await roleIn(service, path)) !== undefined)
        throw new AppError("conflict", "membership_exists", "The person is in the group already.");
      await service.api.PUT(oneMember, { params: { path }, body: omitUndefined({ role: options.role }) });
      return done("Person added to the group.", { group: path.groupId, person: path.personId });
    },
  }),
  "set-role": makeApiCommand({
    summary: "Change a member's role in the group.",
    args,
    options: { role: required(role) },
    run: async (service, { args: path, options: { role: wanted } }) => {
      const before = await roleIn(service, path);
      if (before === undefined)
        throw new AppError("not_found", "membership_not_found", "The person is not in the group.");
      const changed = before !== wanted;
      if (changed) await service.api.PUT(oneMember, { params: { path }, body: { role: wanted } });
      const line = changed ? `Role in the group: ${wanted}.` : "No change.";
      return done(line, { group: path.groupId, person: path.personId, role: wanted, changed });
    },
  }),
};

export const groupExtensions: Extensions = {
  create: withOwnId(async () => (await import("./local/own-ids.ts")).createGroupWithId),
};
