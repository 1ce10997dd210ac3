import { expect, test } from "vitest";
import { formTargetsOf, readReturnPath } from "./page-request.ts";

const [https, http, device] = ["https://app.example/callback", "http://127.0.0.1:4700/callback", "org.example.app:/in"];

test.each([
  ["an app on the web", "https://id.example", { to: https, app: { redirectUris: [https] } }, ["https:"]],
  ["in development", "http://localhost:3000", { to: https, app: { redirectUris: [https] } }, ["https:", "http:"]],
  ["an app on this device", "https://id.example", { to: "http://[::1]:4700/callback" }, ["https:", "http:"]],
  [
    "an app on a phone whose callback on the web opens it",
    "https://id.example",
    { to: https, app: { redirectUris: [https, device] } },
    ["https:", "org.example.app:"],
  ],
  [
    "an app on a phone that signs out",
    "https://id.example",
    { app: { redirectUris: [], postLogoutRedirectUris: [device] } },
    ["https:", "org.example.app:"],
  ],
  [
    "a website whose developers have another address",
    "https://id.example",
    { to: https, app: { redirectUris: [http] } },
    ["https:"],
  ],
  ["the login of a school", "https://id.example", {}, ["https:"]],
])("the forms of %s lead to the schemes of its addresses", (_, issuerUrl, way, targets) => {
  expect([...new Set(formTargetsOf({ issuerUrl, ...way }))]).toEqual(targets);
});

test("no address writes another directive into the policy", () => {
  for (const to of ["https://a.example/;script-src *", "org.example.app:;script-src *", "https://[::1]:8/;"])
    for (const target of formTargetsOf({ issuerUrl: "https://id.example", to })) expect(target).toMatch(/^[a-z.]+:$/);
});

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
