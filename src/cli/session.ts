import { listAll, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Noun } from "./command.ts";
import { done, wholeList, type Columns } from "./lines.ts";
import { argument } from "./option.ts";

type Session = Schemas["PersonSession"];

const columns: Columns<Session> = {
  id: ({ id }) => id,
  kind: ({ kind }) => kind,
  apps: ({ apps }) => apps.map(({ name }) => name).join(", "),
  since: ({ since }) => since,
  "last used": ({ lastUsedAt }) => lastUsedAt,
  ends: ({ endsAt }) => endsAt,
};

const sessions = "/admin/v1/people/{personId}/sessions";

export const session: Noun = {
  verbs: {
    list: makeApiCommand({
      summary: "List where a person is signed in: browsers, and apps that hold tokens.",
      args: { person: argument.person() },
      run: async ({ api }, { args: { person: personId } }) => {
        const read = (query: object) => api.GET(sessions, { params: { path: { personId }, query } });
        return wholeList("sessions", await listAll(read), { columns, id: ({ id }) => id });
      },
    }),
    end: makeApiCommand({
      summary: "End one session of a person, with the tokens that it gave.",
      args: { person: argument.person(), session: argument.text() },
      run: async ({ api }, { args: { person: personId, session: sessionId } }) => {
        await api.DELETE(`${sessions}/{sessionId}`, { params: { path: { personId, sessionId } } });
        return done("Session ended.", { person: personId, session: sessionId });
      },
    }),
  },
};
