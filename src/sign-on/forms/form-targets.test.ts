import { expect, test } from "vitest";
import { formTargetsOf } from "./form-targets.ts";

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
