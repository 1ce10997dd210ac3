import { expect, test } from "vitest";
import { formTarget, pageHeaders } from "./csp.ts";

test("a page may send its form on to the app's origin and nowhere else", () => {
  const policy = pageHeaders([formTarget("https://app.example/callback?x=1")])["Content-Security-Policy"];
  expect(policy).toContain("form-action 'self' https://app.example;");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
});

test("a mobile app's own scheme is named by itself", () => {
  expect(formTarget("org.example.app:/callback")).toBe("org.example.app:");
});

test("no redirect address can write another directive into the policy", () => {
  for (const address of ["https://a.example/;script-src *", "https://user:pass@a.example/ x", "https://[::1]:8/;"]) {
    expect(formTarget(address)).toMatch(/^https:\/\/[^\s;,]+$/);
  }
  expect(() => formTarget("not an address")).toThrow();
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
