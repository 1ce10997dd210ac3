import type { SchoolId } from "../directory/index.ts";
import { bodyOf, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Service, type Verbs } from "./command.ts";
import type { Extensions } from "./contract-commands.ts";
import { counted, fullName } from "./lines.ts";
import { writeNewFile } from "./files.ts";
import { argsNamed, option, required } from "./option.ts";

const ofSchool = "/admin/v1/schools/{schoolId}/login-cards";

function printed(file: string, { cards, skipped }: Schemas["MadeLoginCards"]): Result {
  const left = skipped.map(({ personId, name, reason }) => `No card for ${personId}, ${fullName(name)}: ${reason}`);
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
    const pdf: unknown = await bodyOf(api.POST(`${ofSchool}/prints/{cardPrintId}`, { params, parseAs: "stream" }));
    return { ...cards, content: pdf as ReadableStream<Uint8Array> };
  });
  return printed(file, made);
}

export const verbs: Verbs = {
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
};

const everybody = option.flag("Also people who have one already, which is replaced when you fetch the file.");

export const extensions: Extensions = {
  prepare: {
    options: { everybody },
    body: (body, options) => ({ ...body, onlyMissing: options["everybody"] !== true }),
  },
};
