import type { GroupId, PersonId, PersonRole } from "../directory/index.ts";
import { AppError } from "../platform/errors.ts";
import { bodyOf, omitUndefined, type Service } from "./admin-api.ts";
import { makeApiCommand, type Noun, type Result } from "./command.ts";
import { done } from "./lines.ts";
import { argument, option, required } from "./option.ts";

const args = { group: argument.group(), person: argument.person() };
const role = option.oneOf<PersonRole>(
  ["STUDENT", "TEACHER", "OTHER"],
  "The person's role in this group; their role at school if left out.",
);

type Member = { groupId: GroupId; personId: PersonId };

const added = ({ groupId: group, personId: person }: Member): Result =>
  done("Person added to the group.", { group, person });
const removed = ({ groupId: group, personId: person }: Member): Result =>
  done("Person removed from the group.", { group, person });
const roleSet = ({ groupId: group, personId: person }: Member, role: PersonRole, changed: boolean): Result =>
  done(changed ? `Role in the group: ${role}.` : "No change.", { group, person, role, changed });

const oneGroup = "/admin/v1/groups/{groupId}";
const oneMember = `${oneGroup}/members/{personId}` as const;

/** The person's role in the group; undefined for somebody who is not in it. */
async function roleIn({ api }: Service, { groupId, personId }: Member): Promise<PersonRole | undefined> {
  await bodyOf(api.GET(oneGroup, { params: { path: { groupId } } }));
  const person = await bodyOf(api.GET("/admin/v1/people/{personId}", { params: { path: { personId } } }));
  return person.groups.find(({ id }) => id === groupId)?.role;
}

export const membership: Noun = {
  verbs: {
    add: makeApiCommand({
      summary: "Add a person to a group of one of their schools.",
      args,
      options: { role },
      run: async (service, { args: { group: groupId, person: personId }, options }) => {
        const path = { groupId, personId };
        if ((await roleIn(service, path)) !== undefined)
          throw new AppError("conflict", "membership_exists", "The person is in the group already.");
        await service.api.PUT(oneMember, { params: { path }, body: omitUndefined({ role: options.role }) });
        return added(path);
      },
    }),
    remove: makeApiCommand({
      summary: "Remove a person from a group.",
      args,
      run: async ({ api }, { args: { group: groupId, person: personId } }) => {
        const path = { groupId, personId };
        await api.DELETE(oneMember, { params: { path } });
        return removed(path);
      },
    }),
    "set-role": makeApiCommand({
      summary: "Change a member's role in the group.",
      args,
      options: { role: required(role) },
      run: async (service, { args: { group: groupId, person: personId }, options: { role: wanted } }) => {
        const path = { groupId, personId };
        const before = await roleIn(service, path);
        if (before === undefined)
          throw new AppError("not_found", "membership_not_found", "The person is not in the group.");
        if (before !== wanted) await service.api.PUT(oneMember, { params: { path }, body: { role: wanted } });
        return roleSet(path, wanted, before !== wanted);
      },
    }),
  },
};
