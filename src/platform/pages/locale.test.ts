import { expect, test } from "vitest";
import { chooseLocale } from "./locale.ts";

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
