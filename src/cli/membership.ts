import { addMembership, removeMembership, setMembershipRole } from "../directory/index.ts";
import type { PersonRole } from "../directory/index.ts";
import { done, inChange } from "./change.ts";
import { makeCommand, type Noun } from "./command.ts";
import { argument, option, required } from "./option.ts";

const takes = { group: argument.group(), person: argument.person() };
const role = option.oneOf<PersonRole>(
  ["STUDENT", "TEACHER", "OTHER"],
  "The person's role in this group; their role at school if left out.",
);

export const membership: Noun = {
  verbs: {
    add: makeCommand({
      summary: "Add a person to a group of one of their schools.",
      takes,
      options: { role },
      run: async (tools, { given: { group: groupId, person: personId }, options }) => {
        await inChange(tools, (change) => addMembership(change, { groupId, personId, role: options.role }));
        return done("Person added to the group.", { group: groupId, person: personId });
      },
    }),
    remove: makeCommand({
      summary: "Remove a person from a group.",
      takes,
      run: async (tools, { given: { group: groupId, person: personId } }) => {
        await inChange(tools, (change) => removeMembership(change, { groupId, personId }));
        return done("Person removed from the group.", { group: groupId, person: personId });
      },
    }),
    "set-role": makeCommand({
      summary: "Change a member's role in the group.",
      takes,
      options: { role: required(role) },
      run: async (tools, { given: { group: groupId, person: personId }, options }) => {
        const changed = await inChange(tools, (change) =>
          setMembershipRole(change, { groupId, personId, role: options.role }),
        );
        return done(changed ? `Role in the group: ${options.role}.` : "No change.", {
          ...{ group: groupId, person: personId, role: options.role, changed },
        });
      },
    }),
  },
};
