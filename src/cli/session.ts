import { findPerson, type PersonId } from "../directory/index.ts";
import { withPrismaTransaction } from "../platform/database/db.ts";
import type { PersonSession } from "../sign-on/index.ts";
import { found, inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Result, type Tools } from "./command.ts";
import { done, timeOf, wholeList, type Columns } from "./lines.ts";
import { argument } from "./option.ts";
import * as far from "./remote/session.ts";

const signOn = () => import("../sign-on/index.ts");

const columns: Columns<PersonSession> = {
  id: ({ id }) => id,
  kind: ({ kind }) => kind,
  apps: ({ apps }) => apps.map(({ name }) => name).join(", "),
  since: ({ since }) => timeOf(since),
  "last used": ({ lastUsedAt }) => timeOf(lastUsedAt),
  ends: ({ endsAt }) => timeOf(endsAt),
};

/** Shape: fields in the order in which they are printed. */
const show = (sessions: readonly PersonSession[]): Result =>
  wholeList(
    "sessions",
    sessions.map(({ id, kind, apps, since, lastUsedAt, endsAt }) => ({
      id,
      kind,
      since,
      lastUsedAt,
      endsAt,
      apps: apps.map(({ clientId, name }) => ({ clientId, name })),
    })),
    { columns, id: ({ id }) => id },
  );

const ended = (person: PersonId, session: string): Result => done("Session ended.", { person, session });

/** Errors: not_found person_not_found. */
export async function checkPerson(tools: Tools, personId: PersonId): Promise<void> {
  const person = await inDatabase(tools, (db) => findPerson(db, personId));
  found(person, "person_not_found", "The person does not exist.");
}

export const session: Noun = {
  verbs: {
    list: makeCommand({
      summary: "List where a person is signed in: browsers, and apps that hold tokens.",
      takes: { person: argument.person() },
      run: async (tools, { given: { person: personId } }) => {
        await checkPerson(tools, personId);
        const { listSessions } = await signOn();
        return show(await inDatabase(tools, (_db, { pool }) => listSessions(pool, { personId, now: tools.clock() })));
      },
      remote: async (remote, { given: { person } }) => show(await far.listSessions(remote, person)),
    }),
    end: makeCommand({
      summary: "End one session of a person, with the tokens that stand on it.",
      takes: { person: argument.person(), session: argument.text() },
      run: async (tools, { given: { person: personId, session: id } }) => {
        const { endSessionIn } = await signOn();
        await inDatabase(tools, (_db, whole) =>
          withPrismaTransaction(whole, (tx) => endSessionIn(tx, { personId, id }, tools.origin())),
        );
        return ended(personId, id);
      },
      remote: async (remote, { given: { person: personId, session: sessionId } }) => {
        await far.endSession(remote, { personId, sessionId });
        return ended(personId, sessionId);
      },
    }),
  },
};
