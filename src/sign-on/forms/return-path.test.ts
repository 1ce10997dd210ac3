import { expect, test } from "vitest";
import { readReturnPath } from "./return-path.ts";

test.each(["/", "/admin", "/admin/people?search=Bo&page=2", "/partner/apps/x", "/admin/a%20b"])(
  "%s is a path to go on to",
  (path) => expect(readReturnPath(path)).toBe(path),
);

test.each([
  "https://evil.example/",
  "//evil.example/",
  "/\\evil.example/",
  "\\\\evil.example",
  "/x/..//evil.example",
  "/.//evil.example",
  "/\t/evil.example",
  "/\n/evil.example",
  "javascript:alert(1)",
  "admin",
  "",
  " /admin",
  "/admin\r\nSet-Cookie: a=b",
  `/${"a".repeat(3000)}`,
  undefined,
  ["/admin", "/x"],
])("%j leads to the start instead", (asked) => expect(readReturnPath(asked)).toBe("/"));
