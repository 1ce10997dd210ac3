import { expect, test } from "vitest";
import { periodText, retentionText, type Days, type PeriodCode } from "./periods.ts";
import { retentionWords } from "./words.ts";
import words from "./words.json" with { type: "json" };

const daysOf = (count: number): Days => ({
  deletedPersonDays: count,
  auditDays: count,
  eventDays: count,
  deliveryDays: count,
  recordDays: count,
  erasureDays: count,
  leftMonths: count,
  inactiveMonths: count,
});

const textsOf = (count: number): string[] =>
  [
    ...(Object.keys(words.periods) as PeriodCode[]).map((code) => periodText(code, daysOf(count))),
    ...(Object.keys(retentionWords) as (keyof typeof retentionWords)[]).map((word) => retentionText(word, count)),
  ].flatMap(({ de, en }) => [de, en]);

test("a period of 1 is in the singular, and no placeholder is left", () => {
  expect(periodText("LEFT", daysOf(1))).toEqual({
    de:
      "1 Monat nach dem Ausscheiden aus der letzten Schule und danach noch 1 Tag (bis dahin ist die Person " +
      "wiederherstellbar); ebenso nach 1 Monat ohne Anmeldung",
    en:
      "1 month after the person left their last school and then 1 day (until then they can be restored); " +
      "the same after 1 month without a sign-in",
  });
  for (const count of [1, 7]) expect(textsOf(count).filter((text) => /[{}]|undefined/.test(text))).toEqual([]);
  expect(textsOf(1).filter((text) => /\b1 (Tage|Monate|days|months)/.test(text))).toEqual([]);
});
