import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { errors as libraryFaults } from "oidc-provider";
import { libraryErrors } from "../../src/sign-on/protocol/provider/answers.ts";
import { AppError, type ErrorKind } from "../../src/platform/errors.ts";
import { listErrors } from "../../src/publish/index.ts";
import { bundles } from "./bundles.ts";

type Found = { code: string; status: number };

/** The problems that the examples of the contract show. */
function problemsOf(value: unknown): Found[] {
  if (typeof value !== "object" || value === null) return [];
  const { type, code, status } = value as Record<string, unknown>;
  const own = typeof type === "string" && typeof code === "string" && typeof status === "number";
  return [...(own ? [{ code, status }] : []), ...Object.values(value).flatMap(problemsOf)];
}

/** Errors of the library that need a feature which is off: device flow, CIBA, DPoP, PAR, registration, credentials. */
const ofOtherFeatures =
  /pending|slow_down|expired|binding|attestation|metadata|credential|dpop|nonce|proof|request_object|invalid_request_uri|statement|target|user_code|user_id|details|temporarily|transaction|unmet|invalid_redirect_uri/;

const kinds = [
  ...["invalid", "unauthenticated", "forbidden", "not_found", "method_not_allowed", "conflict", "gone", "too_large"],
  ...["precondition_failed", "unsupported_type", "unprocessable", "rate_limited", "bug", "unavailable"],
];
const thrown = new RegExp(`"(${kinds.join("|")})",\\s*"([a-z]\\w+)"`, "g");

/** The code of the service, without the command line, the pages, Schulconnex and OneRoster, whose errors are others. */
const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$|^(cli|portal|schulconnex|oneroster)\//.test(file))
  .map((file) => readFileSync(join("src", file), "utf8"));

/** The refusals that the code names with their kind. */
const refusalsOfCode = (): Found[] =>
  sources.flatMap((text) =>
    [...text.matchAll(thrown)].map(([, kind, code]) => ({
      code: code!,
      status: new AppError(kind as ErrorKind, code!, "").status,
    })),
  );

describe("docs/errors.md", () => {
  const explained = listErrors();
  const statusOf = new Map(explained.map(({ code, text }) => [code, Number(/^Status (\d{3})\. /m.exec(text)?.[1])]));

  test.each([
    ["the contract shows", problemsOf(bundles.map(({ document }) => document))],
    ["the code names", refusalsOfCode()],
  ])("explains every error that %s, with its status", (_where, found) => {
    expect(found.length).toBeGreaterThan(80);
    expect(found.filter(({ code, status }) => statusOf.get(code) !== status)).toEqual([]);
  });

  test("explains every error that the library can answer with, whose features are on", () => {
    const raised = Object.values(libraryFaults).flatMap((Fault) => {
      const { error } = new (Fault as new (...given: string[]) => { error?: string })("", "");
      return error === undefined || error === "" ? [] : [error];
    });
    expect(
      [...new Set(raised)].filter((error) => !ofOtherFeatures.test(error) && !libraryErrors.includes(error)),
    ).toEqual([]);
    expect(libraryErrors.filter((error) => !statusOf.has(error))).toEqual([]);
  });

  test("explains none that the service does not answer", () => {
    const made = (code: string) => new RegExp(`\\b${code}\\b|"${code.replace(/^import_/, "").toUpperCase()}"`);
    expect(explained.map(({ code }) => code).filter((code) => !sources.some((text) => made(code).test(text)))).toEqual(
      [],
    );
  });

  test("explains each once, and says what to do", () => {
    const codes = explained.map(({ code }) => code);
    expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([]);
    expect(explained.filter(({ text }) => !/^\*\*What to do:\*\* ./m.test(text)).map(({ code }) => code)).toEqual([]);
  });
});
