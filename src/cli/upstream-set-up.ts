import { bodyOf, isEmpty, omitUndefined, updateRecord, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Verbs } from "./command.ts";
import { done, recordLines, updated } from "./lines.ts";
import { option, UsageError } from "./option.ts";
import { argsOf } from "./verbs.ts";

const wayIn = "/admin/v1/schools/{schoolId}/way-in";

const showWayIn = (found: Schemas["WayIn"]): Result => ({
  lines: recordLines({
    address: found.url,
    passwords: found.localPasswords ? "accepted" : "not accepted",
    "accepted until": found.emergencyUntil,
  }),
  data: found,
});

/** How they are set up, and how people get there. */
export const setUpVerbs: Verbs = {
  "way-in": makeApiCommand({
    summary: "Show or change how people reach the login of a school.",
    args: argsOf(wayIn),
    options: {
      linkName: option.text("The school's address is /s/<link name>.", "link-name"),
      noLinkName: option.flag("Give the school no address."),
      localPasswords: option.oneOf(["yes", "no"] as const, "Whether passwords of this service are accepted."),
    },
    run: async ({ api }, { args: path, options: { linkName, noLinkName, localPasswords } }) => {
      if (linkName !== undefined && noLinkName) throw new UsageError("Give --link-name or --no-link-name.");
      const read = () => api.GET(wayIn, { params: { path } });
      const given = omitUndefined({
        linkName: noLinkName ? null : linkName,
        localPasswords: localPasswords && localPasswords === "yes",
      });
      if (isEmpty(given)) return showWayIn(await bodyOf(read()));
      const changed = await updateRecord({
        read,
        change: (before, header) => {
          const body = { linkName: before.linkName, localPasswords: before.localPasswords, ...given };
          return api.PUT(wayIn, { params: { path, header }, body });
        },
      });
      return updated("Way in", path.schoolId, changed);
    },
  }),
  emergency: makeApiCommand({
    summary: "Accept passwords at a school for a day, because its own login fails.",
    args: argsOf(wayIn),
    options: { end: option.flag("End it now.") },
    run: async ({ api }, { args: path, options: { end } }) => {
      const emergency = `${wayIn}/emergency` as const;
      await (end ? api.DELETE(emergency, { params: { path } }) : api.POST(emergency, { params: { path } }));
      return done(end ? "Ended." : "Passwords are accepted for a day.", { id: path.schoolId, isOpen: !end });
    },
  }),
};
