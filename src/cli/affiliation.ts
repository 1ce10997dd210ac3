import { joinSchool, leaveSchool, setHomeSchool } from "../directory/index.ts";
import type { Change, PersonId, SchoolId } from "../directory/index.ts";
import { done, inChange } from "./change.ts";
import { makeCommand, type Noun } from "./command.ts";
import { argument } from "./option.ts";

type Way = (change: Change, of: { personId: PersonId; schoolId: SchoolId }) => Promise<void>;

const makeVerb = (summary: string, way: Way, line: string) =>
  makeCommand({
    summary,
    takes: { person: argument.person(), school: argument.school() },
    run: async (tools, { given: { person: personId, school: schoolId } }) => {
      await inChange(tools, (change) => way(change, { personId, schoolId }));
      return done(line, { person: personId, school: schoolId });
    },
  });

export const affiliation: Noun = {
  verbs: {
    join: makeVerb("Add a person to another school.", joinSchool, "Person added to the school."),
    leave: makeVerb(
      "Remove a person from a school that is not their home, and from its groups.",
      leaveSchool,
      "Person removed from the school.",
    ),
    "set-home": makeVerb("Make another of the person's schools their home.", setHomeSchool, "Home school changed."),
  },
};
