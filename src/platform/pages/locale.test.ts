import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { chooseLocale, readLocale } from "./locale.ts";

test("the app's wish goes before the browser's", () => {
  expect(chooseLocale({ uiLocales: "en-GB de", acceptLanguage: "de" })).toBe("en");
});

test("what the person picked goes before everything", () => {
  expect(chooseLocale({ picked: "de", uiLocales: "en", acceptLanguage: "en" })).toBe("de");
});

test("the browser's languages count by their weight", () => {
  expect(chooseLocale({ acceptLanguage: "de;q=0.3, fr, en-US;q=0.8" })).toBe("en");
  expect(chooseLocale({ acceptLanguage: "en;q=0, de;q=0.1" })).toBe("de");
});

test("a language nobody here speaks is answered in German", () => {
  expect(chooseLocale({ picked: "<script>", uiLocales: "tr", acceptLanguage: "fr-FR, *;q=0.5" })).toBe("de");
  expect(chooseLocale({})).toBe("de");
});

const ask = (url: string, headers: Record<string, string>, uiLocales?: string) =>
  readLocale({ url, headers } as unknown as IncomingMessage, uiLocales);

test("what the person picks counts, and what they picked before", () => {
  expect(ask("/?lang=en", { cookie: "_lang=de" }, "de")).toBe("en");
  expect(ask("/", { cookie: "_session=1; _lang=en" }, "de")).toBe("en");
});

test("without a pick it is the app's wish, then the browser's", () => {
  expect(ask("/", { cookie: "x_lang=de", "accept-language": "de" }, "en")).toBe("en");
  expect(ask("//?lang=tr", { cookie: "_lang=tr", "accept-language": "en" })).toBe("en");
});
