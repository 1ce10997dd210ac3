import { bodyOf, isEmpty, omitUndefined, updateRecord, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Verbs } from "./command.ts";
import { done, recordLines, updated, type Columns } from "./lines.ts";
import { option, UsageError } from "./option.ts";
import { argsOf, changes, lists } from "./verbs.ts";

const one = "/admin/v1/upstream-connections/{connectionId}";
const wayIn = "/admin/v1/schools/{schoolId}/way-in";
const args = argsOf(one);

const setUpLinkColumns: Columns<Schemas["UpstreamSetUpLink"]> = {
  id: ({ id }) => id,
  created: ({ createdAt }) => createdAt,
  expires: ({ expiresAt }) => expiresAt,
  opened: ({ openedAt }) => openedAt,
  closed: ({ closedAt }) => closedAt,
};

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
  "set-up-link": makeApiCommand({
    summary: "Make an address with which the IT contact of the school sets a connection up. It is shown only once.",
    args,
    options: { days: option.count("How many days it can be used, 30 at most; 7 if left out.") },
    run: async ({ api }, { args: path, options: { days = 7 } }) => {
      const params = { path, ...withIdempotencyKey() };
      const link = await bodyOf(api.POST(`${one}/set-up-links`, { params, body: { days } }));
      const lines = [link.url, `Until ${link.expiresAt}, in the first browser that opens it. It is not shown again.`];
      return { lines, quiet: [link.url], data: link };
    },
  }),
  "set-up-links": lists(`${one}/set-up-links`, {
    summary: "List the set-up links of a connection that have not expired.",
    name: "set-up links",
    columns: setUpLinkColumns,
  }),
  "close-set-up-link": changes("delete", `${one}/set-up-links/{setUpLinkId}`, {
    summary: "Close a set-up link.",
    line: "Set-up link closed.",
  }),
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
