import { storedData } from "../../generated/tables/stored-data.ts";
import { activities, type Activity } from "./activities.ts";
import { periodText, type Days, type PeriodCode } from "./periods.ts";
import type { DataCategory, Words } from "./words.ts";

type StoredTable = {
  until: PeriodCode | null;
  columns: Readonly<Record<string, DataCategory | "none">>;
};

/** The tables of the database by name, with what the comments of prisma/schema say of their columns. */
export const storedTables: Readonly<Record<string, StoredTable>> = storedData;

/** Tables that are listed first; the others follow in the order of prisma/schema. */
const namedFirst = [
  "person",
  "app_event",
  "credential_batch",
  "credential_batch_person",
  "card_print",
  "password_request",
];
const rankOf = (table: string): number => (namedFirst.includes(table) ? namedFirst.indexOf(table) : namedFirst.length);

/** The tables that hold data of a category, and until when the service keeps it. */
export function keptFor(category: DataCategory, days: Days): { tables: string[]; text: Words } {
  const tables = Object.entries(storedTables)
    .filter(([, { columns }]) => Object.values(columns).includes(category))
    .sort(([one], [other]) => rankOf(one) - rankOf(other));
  const activity = Object.values<Activity>(activities).find(({ data }) => data.includes(category));
  const codes = new Set([...tables.flatMap(([, { until }]) => until ?? []), ...(activity?.periods ?? [])]);
  // What is deleted with the person is deleted then too.
  if (codes.has("LEFT")) codes.delete("WITH_PERSON");
  const texts = [...codes].map((code) => periodText(code, days));
  const text = { de: texts.map(({ de }) => de).join("; "), en: texts.map(({ en }) => en).join("; ") };
  return { tables: tables.map(([name]) => name), text };
}
