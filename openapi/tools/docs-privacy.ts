import { readFileSync } from "node:fs";
import { join } from "node:path";
import { appAttributes, attributesOf, scopeNames, type AppAttribute, type ScopeName } from "../../src/access/index.ts";
import { options } from "../../src/config/index.ts";
import { auditActions } from "../../src/events/index.ts";
import {
  activities,
  dataCategories,
  keptFor,
  measures,
  peopleCategories,
  variables,
  type Activity,
  type DataCategory,
  type Days,
  type Words,
} from "../../src/privacy/index.ts";

type Language = keyof Words;

const headings = {
  activities: {
    de: ["Verarbeitung", "Zweck", "Betroffene Personen"],
    en: ["Processing", "Purpose", "People concerned"],
  },
  data: {
    de: ["Daten", "Tabellen", "Löschung"],
    en: ["Data", "Tables", "Deletion"],
  },
  periods: { de: ["Einstellung", "Vorgabe"], en: ["Setting", "Default"] },
  scopes: { de: ["Scope", "Daten, die eine App damit erhält"], en: ["Scope", "Data that an app gets with it"] },
} as const;

const outside = { de: "außerhalb der Datenbank", en: "outside the database" };
const onlyWith = { de: "nur mit", en: "only with" };
const daysWord = { de: "Tage", en: "days" };

const writeTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

const code = (text: string): string => `\`${text}\``;

const days = {
  ...Object.fromEntries(Object.entries(variables).map(([name, variable]) => [name, Number(options[variable].default)])),
  leftMonths: 0,
  inactiveMonths: 0,
} as Days;

const writeData = (language: Language): string =>
  writeTable(
    headings.data[language],
    Object.values<Activity>(activities).flatMap(({ data }) =>
      data.map((category) => {
        const { tables, text } = keptFor(category, days);
        return [dataCategories[category][language], tables.map(code).join(", ") || outside[language], text[language]];
      }),
    ),
  );

const writeActivities = (language: Language): string =>
  writeTable(
    headings.activities[language],
    Object.values<Activity>(activities).map(({ name, purpose, people }) => [
      name[language],
      purpose[language],
      people.map((category) => peopleCategories[category][language]).join(", "),
    ]),
  );

const writePeriods = (language: Language): string =>
  writeTable(
    headings.periods[language],
    Object.values(variables).map((variable) => [code(variable), `${options[variable].default} ${daysWord[language]}`]),
  );

const learns = (scope: ScopeName, granted: AppAttribute[]): DataCategory[] =>
  attributesOf({
    type: "CONFIDENTIAL",
    scopes: ["openid", scope],
    granted,
    maySignIn: true,
    isUser: true,
    isPerson: true,
    schools: [true],
    groups: [true],
  });

/** The attribute of its registration without which an app does not get the data. */
const neededFor = (scope: ScopeName, category: DataCategory): AppAttribute | undefined =>
  appAttributes.find(
    (one) =>
      !learns(
        scope,
        appAttributes.filter((other) => other !== one),
      ).includes(category),
  );

function writeScopes(language: Language): string {
  const rows = scopeNames
    .map((scope) => ({ scope, data: learns(scope, [...appAttributes]) }))
    .filter(({ data }) => data.length > 0)
    .map(({ scope, data }) => {
      const described = data.map((category) => {
        const attribute = neededFor(scope, category);
        const words = dataCategories[category][language];
        return attribute === undefined ? words : `${words} (${onlyWith[language]} ${code(attribute)})`;
      });
      return [code(scope), described.join("; ")];
    });
  return writeTable(headings.scopes[language], rows);
}

const writeMeasures = (language: Language): string =>
  Object.values<Words>(measures)
    .map((measure) => `- ${measure[language].replace(/^[^:]+/, (name) => `**${name}**`)}`)
    .join("\n");

/** What the audit log records, in the words of its page. */
function writeAudit(language: Language): string {
  const file = join(import.meta.dirname, `../../src/portal/frame/locales/${language}.json`);
  const { frame } = JSON.parse(readFileSync(file, "utf8")) as { frame: { action: Record<string, string> } };
  const texts = auditActions.map((action) => frame.action[action]!);
  return `${[...new Set(texts)].join(";\n")}.`;
}

const writers = {
  activities: writeActivities,
  data: writeData,
  periods: writePeriods,
  scopes: writeScopes,
  measures: writeMeasures,
  audit: writeAudit,
} as const;

/** The tables of the data sheet, in one language. */
export const privacyTables = (language: Language): Readonly<Record<string, () => string>> =>
  Object.fromEntries(Object.entries(writers).map(([name, write]) => [name, () => write(language)]));
