import { bodyOf, omitUndefined, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Verbs } from "./command.ts";
import { counted, done, type Columns } from "./lines.ts";
import { writeNewFile } from "./new-file.ts";
import { option, required, UsageError } from "./option.ts";
import { argsNamed, lists } from "./verbs.ts";

const path = "/admin/v1/schools/{schoolId}/credential-batches";
const formats: readonly Schemas["CredentialFormat"][] = ["pdf", "csv"];
const roles: readonly Schemas["SchoolRole"][] = ["STUDENT", "TEACHER", "OTHER"];

const columns: Columns<Schemas["CredentialBatch"]> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  prepared: ({ prepared, people }) => `${prepared} of ${people}`,
  started: ({ createdAt }) => createdAt,
  until: ({ expiresAt }) => expiresAt,
};

/** Cards and passwords of several classes, as one job of the service. */
export const batchVerbs: Verbs = {
  prepare: makeApiCommand({
    summary: "Start preparing login cards, passwords or letters to parents for several classes, or for a whole school.",
    args: argsNamed("schoolId"),
    options: {
      group: option.groups("Only the students of these groups; the whole school if left out."),
      role: option.someOf(roles, "At the whole school, only people of these roles; students if left out."),
      newPasswords: option.flag("Give each person a password."),
      qr: option.flag("Give each person a card with a QR code."),
      letters: option.flag("Print a letter to parents above each card."),
      everybody: option.flag("Also people who have one already, which is replaced when you fetch the file."),
    },
    run: async (
      { api },
      { args, options: { group, role, newPasswords, qr: withQr, letters: withLetters, everybody } },
    ) => {
      if (!newPasswords && !withQr && !withLetters) throw new UsageError("Give --new-passwords, --qr or --letters.");
      const whom = omitUndefined({ groupIds: group && [...group], roles: role && [...role] });
      const body = { ...whom, newPasswords, withQr, withLetters, onlyMissing: !everybody };
      const batch = await bodyOf(api.POST(path, { params: { path: args, ...withIdempotencyKey() }, body }));
      const line = `Preparing ${counted(batch.people, "person", "people")}: batch ${batch.id}. Nothing changes before you fetch it.`;
      return { lines: [line], quiet: [batch.id], data: batch };
    },
  }),
  prepared: lists(path, {
    summary: "List what you are having prepared at a school, with its state and progress.",
    name: "batches",
    columns,
  }),
  fetch: makeApiCommand({
    summary: "Write prepared cards and passwords to a new file, which makes them valid. This works only once.",
    args: argsNamed("schoolId", "credentialBatchId"),
    options: {
      file: required(option.text("The file; it must not exist.", "path")),
      format: option.oneOf(
        formats,
        "A PDF with a section for each class, or a table with the passwords; pdf if left out.",
      ),
    },
    remoteOnly: "It makes the cards with the addresses that the service has.",
    run: async ({ api }, { args, options: { file, format = "pdf" } }) => {
      const params = { path: args, query: { format }, ...withIdempotencyKey() };
      const at = `${path}/{credentialBatchId}/document` as const;
      await writeNewFile(file, async () => {
        const document: unknown = await bodyOf(api.POST(at, { params, parseAs: "arrayBuffer" }));
        return { content: new Uint8Array(document as ArrayBuffer) };
      });
      return done(`Written to ${file}. It holds secrets: delete it when it is printed.`, { file });
    },
  }),
};
