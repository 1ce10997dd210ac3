import { makeApiCommand, type Noun } from "./command.ts";
import type { Service } from "./admin-api.ts";
import { done } from "./lines.ts";
import { argument } from "./option.ts";

type Path = { personId: string; schoolId: string };

const makeVerb = (summary: string, line: string, send: (api: Service["api"], path: Path) => Promise<unknown>) =>
  makeApiCommand({
    summary,
    args: { person: argument.person(), school: argument.school() },
    run: async ({ api }, { args: { person: personId, school: schoolId } }) => {
      await send(api, { personId, schoolId });
      return done(line, { person: personId, school: schoolId });
    },
  });

const atSchool = "/admin/v1/people/{personId}/schools/{schoolId}";
const homeSchool = "/admin/v1/people/{personId}/home-school";

export const affiliation: Noun = {
  verbs: {
    join: makeVerb("Add a person to another school.", "Person added to the school.", (api, path) =>
      api.PUT(atSchool, { params: { path } }),
    ),
    leave: makeVerb(
      "Remove a person from a school that is not their home, and from its groups.",
      "Person removed from the school.",
      (api, path) => api.DELETE(atSchool, { params: { path } }),
    ),
    "set-home": makeVerb(
      "Make another of the person's schools their home.",
      "Home school changed.",
      (api, { personId, schoolId }) => api.PUT(homeSchool, { params: { path: { personId } }, body: { schoolId } }),
    ),
  },
};
