import type { PersonId, SchoolId } from "../directory/index.ts";
import { bodyOf, omitUndefined, readListResult, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import { batchVerbs } from "./card-batch.ts";
import { makeApiCommand, type Result, type Service, type Verbs } from "./command.ts";
import { counted, done, listOptions, nameOf, type Columns } from "./lines.ts";
import { writeNewFile } from "./new-file.ts";
import { option, required, UsageError } from "./option.ts";
import { argsNamed } from "./verbs.ts";

const ofSchool = "/admin/v1/schools/{schoolId}/login-cards";

const columns: Columns<Schemas["LoginCard"]> = {
  id: ({ id }) => id,
  person: ({ personId }) => personId,
  name: ({ name }) => nameOf(name),
  "second step": ({ secondStep }) => secondStep,
  made: ({ createdAt }) => createdAt,
  "last used": ({ lastUsedAt }) => lastUsedAt,
  revoked: ({ revokedAt }) => revokedAt,
};

type Whose = { person: readonly PersonId[] | undefined; everybody: boolean };

/** Undefined for everybody. */
function readWhose({ person, everybody }: Whose): readonly PersonId[] | undefined {
  if (everybody === (person !== undefined)) throw new UsageError("Give either --person or --everybody.");
  return person;
}

function printed(file: string, { cards, skipped }: Schemas["MadeLoginCards"]): Result {
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

const printOptions = {
  file: required(option.text("The file; it must not exist.", "path")),
  newPasswords: option.flag("Give each person a new password, which signs them out everywhere."),
  noQr: option.flag("Without QR codes. With them, earlier cards of these people are revoked."),
};
const remoteOnly = "It makes the cards with the addresses that the service has.";

type Printing = { schoolId: SchoolId; file: string; body: Schemas["LoginCardsInput"] };

async function print({ api }: Service, { schoolId, file, body }: Printing): Promise<Result> {
  const path = { schoolId };
  const made = await writeNewFile(file, async () => {
    const cards = await bodyOf(api.POST(ofSchool, { params: { path, ...withIdempotencyKey() }, body }));
    const params = { path: { ...path, cardPrintId: cards.printId } };
    const pdf: unknown = await bodyOf(api.POST(`${ofSchool}/prints/{cardPrintId}`, { params, parseAs: "arrayBuffer" }));
    return { ...cards, content: new Uint8Array(pdf as ArrayBuffer) };
  });
  return printed(file, made);
}

export const verbs: Verbs = {
  ...batchVerbs,
  print: makeApiCommand({
    summary: "Make login cards for the students of a group and write them to a new PDF file.",
    args: argsNamed("groupId"),
    options: printOptions,
    remoteOnly,
    run: async (parts, { args: { groupId }, options: { file, newPasswords, noQr } }) => {
      const group = await bodyOf(parts.api.GET("/admin/v1/groups/{groupId}", { params: { path: { groupId } } }));
      const body = { groupId, newPasswords, withQr: !noQr };
      return print(parts, { schoolId: group.schoolId as SchoolId, file, body });
    },
  }),
  replace: makeApiCommand({
    summary: "Make a login card for one person, revoke their earlier one, and write it to a new PDF file.",
    args: argsNamed("personId"),
    options: { school: required(option.school("The school that is their home.")), ...printOptions },
    remoteOnly,
    run: (parts, { args: { personId }, options: { school: schoolId, file, newPasswords, noQr } }) =>
      print(parts, { schoolId, file, body: { personIds: [personId], newPasswords, withQr: !noQr } }),
  }),
  list: makeApiCommand({
    summary: "List the login cards of a school, the latest first, also those revoked in the last 90 days.",
    options: {
      school: required(option.school("The school.")),
      person: option.person("Only cards of this person."),
      limit: listOptions.limit,
      after: listOptions.after,
    },
    run: ({ api }, { options: { school: schoolId, person, ...part } }) => {
      const [path, query] = [{ schoolId }, omitUndefined({ person })];
      const read = (page: object) => api.GET(ofSchool, { params: { path, query: { ...query, ...page } } });
      return readListResult("cards", read, { ...part, columns });
    },
  }),
  revoke: makeApiCommand({
    summary: "Revoke login cards of a school and sign out the people who signed in with them.",
    options: {
      school: required(option.school("The school.")),
      person: option.people("Those of these people."),
      everybody: option.flag("Those of all people at the school."),
    },
    irreversible: "Nobody can sign in with the cards any more.",
    run: async ({ api }, { options: { school: schoolId, ...whose } }) => {
      const personIds = readWhose(whose);
      const body = personIds === undefined ? { everybody: true as const } : { personIds: [...personIds] };
      const { revoked: count } = await bodyOf(
        api.POST(`${ofSchool}/revocation`, { params: { path: { schoolId } }, body }),
      );
      return done(`${counted(count, "card")} revoked.`, { school: schoolId, revoked: count });
    },
  }),
};
