import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { GroupId } from "../../src/directory/index.ts";
import { makePageAssets, type Locale } from "../../src/platform/pages/index.ts";
import * as signOnPages from "../../src/sign-on/forms/pages/index.ts";
import { expectAccessible, useBrowser, type Look } from "./support/browser.ts";
import { everyPage } from "./support/every-page.ts";

const { newPage } = useBrowser();
let server: Server;
let url: string;

beforeAll(async () => {
  const app = express().use(makePageAssets());
  app.get("/:locale/:name", (req, res) => {
    const languageUrl = (locale: Locale) => `/${locale}/${encodeURIComponent(req.params.name)}`;
    const page = everyPage[req.params.name]!({ locale: req.params.locale as Locale, languageUrl, formTargets: [] });
    res.status(page.status).set(page.headers).send(page.html);
  });
  server = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const looks: Look[] = [
  { locale: "de", colorScheme: "light", size: "phone" },
  { locale: "en", colorScheme: "dark", size: "phone" },
  { locale: "en", colorScheme: "light", size: "desk" },
  { locale: "de", colorScheme: "dark", size: "whiteboard" },
];

/** The form for the app stays, which its script would post. */
const newPageThatStays = async (look: Look): Promise<Page> => {
  const page = await newPage(look);
  await page.route("**/assets/form-post-*.js", (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
  return page;
};

test.each(looks)("every page is accessible and fits: $locale, $colorScheme, $size", async (look) => {
  const page = await newPageThatStays(look);
  for (const name of Object.keys(everyPage)) {
    await page.goto(`${url}/${look.locale}/${encodeURIComponent(name)}`);
    await expectAccessible(page, name);
  }
});

test("no page of the sign-on is left out", () => {
  const list = readFileSync(new URL("support/every-page.ts", import.meta.url), "utf8");
  const left = Object.keys(signOnPages).filter((name) => name.startsWith("render") && !list.includes(`pages.${name}(`));
  expect(left).toEqual([]);
});

test("a page with a fault does not pass for accessible", async () => {
  const page = await newPage();
  await page.setContent(
    '<html lang="de"><title>t</title><main><h1>x</h1><input><button style="height:9px">y</button></main></html>',
  );
  await expect(expectAccessible(page)).rejects.toThrow("label");
  await page.setContent('<html lang="de"><title>t</title><main><h1>x</h1><p style="width:200vw">y</p></main></html>');
  await expect(expectAccessible(page)).rejects.toThrow();
});

test("text enlarged to twice its size on a phone still fits", async () => {
  const page = await newPageThatStays({ size: "phone" });
  for (const name of Object.keys(everyPage)) {
    await page.goto(`${url}/de/${encodeURIComponent(name)}`);
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    await expect
      .poll(() => page.evaluate("document.documentElement.scrollWidth"), { message: name })
      .toBeLessThanOrEqual(360);
  }
});

test("a screen reader hears the problem with the field it belongs to", async () => {
  const page = await newPage();
  await page.goto(`${url}/de/${encodeURIComponent("login, nothing entered")}`);
  const summary = page.getByRole("alert");
  await expect
    .poll(() => summary.getByRole("link").allTextContents())
    .toEqual(["Gib deinen Benutzernamen ein.", "Gib dein Passwort ein."]);
  await summary.getByRole("link", { name: "Passwort" }).click();
  await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("password");
  const username = page.getByRole("textbox", { name: "Benutzername", exact: true });
  await expect.poll(() => username.getAttribute("aria-invalid")).toBe("true");
  await expect.poll(() => username.getAttribute("aria-describedby")).toContain("problem");
});

test("what an app or a person is called is never markup", async () => {
  const name = '<img src=x onerror="document.title=1">';
  for (const locale of ["de", "en"] as const) {
    const steps = { action: "/on", cancel: "/back", csrf: name };
    const html = [
      signOnPages.renderConsentPage(
        {
          app: { name },
          personName: name,
          scopes: ["openid", "profile", "groups"],
          steps,
          switchUser: name,
          claims: {
            name: { firstFull: name, firstCall: "x", last: name },
            role: "STUDENT",
            school: null,
            groups: [{ id: "1" as GroupId, name }],
            pseudonym: name,
          },
        },
        { locale, formTargets: [] },
      ).html,
      signOnPages.renderLoginPage(
        {
          app: { name, logoPath: null },
          username: name,
          steps,
          known: { firstName: name, username: name, other: name },
          isShared: false,
          help: { school: name, text: name },
          ways: {
            school: name,
            buttons: [{ connectionId: name, name }],
            allowsPasswords: true,
            action: name,
            other: name,
          },
          passwordForm: "open",
          schoolSearch: name,
          problem: { kind: "refused" },
        },
        { locale, formTargets: [] },
      ).html,
    ].join("");
    expect(html).not.toContain("<img src=x");
  }
});
