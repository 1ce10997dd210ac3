import { makeApiCommand, type Verbs } from "./command.ts";
import { done } from "./lines.ts";
import { argsNamed, changes } from "./verbs.ts";

const atSchool = "/admin/v1/people/{personId}/schools/{schoolId}";

export const verbs: Verbs = {
  join: changes("put", atSchool, {
    summary: "Add a person to another school.",
    line: "Person added to the school.",
  }),
  leave: changes("delete", atSchool, {
    summary: "Remove a person from a school that is not their home, and from its groups.",
    line: "Person removed from the school.",
  }),
  "set-home": makeApiCommand({
    summary: "Make another of the person's schools their home.",
    args: argsNamed("personId", "schoolId"),
    run: async ({ api }, { args: { personId, schoolId } }) => {
      await api.PUT("/admin/v1/people/{personId}/home-school", { params: { path: { personId } }, body: { schoolId } });
      return done("Home school changed.", { person: personId, school: schoolId });
    },
  }),
};
