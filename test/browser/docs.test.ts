import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makePageAssets } from "../../src/platform/pages/index.ts";
import { makePublishRouter } from "../../src/publish/index.ts";
import { expectAccessible, expectReadable, useBrowser, type Look } from "./support/browser.ts";

const { newPage } = useBrowser();
let server: Server;
let url: string;

beforeAll(async () => {
  const app = express();
  server = createServer(app).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  app.use(makePageAssets(), makePublishRouter({ platform: "schultor", baseUrl: url, issuerUrl: url }));
});
afterAll(() => server.close());

const looks: Look[] = [{ size: "phone" }, { size: "desk", colorScheme: "dark" }, { size: "whiteboard" }];

function listForeignRequests(page: Page): string[] {
  const foreign: string[] = [];
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(url)) foreign.push(request.url());
  });
  return foreign;
}

describe.each(looks)("on a $size", (look) => {
  test("the guide is accessible and fits", async () => {
    const page = await newPage(look);
    await page.goto(`${url}/docs`);
    await expectAccessible(page);
  });

  test.each([
    ["idm", "List the people of a school"],
    ["schulconnex", "Get the record of the signed-in person"],
    ["schulconnex-1.7", "Get the record of the signed-in person"],
    ["sign-on", "Sign a person in"],
    ["webhooks", "Be told that a person changed"],
  ])("the reference of %s is drawn, accessible, and asks nobody else", async (name, operation) => {
    const page = await newPage(look);
    const foreign = listForeignRequests(page);
    await page.goto(`${url}/docs/${name}`);
    await page.getByRole("heading", { name: operation }).first().waitFor();
    await expectReadable(page);
    expect(foreign).toEqual([]);
  });
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
  await page.getByText("Seconds, or a date, before which it should not be tried again").first().waitFor();
  await expectReadable(page);
});

test("without JavaScript the reference leads to the description itself", async () => {
  const page = await newPage({ javaScript: false });
  await page.goto(`${url}/docs/idm`);
  await expect.poll(() => page.getByRole("link", { name: "idm.yaml" }).getAttribute("href")).toBe("/openapi/idm.yaml");
});
