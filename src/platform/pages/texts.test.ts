import { expect, test } from "vitest";
import { emphasise, makeTranslator } from "./texts.ts";

const texts = { hello: "Hi {{name}} & co", wait_one: "{{count}} second", wait_other: "{{count}} seconds" };
const translate = makeTranslator({ de: texts, en: texts })("en");

test("a count chooses the form of the sentence", () => {
  expect(translate("wait", { count: 1 })).toBe("1 second");
  expect(translate("wait", { count: 2 })).toBe("2 seconds");
});

test("a text that does not exist is an error and never a page with a key on it", () => {
  expect(() => translate("goodbye")).toThrow("no text goodbye in en");
});

test("a value cannot bring in markup or other texts", () => {
  expect(emphasise(translate, "hello", { name: "<b>$t(wait){{count}}" })).toBe(
    "Hi <strong>&lt;b&gt;$t(wait){{count}}</strong> &amp; co",
  );
  expect(translate("hello", { name: "$t(wait) {{name}}" })).toBe("Hi $t(wait) {{name}} & co");
});
