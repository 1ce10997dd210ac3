import { addMembership, removeMembership, setMembershipRole } from "../directory/index.ts";
import type { GroupId, PersonId, PersonRole } from "../directory/index.ts";
import { inChange } from "./change.ts";
import { makeCommand, type Noun, type Result } from "./command.ts";
import { done } from "./lines.ts";
import { argument, option, required } from "./option.ts";
import * as far from "./remote/group.ts";

const takes = { group: argument.group(), person: argument.person() };
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

export const membership: Noun = {
  verbs: {
    add: makeCommand({
      summary: "Add a person to a group of one of their schools.",
      takes,
      options: { role },
      run: async (tools, { given: { group: groupId, person: personId }, options }) => {
        await inChange(tools, (change) => addMembership(change, { groupId, personId, role: options.role }));
        return added({ groupId, personId });
      },
      remote: async (remote, { given: { group: groupId, person: personId }, options }) => {
        await far.addMembership(remote, { groupId, personId, role: options.role });
        return added({ groupId, personId });
      },
    }),
    remove: makeCommand({
      summary: "Remove a person from a group.",
      takes,
      run: async (tools, { given: { group: groupId, person: personId } }) => {
        await inChange(tools, (change) => removeMembership(change, { groupId, personId }));
        return removed({ groupId, personId });
      },
      remote: async (remote, { given: { group: groupId, person: personId } }) => {
        await far.removeMembership(remote, { groupId, personId });
        return removed({ groupId, personId });
      },
    }),
    "set-role": makeCommand({
      summary: "Change a member's role in the group.",
      takes,
      options: { role: required(role) },
      run: async (tools, { given: { group: groupId, person: personId }, options }) => {
        const wanted = { groupId, personId, role: options.role };
        return roleSet(wanted, options.role, await inChange(tools, (change) => setMembershipRole(change, wanted)));
      },
      remote: async (remote, { given: { group: groupId, person: personId }, options }) => {
        const wanted = { groupId, personId, role: options.role };
        return roleSet(wanted, options.role, await far.setMembershipRole(remote, wanted));
      },
    }),
  },
};
