import type { PersonId, SchoolId } from "../directory/index.ts";
import { withPrismaTransaction } from "../platform/database/db.ts";
import type { ListedCard } from "../accounts/index.ts";
import { inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Result } from "./command.ts";
import { counted, defaultLimit, done, listOptions, listResult, nameOf, timeOf, type Columns } from "./lines.ts";
import { argument, option, required, UsageError } from "./option.ts";
import * as far from "./remote/card.ts";

const accounts = () => import("../accounts/index.ts");

const columns: Columns<ListedCard> = {
  id: ({ id }) => id,
  person: ({ personId }) => personId,
  name: ({ name }) => nameOf(name),
  "second step": ({ secondStep }) => secondStep,
  made: ({ createdAt }) => timeOf(createdAt),
  "last used": ({ lastUsedAt }) => timeOf(lastUsedAt),
  revoked: ({ revokedAt }) => timeOf(revokedAt),
};

/** Shape: fields in the order in which they are printed. */
const shown = ({ id, personId, name, secondStep, createdAt, lastUsedAt, revokedAt }: ListedCard): ListedCard => ({
  id,
  personId,
  secondStep,
  createdAt,
  lastUsedAt,
  revokedAt,
  name: name && { firstFull: name.firstFull, firstCall: name.firstCall, last: name.last },
});

const show = (cards: readonly ListedCard[], limit: number): Result =>
  listResult("cards", cards.map(shown), limit, columns);

type Whose = { person: readonly PersonId[] | undefined; everybody: boolean };

/** Shape: undefined for everybody. Errors: UsageError. */
function readWhose({ person, everybody }: Whose): readonly PersonId[] | undefined {
  if (everybody === (person !== undefined)) throw new UsageError("Give either --person or --everybody.");
  return person;
}

const revoked = (school: SchoolId, count: number): Result =>
  done(`${counted(count, "card")} revoked.`, { school, revoked: count });

type Printed = Awaited<ReturnType<typeof far.printCards>>;

function printed(file: string, { cards, skipped }: Printed): Result {
  const left = skipped.map(({ personId, name, reason }) => `No card for ${personId}, ${nameOf(name)}: ${reason}`);
  return {
    lines: [
      `${counted(cards.length, "card")} written to ${file}. It holds secrets: delete it when it is printed.`,
      ...left,
    ],
    quiet: [file],
    data: { file, cards: cards.length, skipped: skipped.map(({ personId, reason }) => ({ personId, reason })) },
  };
}

export const card: Noun = {
  verbs: {
    print: makeCommand({
      summary: "Make login cards for the students of a group and write them to a new PDF file.",
      takes: { group: argument.group() },
      options: {
        file: required(option.text("The file; it must not exist.", "path")),
        newPasswords: option.flag("Give each student a new password, which signs them out everywhere."),
        noQr: option.flag("Without QR codes. With them, earlier cards of the students are revoked."),
      },
      run: { reason: "It makes the cards with the addresses that the service has." },
      remote: async (remote, { given: { group: groupId }, options: { file, newPasswords, noQr } }) =>
        printed(file, await far.printCards(remote, { groupId, file, newPasswords, withQr: !noQr })),
    }),
    list: makeCommand({
      summary: "List the login cards of a school, the latest first, also those revoked in the last 90 days.",
      options: {
        school: required(option.school("The school.")),
        person: option.person("Only cards of this person."),
        limit: listOptions.limit,
        after: listOptions.after,
      },
      run: async (tools, { options: { school: schoolId, person: personId, after, limit = defaultLimit } }) => {
        const { listCards } = await accounts();
        const asked = { schoolId, personId, after, limit: limit + 1 };
        return show(await inDatabase(tools, (db) => listCards(db, asked)), limit);
      },
      remote: async (remote, { options: { school: schoolId, person: personId, after, limit = defaultLimit } }) =>
        show(await far.listCards(remote, { schoolId, personId, after, limit: limit + 1 }), limit),
    }),
    revoke: makeCommand({
      summary: "Revoke login cards of a school. Who was signed in by one is signed out.",
      options: {
        school: required(option.school("The school.")),
        person: option.people("Those of these people."),
        everybody: option.flag("Those of all people at the school."),
      },
      irreversible: "The cards sign nobody in any more.",
      run: async (tools, { options: { school: schoolId, ...whose } }) => {
        const personIds = readWhose(whose);
        const { revokeCardsIn } = await accounts();
        const asked = { schoolId, ...(personIds && { personIds }) };
        return inDatabase(tools, async (_db, whole) => {
          const count = await withPrismaTransaction(whole, (tx) => revokeCardsIn(tx, asked, tools.origin()));
          return revoked(schoolId, count);
        });
      },
      remote: async (remote, { options: { school, ...whose } }) =>
        revoked(school, await far.revokeCards(remote, school, readWhose(whose))),
    }),
  },
};
