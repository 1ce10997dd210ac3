import type { Verbs } from "./command.ts";
import { changes, listsAll } from "./verbs.ts";

const sessions = "/admin/v1/people/{personId}/sessions";

export const verbs: Verbs = {
  list: listsAll(sessions, {
    summary: "List where a person is signed in: browsers, and apps that hold tokens.",
    name: "sessions",
    columns: {
      id: ({ id }) => id,
      kind: ({ kind }) => kind,
      apps: ({ apps }) => apps.map(({ name }) => name).join(", "),
      since: ({ since }) => since,
      "last used": ({ lastUsedAt }) => lastUsedAt,
      ends: ({ endsAt }) => endsAt,
    },
    id: ({ id }) => id,
  }),
  end: changes("delete", `${sessions}/{sessionId}`, {
    summary: "End one session of a person, with the tokens that it gave.",
    line: "Session ended.",
  }),
};
