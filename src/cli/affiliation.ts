import { joinSchool, leaveSchool, setHomeSchool } from "../directory/index.ts";
import type { Change, PersonId, SchoolId } from "../directory/index.ts";
import { done, inChange } from "./change.ts";
import { makeCommand, type Noun } from "./command.ts";
import { argument } from "./option.ts";

type Way = (change: Change, of: { personId: PersonId; schoolId: SchoolId }) => Promise<void>;

const makeVerb = (summary: string, way: Way, said: string) =>
  makeCommand({
    summary,
    takes: { person: argument.id<PersonId>(), school: argument.id<SchoolId>() },
    run: async (tools, { given: { person: personId, school: schoolId } }) => {
      await inChange(tools, (change) => way(change, { personId, schoolId }));
      return done(said, { person: personId, school: schoolId });
    },
  });

export const affiliation: Noun = {
  summary: "Affiliations: a person at more than one school.",
  verbs: {
    join: makeVerb("Make the person one of another school too.", joinSchool, "The person is at the school now."),
    leave: makeVerb(
      "End the person's time at a school that is not their home, and their memberships there.",
      leaveSchool,
      "The person has left the school.",
    ),
    "set-home": makeVerb(
      "Make another of the person's schools their home.",
      setHomeSchool,
      "The school is the person's home now.",
    ),
  },
};
