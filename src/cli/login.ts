import type { PersonRole } from "../directory/index.ts";
import { findLogin, makePasswords, type LoginState, type MadeLogin } from "../accounts/index.ts";
import { found, inDatabase } from "./change.ts";
import { makeCommand, type Noun, type OptionsOf, type Result } from "./command.ts";
import { recordLines, tableOf, timeOf, type Columns } from "./lines.ts";
import { argument, option, required, UsageError } from "./option.ts";
import * as far from "./remote/login.ts";

const madeColumns: Columns<MadeLogin> = {
  last: ({ name }) => name?.last ?? null,
  "first names": ({ name }) => name?.firstFull ?? null,
  "user name": ({ username }) => username,
  password: ({ password }) => password,
};

function show(shown: LoginState): Result {
  const { personId, username, hasPassword, changedAt, blockedAt, sessions } = shown;
  const lines = recordLines({
    person: personId,
    "user name": username,
    password: hasPassword ? "yes" : "none",
    "changed at": timeOf(changedAt),
    "blocked since": timeOf(blockedAt),
    "browsers signed in": String(sessions),
  });
  return { lines, quiet: [username], data: shown };
}

const whom = {
  school: required(option.school("The school, which says how its passwords look.")),
  group: option.group("Only the students of this group of the school."),
  role: option.someOf<PersonRole>(["STUDENT", "TEACHER", "OTHER"], "Only these roles; students if left out."),
  all: option.flag("Also for those who have a password: they are signed out everywhere."),
};

/** Errors: UsageError. */
function readWhom({ school: schoolId, group: groupId, role, all }: OptionsOf<typeof whom>) {
  if (groupId !== undefined && role !== undefined)
    throw new UsageError("--role does not go with --group, of which students get passwords.");
  const of = groupId === undefined ? { roles: role ?? (["STUDENT"] as const) } : { groupId };
  return { schoolId, onlyMissing: !all, ...of };
}

const showMade = (made: readonly MadeLogin[]): Result => ({
  table: tableOf(made, madeColumns),
  lines: made.length === 0 ? ["Nobody needs a password."] : ["The passwords are not shown again."],
  quiet: made.map(({ password }) => password),
  data: { logins: made },
});

export const login: Noun = {
  verbs: {
    show: makeCommand({
      summary:
        "Show with which user name a person signs in, and whether they are signed in. Set one: person set-login.",
      takes: { person: argument.person() },
      run: async (tools, { given: { person } }) => {
        const login = await inDatabase(tools, (_db, whole) => findLogin(whole, person, tools.clock()));
        return show(found(login, "login_not_found", "The person has no login, or does not exist."));
      },
      remote: async (remote, { given: { person } }) => show(await far.findLogin(remote, person)),
    }),
    make: makeCommand({
      summary:
        "Make passwords for people of a school who have none, or for the students of a group; shown only once. For a file: --output csv.",
      options: whom,
      run: async ({ withDatabase, origin }, { options }) => {
        const asked = readWhom(options);
        const made = await withDatabase(({ db }) =>
          makePasswords(db, asked, {
            origin: origin(),
            listRefused: () => Promise.resolve(new Set()),
            finish: (_tx, logins) => Promise.resolve(logins),
          }),
        );
        return showMade(made);
      },
      remote: async (remote, { options }) => showMade(await far.makePasswords(remote, readWhom(options))),
    }),
  },
};
