import { existsSync } from "node:fs";
import axe, { type AxeResults } from "axe-core";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";

export const sizes = {
  phone: { width: 360, height: 740 },
  desk: { width: 1280, height: 860 },
  whiteboard: { width: 1920, height: 1080 },
} as const;

export type Look = {
  locale?: "de" | "en";
  colorScheme?: "light" | "dark";
  size?: keyof typeof sizes;
  javaScript?: boolean;
};

/** The shell needs a third of the processor time of the whole browser. */
export const chromiumPath =
  process.env["CHROMIUM"] ??
  ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path)) ??
  "/usr/bin/chromium";

export const chromiumOptions = {
  executablePath: chromiumPath,
  args: [
    "--no-sandbox",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
  // As everywhere, this only ends what hangs.
  timeout: 120_000,
};

/**
 * A Chromium for the test file; `newPage` opens a browser profile of its own.
 *
 * Errors: a message in the console that is no failed status, such as a breach of the Content-Security-Policy, fails
 *         the test.
 */
export function useBrowser(): { newPage(look?: Look): Promise<Page> } {
  let browser: Browser;
  let contexts: BrowserContext[] = [];
  let complaints: string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch(chromiumOptions);
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    await Promise.all(contexts.map((context) => context.close()));
    const heard = complaints;
    contexts = [];
    complaints = [];
    expect(heard).toEqual([]);
  });

  return {
    async newPage(look = {}) {
      const context = await browser.newContext({
        locale: look.locale ?? "de",
        colorScheme: look.colorScheme ?? "light",
        viewport: sizes[look.size ?? "desk"],
        javaScriptEnabled: look.javaScript ?? true,
      });
      contexts.push(context);
      context.setDefaultTimeout(120_000);
      context.on("console", (message) => {
        const isStatus = /the server responded with a status of [45]\d\d/.test(message.text());
        if (["error", "warning"].includes(message.type()) && !isStatus) complaints.push(message.text());
      });
      return context.newPage();
    },
  };
}

/** Expects that axe finds nothing and that nothing is wider than the window. */
export async function expectReadable(page: Page, name = page.url()): Promise<void> {
  await page.waitForLoadState();
  expect(page.frames(), "axe looks at the main frame only").toHaveLength(1);
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(runAxe);
  expect(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`),
    name,
  ).toEqual([]);
  expect(
    await page.evaluate("document.documentElement.scrollWidth - innerWidth"),
    `${name} is too wide`,
  ).toBeLessThanOrEqual(0);
  expect(await page.evaluate(brokenOnPhone), `${name} on a phone`).toEqual([]);
}

/** Of the pages with navigation: it takes at most a fifth of a phone, and no table scrolls sideways. */
const brokenOnPhone = `innerWidth > 640 || !document.querySelector(".navigation .pages") ? [] : [
  ...(document.querySelector("main").getBoundingClientRect().top + scrollY > innerHeight / 5 ? ["navigation"] : []),
  ...[...document.querySelectorAll("table.stacked")].filter((table) => table.scrollWidth > table.parentElement.clientWidth).map((table) => table.outerHTML),
]`;

/** Results other than violations in brief, because they are not looked at. */
const runAxe = `axe.run({ resultTypes: ["violations"], rules: { "target-size": { enabled: true } } })`;

/** Expects besides that every control is big enough to tap. */
export async function expectAccessible(page: Page, name = page.url()): Promise<void> {
  await expectReadable(page, name);
  expect(await page.evaluate(lowControls), name).toEqual([]);
}

const lowControls = `[...document.querySelectorAll("main a, main button, main input:not([type=hidden])")]
  .filter((control) => !control.closest("p, li") && (control.closest("label") ?? control).getBoundingClientRect().height < 44)
  .map((control) => control.outerHTML)`;
