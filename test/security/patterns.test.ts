import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import { loadDocument } from "../../src/platform/http/index.ts";
import { documentNames } from "../exchanges/check.ts";

/** Every pattern that a document holds values against. */
function listPatterns(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== "object" || value === null) return found;
  for (const [name, inner] of Object.entries(value)) {
    if (name === "pattern" && typeof inner === "string") found.add(inner);
    else listPatterns(inner, found);
  }
  return found;
}

const length = 100_000;

/** Long texts out of what the pattern itself names, each of which fails only at its end. */
function makeTexts(pattern: string): string[] {
  const named = [...new Set([..."aA0", ...pattern.replaceAll(/[a-zA-Z0-9\\()[\]{}*+?^$|]/g, "")])];
  const pieces = [...named, ...named.flatMap((one) => named.map((other) => one + other))];
  return pieces.flatMap((piece) => {
    const repeated = piece.repeat(Math.ceil(length / piece.length));
    return [`${repeated}\u0000`, `${piece}=${repeated}\u0000`];
  });
}

/** Shape: one text after another; a pattern whose time grows with the square of the length does not end in time. */
function isSlow(pattern: string): boolean {
  const context = createContext({ pattern: new RegExp(pattern, "u"), text: "" });
  return makeTexts(pattern).some((text) => {
    context["text"] = text;
    try {
      runInContext("pattern.test(text)", context, { timeout: 10_000 });
      return false;
    } catch {
      return true;
    }
  });
}

test("no pattern of a contract takes long for a long text that almost fits", async () => {
  const patterns = new Set<string>();
  for (const name of [...documentNames, "webhooks"]) listPatterns(await loadDocument(name, "schultor"), patterns);
  expect(patterns.size).toBeGreaterThan(10);
  expect([...patterns].filter((pattern) => isSlow(pattern))).toEqual([]);
});
