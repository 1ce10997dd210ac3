import { activities, type Activity } from "./activities.ts";
import type { DataCategory } from "./categories.ts";
import { periodText, type Days, type PeriodCode } from "./periods.ts";
import { storedColumns, type StoredTable } from "./stored-columns.ts";
import type { Words } from "./words.ts";

/** The tables that hold data of a category, and until when the service keeps it. */
export function keptFor(category: DataCategory, days: Days): { tables: string[]; text: Words } {
  const found = Object.entries<StoredTable>(storedColumns).filter(([, table]) => table[category] !== undefined);
  const activity = Object.values<Activity>(activities).find(({ data }) => data.includes(category));
  const codes = new Set<PeriodCode>([...found.map(([, { until }]) => until), ...(activity?.periods ?? [])]);
  // What is deleted with the person is deleted then too.
  if (codes.has("LEFT")) codes.delete("WITH_PERSON");
  const texts = [...codes].map((code) => periodText(code, days));
  const text = { de: texts.map(({ de }) => de).join("; "), en: texts.map(({ en }) => en).join("; ") };
  return { tables: found.map(([name]) => name), text };
}
