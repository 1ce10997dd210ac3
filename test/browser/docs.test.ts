import express from "express";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { makePageAssets } from "../../src/platform/pages/index.ts";
import { makePublishRouter } from "../../src/publish/index.ts";
import { expectAccessibleEverywhere, expectReadable, useBrowser } from "./support/browser.ts";
import { serve } from "../support/serve.ts";

const { newPage } = useBrowser();
let url: string;

beforeAll(async () => {
  const app = express();
  url = await serve(app);
  app.use(
    makePageAssets(),
    makePublishRouter({
      platform: "schultor",
      baseUrl: url,
      issuerUrl: url,
      packages: { repository: null, licence: "MIT" },
      withoutPkce: { deprecatedAt: new Date("2026-12-01T00:00:00Z"), sunsetAt: new Date("2028-08-01T00:00:00Z") },
      isReady: async () => true,
    }),
  );
});

function listForeignRequests(page: Page): string[] {
  const foreign: string[] = [];
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(url)) foreign.push(request.url());
  });
  return foreign;
}

test("the pages are accessible, or readable where they are prose, on every screen and in the dark", async () => {
  const page = await newPage({ size: "phone" });
  for (const path of ["", "/search?q=token", "/search?q=zeppelin", "/status", "/rules", "/rules/idm-statuses"]) {
    await page.goto(`${url}/docs${path}`);
    await expectAccessibleEverywhere(page, path);
  }
  const prose = [
    "client-credentials",
    "not-found",
    "errors",
    "changelog",
    "promises",
    "privacy",
    "../openapi",
    "../guide",
  ];
  for (const name of [...prose, "../guide/data-protection", "../guide/own-login"]) {
    await page.goto(`${url}/docs/${name}`);
    await expectAccessibleEverywhere(page, name, expectReadable);
  }
});

test.each([
  ["idm", "List the people of a school", "phone"],
  ["schulconnex", "Get the record of the signed-in person", "desk"],
  ["schulconnex-1.7", "Get the record of the signed-in person", "whiteboard"],
  ["sign-on", "Sign a person in", "phone"],
  ["webhooks", "Receive a person event", "desk"],
] as const)("the reference of %s is drawn, accessible, and asks nobody else", async (name, operation, size) => {
  const page = await newPage({ size });
  const foreign = listForeignRequests(page);
  await page.goto(`${url}/docs/${name}`);
  await page.getByRole("heading", { name: operation }).first().waitFor();
  await expectReadable(page);
  expect(foreign).toEqual([]);
});

test("a language is chosen without JavaScript", async () => {
  const page = await newPage({ javaScript: false });
  await page.goto(`${url}/docs/client-credentials`);
  const tabs = page.getByRole("group", { name: "The same in several languages" }).first();
  await expect.poll(() => tabs.getByText("import base64").isVisible()).toBe(false);
  await tabs.getByLabel("Python").check();
  await expect.poll(() => tabs.getByText("import base64").isVisible()).toBe(true);
  await expect.poll(() => tabs.getByText("curl -s").isVisible()).toBe(false);
});

test("a chosen language stays on other pages, and a program is copied without its output", async () => {
  const page = await newPage({ size: "desk" });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  // The button says for two seconds that it copied; meanwhile the clock stands still.
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1000);
  await page.goto(`${url}/docs/client-credentials`);
  await page.getByLabel("PHP").first().check();
  await page.goto(`${url}/docs/first-load`);
  await expect.poll(() => page.getByLabel("PHP").first().isChecked()).toBe(true);
  await page.getByRole("button", { name: "Copy" }).first().click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const copied = await page.evaluate<string>("navigator.clipboard.readText()");
  expect(copied).toBe(`curl -s -H "Authorization: Bearer $TOKEN" ${url}/idm/ep/v1/changes\n`);
});

test("a search without JavaScript leads to an operation of a reference", async () => {
  const page = await newPage({ javaScript: false });
  await page.goto(`${url}/docs`);
  await page.getByLabel("Search").fill("getUser");
  await page.getByRole("button", { name: "Search" }).click();
  const link = page.locator(".found").getByRole("link", { name: "IDM API: Get a user" });
  const path = await link.getAttribute("href");
  const reference = await newPage();
  await reference.goto(`${url}${path!}`);
  await expect.poll(() => reference.evaluate("scrollY")).toBeGreaterThan(1000);
  await reference.getByRole("heading", { name: "Get a user" }).first().waitFor();
});

test("an operation is found by searching", async () => {
  const page = await newPage({ size: "desk" });
  await page.goto(`${url}/docs/idm`);
  await page.getByPlaceholder("Search...").fill("members");
  await page.getByRole("search").getByText("Get a group with its members").first().waitFor();
});

test("what a reference draws later is accessible too", async () => {
  const page = await newPage({ size: "desk", colorScheme: "dark" });
  await page.goto(`${url}/docs/webhooks`);
  await page
    .getByRole("button", { name: /^default/ })
    .first()
    .click();
  await page.getByText("Seconds, or a date, before which not to retry").first().waitFor();
  await expectReadable(page);
});

test("without JavaScript the reference leads to the description itself", async () => {
  const page = await newPage({ javaScript: false });
  await page.goto(`${url}/docs/idm`);
  await expect.poll(() => page.getByRole("link", { name: "idm.yaml" }).getAttribute("href")).toBe("/openapi/idm.yaml");
});
