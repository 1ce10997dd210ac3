import type { Schemas } from "./admin-api.ts";
import type { Result } from "./command.ts";
import { withOwnId, type Extensions } from "./contract-commands.ts";
import { recordLines } from "./lines.ts";
import { option } from "./option.ts";

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

const languages = ["de", "en"] as const;

export const extensions: Extensions = {
  create: withOwnId(async () => (await import("./local/own-ids.ts")).createSchoolWithId),
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
