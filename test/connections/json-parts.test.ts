import fc from "fast-check";
import { expect, test } from "vitest";
import type { SourceError } from "../../src/connections/sources/failure.ts";
import { walks } from "../support/walks.ts";
import { makeJsonReader, type JsonPart } from "../../src/connections/sources/json-parts.ts";

async function read(text: string, size = text.length || 1): Promise<JsonPart[]> {
  const reader = makeJsonReader();
  const parts: JsonPart[] = [];
  for (let at = 0; at < text.length; at += size) parts.push(...reader.push(text.slice(at, at + size)));
  reader.end();
  return parts;
}
const failure = (text: string) =>
  read(text).then(
    () => "read",
    (error: unknown) => (error as SourceError).code,
  );

test("lists in an object are read item by item, and its other properties whole", async () => {
  const text = `{"no": 7, "a": [{"b": [1, "]"]}, 2], "c": {"d": [3]}, "e": []}`;
  expect(await read(text)).toEqual([
    { name: "no", value: 7, isItem: false },
    { name: "a", value: { b: [1, "]"] }, isItem: true },
    { name: "a", value: 2, isItem: true },
    { name: "c", value: { d: [3] }, isItem: false },
  ]);
});

test("any list and any object of lists is read as JSON.parse reads it, however it arrives", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.array(fc.jsonValue()),
        fc.dictionary(
          fc.string().filter((name) => name !== "__proto__"),
          fc.array(fc.jsonValue(), { minLength: 1 }),
        ),
      ),
      fc.integer({ min: 1, max: 9 }),
      async (value, size) => {
        const parts = await read(JSON.stringify(value), size);
        const lists = new Map<string, unknown[]>();
        for (const { name, value: item } of parts) lists.set(name, [...(lists.get(name) ?? []), item]);
        const found = Array.isArray(value) ? (lists.get("") ?? []) : Object.fromEntries(lists);
        expect(JSON.stringify(found)).toEqual(JSON.stringify(JSON.parse(JSON.stringify(value))));
      },
    ),
    walks(1000),
  );
});

test("a text that ends too early is half, and any other text that is no such JSON is bad", async () => {
  expect(await Promise.all([`[{"a": 1}, {"b"`, `{"a": [1, 2]`, `{"a": "`, "["].map(failure))).toEqual(
    Array(4).fill("HALF"),
  );
  const deep = `[${"[".repeat(40)}${"]".repeat(40)}]`;
  const texts = ["", "<html>", "7", `"a"`, "[1]]", "[1] [2]", `[{"a": 1]`, `{"a" [1]}`, "[a]", deep];
  expect(await Promise.all(texts.map(failure))).toEqual(texts.map(() => "ANSWERED_BADLY"));
  expect(await failure(`["${"x".repeat(2 ** 20)}"]`)).toBe("ANSWERED_BADLY");
});

test("the reason of a bad answer quotes nothing of it", async () => {
  const error = await read(`[{"nachname": Mustermann}]`).catch((caught: unknown) => caught);
  expect(JSON.stringify([error, (error as Error).message, (error as Error).cause])).not.toContain("Muster");
});
