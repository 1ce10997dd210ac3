import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import {
  bundles,
  findBundle,
  listExamples,
  listOperations,
  listSchemaExamples,
  resolve,
  type Parameter,
} from "./bundles.ts";
import { makeCheck } from "../support/schema-check.ts";

describe.each(bundles)("$name", (bundle) => {
  const check = makeCheck(bundle.document);

  test("every example and every default is what its schema says", () => {
    const wrong = [...listExamples(bundle), ...listSchemaExamples(bundle)].flatMap(({ where, name, schema, value }) => {
      const fault = check(schema, value);
      return fault === "" ? [] : [`${where} ${name}: ${fault}`];
    });
    expect(wrong).toEqual([]);
  });

  test("every answer with a body has an example, and every parameter", () => {
    const exampled = new Set(listExamples(bundle).map(({ where }) => where));
    const bare = listOperations(bundle).flatMap(({ place, operation }) => {
      const answers = Object.entries(operation.responses).filter(
        ([, response]) => resolve(bundle, response).content !== undefined,
      );
      const wanted = [
        ...answers.map(([status]) => `${place} ${status}`),
        ...(operation.requestBody === undefined ? [] : [`${place} request`]),
      ];
      return wanted.filter((where) => !exampled.has(where));
    });
    expect(bare).toEqual([]);
    expect(listExamples(bundle).filter(({ value }) => value === undefined)).toEqual([]);
  });

  test("every operation documents an error of its audience's own form", () => {
    const forms = new Set(
      listOperations(bundle).flatMap(({ operation }) =>
        Object.entries(operation.responses).flatMap(([status, response]) =>
          status >= "400" ? Object.keys(resolve(bundle, response).content ?? {}) : [],
        ),
      ),
    );
    const own = {
      admin: ["application/problem+json"],
      idm: ["application/problem+json"],
      "sign-on": ["text/html", "application/json"],
      webhooks: [],
    }[bundle.name] ?? ["application/json"];
    expect([...forms].sort()).toEqual([...own].sort());
  });
});

test("an example that holds another one takes it by $ref", () => {
  const examples = globSync("openapi/examples/*.yaml").map((file) => {
    const { value } = parse(readFileSync(file, "utf8")) as { value?: unknown };
    return { file, value, text: JSON.stringify(value) ?? "" };
  });
  // Smaller ones, such as an empty list, are equal by chance.
  const names = new Map(examples.filter(({ text }) => text.length > 60).map(({ file, text }) => [text, file]));
  const copies: string[] = [];
  for (const { file, value } of examples)
    JSON.stringify(value, (_key, part: unknown) => {
      const other = typeof part === "object" ? names.get(JSON.stringify(part)) : undefined;
      if (other !== undefined && other !== file) copies.push(`${file}: ${other}`);
      return part;
    });
  expect(copies).toEqual([]);
});

test("the code names every parameter and every property of a request's body", () => {
  const sources = globSync("src/**/*.ts").map((file) => readFileSync(file, "utf8"));
  const words = new Set(sources.flatMap((text) => text.match(/"[\w.-]+"|[\w-]+/g)));
  for (const bundle of ["admin", "idm", "schulconnex"].map(findBundle)) {
    const names = listOperations(bundle).flatMap(({ operation: { parameters = [], requestBody } }) => [
      ...parameters.map((one) => resolve<Parameter>(bundle, one).name),
      ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
        Object.keys(resolve<{ properties?: object }>(bundle, schema).properties ?? {}),
      ),
    ]);
    expect(names.filter((name) => !words.has(name) && !words.has(`"${name}"`))).toEqual([]);
  }
});
