import { readFileSync } from "node:fs";
import express from "express";
import { beforeAll, expect, test } from "vitest";
import { makePageAssets, type Locale } from "../../src/platform/pages/index.ts";
import * as signOnPages from "../../src/sign-on/forms/pages/index.ts";
import { serve } from "../support/serve.ts";
import { expectAccessibleEverywhere, expectToFit, useBrowser } from "./support/browser.ts";
import { everyPage } from "./support/every-page.ts";

const { newPage } = useBrowser();
let url: string;

beforeAll(async () => {
  const app = express().use(makePageAssets());
  app.get("/:locale/:name", (req, res) => {
    const languageUrl = (locale: Locale) => `/${locale}/${encodeURIComponent(req.params.name)}`;
    const page = everyPage[req.params.name]!({ locale: req.params.locale as Locale, languageUrl, formTargets: [] });
    res.status(page.status).set(page.headers).send(page.html);
  });
  url = await serve(app);
});

test.each(["de", "en"] as const)(
  "every page of the sign-on is accessible, fits every screen and text of twice the size, and has no markup of names: %s",
  async (locale) => {
    const page = await newPage({ size: "phone" });
    // The form for the app stays, which its script would post.
    const nothing = { contentType: "text/javascript", body: "" };
    await page.route("**/assets/form-post-*.js", (route) => route.fulfill(nothing));
    for (const name of Object.keys(everyPage)) {
      await page.goto(`${url}/${locale}/${encodeURIComponent(name)}`);
      await (locale === "de" ? expectAccessibleEverywhere : expectToFit)(page, name);
      await expect.poll(() => page.locator("#markup").count(), { message: name }).toBe(0);
      await page.evaluate("document.documentElement.style.fontSize = '200%'");
      await expect
        .poll(() => page.evaluate("document.documentElement.scrollWidth"), { message: name })
        .toBeLessThanOrEqual(360);
    }
  },
);

test("no word below a picture is broken on a small phone", async () => {
  const page = await newPage();
  const broken = `[...document.querySelectorAll(".pictures button")].filter((button) => {
    const range = document.createRange();
    range.selectNodeContents(button.lastChild);
    return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
  }).map((button) => button.textContent)`;
  for (const locale of ["de", "en"])
    for (const name of Object.keys(everyPage).filter((one) => one.startsWith("card"))) {
      await page.goto(`${url}/${locale}/${encodeURIComponent(name)}`);
      for (let width = 320; width <= 420; width += 4) {
        await page.setViewportSize({ width, height: 640 });
        await expect.poll(() => page.evaluate(broken), { message: `${locale} ${name} ${width}` }).toEqual([]);
      }
    }
});

test("no page of the sign-on is left out", () => {
  const list = readFileSync(new URL("support/every-page.ts", import.meta.url), "utf8");
  const left = Object.keys(signOnPages).filter((name) => name.startsWith("render") && !list.includes(`pages.${name}(`));
  expect(left).toEqual([]);
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
