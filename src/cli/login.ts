import { findLogin } from "../sign-on/index.ts";
import { found, inDatabase } from "./change.ts";
import { makeCommand, type Noun } from "./command.ts";
import { recordLines, timeOf } from "./lines.ts";
import { argument } from "./option.ts";

export const login: Noun = {
  verbs: {
    show: makeCommand({
      summary:
        "Show with which user name a person signs in, and whether they are signed in. Set one: person set-login.",
      takes: { person: argument.person() },
      run: async (tools, { given: { person } }) => {
        const login = await inDatabase(tools, (_db, whole) => findLogin(whole, person, tools.clock()));
        const shown = found(login, "login_not_found", "The person has no login, or does not exist.");
        const { personId, username, changedAt, blockedAt, sessions } = shown;
        const lines = recordLines({
          ...{ person: personId, "user name": username, "changed at": timeOf(changedAt) },
          ...{ "blocked since": timeOf(blockedAt), "browsers signed in": String(sessions) },
        });
        return { lines, quiet: [username], data: shown };
      },
    }),
  },
};
