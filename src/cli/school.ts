import { readFile } from "node:fs/promises";
import type { Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Verbs } from "./command.ts";
import { withOwnId, type Extensions } from "./contract-commands.ts";
import { done, recordLines } from "./lines.ts";
import { argsNamed, option, UsageError } from "./option.ts";
import { dashed } from "./read-call.ts";

function show(shown: Schemas["AdminSchool"]): Result {
  const { id, address, location, ...named } = shown;
  const parts = [address.address, address.addressAddition, `${address.zipCode} ${address.city}`];
  const lines = recordLines({
    id,
    ...Object.fromEntries(
      Object.entries(named).map(([name, value]) => [dashed(name).replaceAll("-", " "), value] as const),
    ),
    address: parts.filter(Boolean).join(", "),
    country: `${location.country}-${location.state}`,
  });
  return { lines, quiet: [id], data: shown };
}

function showRecord(data: Schemas["ProcessingRecord"], language: "de" | "en"): Result {
  const { activities } = data;
  const read = (text: Schemas["AppText"]) => text[language] ?? text.de ?? text.en ?? "";
  const all = (terms: readonly Schemas["PrivacyTerm"][]) => terms.map(({ text }) => read(text)).join("; ");
  const named = (activity: (typeof activities)[number]) => ({
    activity: read(activity.name),
    purpose: read(activity.purpose),
    people: all(activity.people),
    data: all(activity.data),
    withheld: all(activity.withheld),
    recipients: activity.recipients.map(({ name, contact }) => [name, contact].filter(Boolean).join(", ")).join("; "),
    kept: [...new Set(activity.data.map(({ kept }) => read(kept)))].join("; "),
    agreement: activity.agreement?.version ?? "",
  });
  const rows = activities.map(named);
  return {
    lines: rows.flatMap((row) => ["", ...recordLines(row)]).slice(1),
    csv: { columns: Object.keys(rows[0]!), rows: rows.map((row) => Object.values(row)) },
    quiet: activities.map(({ code }) => code),
    data,
  };
}

const letter = "/admin/v1/schools/{schoolId}/parent-letter";

export const verbs: Verbs = {
  "set-letter": makeApiCommand({
    summary: "Change the text of the letter to parents.",
    args: argsNamed("schoolId"),
    options: {
      file: option.text("A text file in UTF-8.", "path"),
      default: option.flag("Use the default text again."),
    },
    run: async ({ api }, { args: path, options: { file, default: isDefault } }) => {
      if (isDefault === (file !== undefined)) throw new UsageError("Give either --file or --default.");
      const utf8 = new TextDecoder("utf-8", { fatal: true });
      const text = file === undefined ? null : utf8.decode(await readFile(file)).trim();
      await api.PUT(letter, { params: { path }, body: { text } });
      return done("Letter to parents changed.", { id: path.schoolId, text });
    },
  }),
};

const languages = ["de", "en"] as const;

export const extensions: Extensions = {
  create: withOwnId(async () => (await import("./local/own-ids.ts")).createSchoolWithId),
  show: { print: show },
  letter: {
    print: (shown: Schemas["ParentLetter"]) => ({
      lines: [shown.text ?? shown.defaults.en],
      isFile: true,
      data: shown,
    }),
  },
  "processing-record": {
    options: { language: option.oneOf(languages, "Language of the texts; en if left out.") },
    print: (record: Schemas["ProcessingRecord"], { language = "en" }) => showRecord(record, language as "de" | "en"),
  },
};
