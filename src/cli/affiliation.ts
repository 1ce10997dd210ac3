import { joinSchool, leaveSchool, setHomeSchool } from "../directory/index.ts";
import type { Change, PersonId, SchoolId } from "../directory/index.ts";
import { inChange } from "./change.ts";
import { makeCommand, type Noun } from "./command.ts";
import { done } from "./lines.ts";
import { argument } from "./option.ts";
import * as far from "./remote/person.ts";
import type { Remote } from "./admin-api.ts";

type Way<On> = (on: On, of: { personId: PersonId; schoolId: SchoolId }) => Promise<void>;

const makeVerb = (summary: string, line: string, way: Way<Change>, remotely: Way<Remote>) =>
  makeCommand({
    summary,
    takes: { person: argument.person(), school: argument.school() },
    run: async (tools, { given: { person: personId, school: schoolId } }) => {
      await inChange(tools, (change) => way(change, { personId, schoolId }));
      return done(line, { person: personId, school: schoolId });
    },
    remote: async (remote, { given: { person: personId, school: schoolId } }) => {
      await remotely(remote, { personId, schoolId });
      return done(line, { person: personId, school: schoolId });
    },
  });

export const affiliation: Noun = {
  verbs: {
    join: makeVerb("Add a person to another school.", "Person added to the school.", joinSchool, far.joinSchool),
    leave: makeVerb(
      "Remove a person from a school that is not their home, and from its groups.",
      "Person removed from the school.",
      leaveSchool,
      far.leaveSchool,
    ),
    "set-home": makeVerb(
      "Make another of the person's schools their home.",
      "Home school changed.",
      setHomeSchool,
      far.setHomeSchool,
    ),
  },
};
