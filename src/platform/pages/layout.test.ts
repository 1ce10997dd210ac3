import { expect, test } from "vitest";
import { pageHeaders } from "./layout.ts";

test("a page may send its form on as it says and nowhere else", () => {
  expect(pageHeaders()["Content-Security-Policy"]).toContain("form-action 'self';");
  const policy = pageHeaders(["https:", "org.example.app:", "https:"])["Content-Security-Policy"];
  expect(policy).toContain("form-action 'self' https: org.example.app:;");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
});

test("nothing is cached and nothing is guessed about a page's type", () => {
  expect(pageHeaders()).toMatchObject({ "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" });
});

test("a page runs scripts only where it needs them, and only those of this origin", () => {
  expect(pageHeaders()["Content-Security-Policy"]).not.toContain("script-src");
  const policy = pageHeaders([], true)["Content-Security-Policy"];
  expect(policy).toContain("script-src 'self'; connect-src 'self';");
  expect(policy).not.toContain("unsafe");
});
