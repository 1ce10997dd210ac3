import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { readLocale } from "./read-locale.ts";

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
