import { addMembership, removeMembership, setMembershipRole } from "../directory/index.ts";
import type { GroupId, PersonId, PersonRole } from "../directory/index.ts";
import { done, inChange } from "./change.ts";
import { makeCommand, type Noun } from "./command.ts";
import { argument, option, required } from "./option.ts";

const takes = { group: argument.id<GroupId>(), person: argument.id<PersonId>() };
const role = option.oneOf<PersonRole>(
  ["STUDENT", "TEACHER", "OTHER"],
  "What the person is in this group; what they are at school if left out.",
);

export const membership: Noun = {
  summary: "Memberships: who is in which group, and as what.",
  verbs: {
    add: makeCommand({
      summary: "Put a person into a group of one of their schools.",
      takes,
      options: { role },
      run: async (tools, { given: { group: groupId, person: personId }, options }) => {
        await inChange(tools, (change) => addMembership(change, { groupId, personId, role: options.role }));
        return done("The person is in the group.", { group: groupId, person: personId });
      },
    }),
    remove: makeCommand({
      summary: "Take a person out of a group.",
      takes,
      run: async (tools, { given: { group: groupId, person: personId } }) => {
        await inChange(tools, (change) => removeMembership(change, { groupId, personId }));
        return done("The person is no longer in the group.", { group: groupId, person: personId });
      },
    }),
    "set-role": makeCommand({
      summary: "Make a member something else in the group.",
      takes,
      options: { role: required(role) },
      run: async (tools, { given: { group: groupId, person: personId }, options }) => {
        const differs = await inChange(tools, (change) =>
          setMembershipRole(change, { groupId, personId, role: options.role }),
        );
        return done(differs ? `The person is ${options.role} in the group.` : "The person was that already.", {
          group: groupId,
          person: personId,
          role: options.role,
          changed: differs,
        });
      },
    }),
  },
};
