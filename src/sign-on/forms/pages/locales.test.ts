import { expect, test } from "vitest";
import { scopeNames } from "../../../access/index.ts";
import type { FailureCode } from "../../../upstream/index.ts";
import frameGerman from "../../../platform/pages/locales/de.json" with { type: "json" };
import frameEnglish from "../../../platform/pages/locales/en.json" with { type: "json" };
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };
import type { CardProblemModel, ErrorModel, RefusalModel } from "./models.ts";

function keysOf(texts: object, prefix = ""): string[] {
  return Object.entries(texts).flatMap(([key, value]) =>
    typeof value === "object" && value !== null ? keysOf(value as object, `${prefix}${key}.`) : [`${prefix}${key}`],
  );
}

function textsOf(texts: object): string[] {
  return Object.values(texts).flatMap((value) => (typeof value === "string" ? [value] : textsOf(value as object)));
}

test("German and English have the same texts", () => {
  expect(keysOf(english)).toEqual(keysOf(german));
  expect(keysOf(frameEnglish)).toEqual(keysOf(frameGerman));
});

test("no text is empty and every text names the same values in both languages", () => {
  const values = (texts: object) =>
    textsOf(texts).map((text) => (text === "" ? "empty" : (text.match(/\{\{\w+\}\}/g) ?? []).sort().join()));
  expect(values(english)).toEqual(values(german));
  expect(values(german)).not.toContain("empty");
});

test("every scope has a sentence", () => {
  expect(Object.keys(german.consent.short).sort()).toEqual([...scopeNames].sort());
});

test("every reason of an error page has a heading and a sentence", () => {
  type Said<Part extends string, Reason extends string> = Record<Part, Record<Reason, string>>;
  const said = [
    german.error satisfies Said<"heading" | "lead", ErrorModel["reason"]>,
    german.card.problem satisfies Said<"heading" | "lead", CardProblemModel["reason"]>,
    german["upstream-failure"] satisfies Said<"heading" | "why" | "help", FailureCode>,
    german.refusal satisfies Said<"why" | "help", RefusalModel["reason"]>,
  ];
  expect(keysOf(said)).toEqual(expect.arrayContaining(["0.lead.bug", "1.lead.hours", "3.why.no_grant"]));
});
