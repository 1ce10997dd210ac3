import { existsSync } from "node:fs";
import { join } from "node:path";
import axe, { type AxeResults, type RunOptions } from "axe-core";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { afterEach, expect } from "vitest";
import { makeBrowser } from "../../support/browser.ts";
import { signIn } from "../../support/portal.ts";
import type { Login } from "../../support/token.ts";

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

let shared: Promise<Browser> | undefined;

/** The Chromium of all test files that this process runs; Playwright ends it with the process. */
export const openChromium = (): Promise<Browser> => (shared ??= chromium.launch(chromiumOptions));

/**
 * `newPage` opens a browser profile of its own, and `newPageAs` one that has the session of somebody who signed in.
 *
 * Errors: a message in the console that is no failed status, such as a breach of the Content-Security-Policy, fails
 *         the test.
 */
export function useBrowser() {
  let contexts: BrowserContext[] = [];
  let complaints: string[] = [];

  afterEach(async () => {
    await Promise.all(contexts.map((context) => context.close()));
    const heard = complaints;
    contexts = [];
    complaints = [];
    expect(heard).toEqual([]);
  });

  async function newPage(look: Look = {}): Promise<Page> {
    const context = await (
      await openChromium()
    ).newContext({
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
  }

  async function newPageAs(login: Login, url: string, look: Look = {}): Promise<Page> {
    const page = await newPage(look);
    const { origin } = new URL(url);
    // A session is bound to the kind of browser that signed in.
    const browser = makeBrowser(origin, { "user-agent": "HeadlessChrome/1 (X11; Linux)" });
    await signIn(browser, login);
    await page.context().addCookies(browser.cookies().map((cookie) => ({ ...cookie, url: origin })));
    await page.goto(url);
    return page;
  }

  return { newPage, newPageAs };
}

const { SCREENSHOTS: shots } = process.env;
let shotCount = 0;

/** Keeps a picture of the page where SCREENSHOTS names a folder. */
async function shoot(page: Page, name: string): Promise<void> {
  if (shots === undefined) return;
  const file = `${String((shotCount += 1)).padStart(3, "0")}-${name.replace(/[^\w-]+/g, "-").slice(-60)}.png`;
  await page.screenshot({ path: join(shots, file), fullPage: true });
}

/** Expects that nothing is wider than the window. */
export async function expectToFit(page: Page, name: string): Promise<void> {
  const width = page.viewportSize()!.width;
  const tooWide = "document.documentElement.scrollWidth - innerWidth";
  expect(await page.evaluate(tooWide), `${name} is too wide for ${width}`).toBeLessThanOrEqual(0);
  expect(await page.evaluate(brokenOnPhone), `${name} on a phone`).toEqual([]);
}

/** Of the pages with navigation: it takes at most a fifth of a phone, and no table scrolls sideways. */
const brokenOnPhone = `innerWidth > 640 || !document.querySelector(".navigation .pages") ? [] : [
  ...(document.querySelector("main").getBoundingClientRect().top + scrollY > innerHeight / 5 ? ["navigation"] : []),
  ...[...document.querySelectorAll("table.stacked")].filter((table) => table.scrollWidth > table.parentElement.clientWidth).map((table) => table.outerHTML),
]`;

const looked = new Set<string>();

/** Remembers parts of pages. Returns whether one of them is new. */
function isNew(parts: readonly string[]): boolean {
  const before = looked.size;
  for (const part of parts) looked.add(part);
  return looked.size > before;
}

/** The elements of a page without texts, addresses and ids: pages that have the same are the same to axe. */
const skeleton = `document.documentElement.outerHTML
  .replace(/ (?!class|type|role|aria-|lang|alt|title|hidden|disabled)[\\w-]+="[^"]*"/g, "")
  .replace(/ (aria-[a-z]+|alt|title)="[^"]+"/g, " $1")
  .replace(/>[^<]+</g, ">.<")`;

/** What the colors of a page depend on: each element with its class and that of its parent. */
const painted = `[...document.querySelectorAll("body *")]
  .map((one) => "dark " + [one.parentElement, one].map(({ localName, className, type }) => [localName, className, type]).join(" > "))`;

/** Expects that axe finds nothing. */
async function expectNoViolation(page: Page, name: string, options: RunOptions): Promise<void> {
  expect(page.frames(), "axe looks at the main frame only").toHaveLength(1);
  if (await page.evaluate("!window.axe")) await page.evaluate(axe.source);
  // Results other than violations in brief, because they are not looked at.
  const run: RunOptions = { resultTypes: ["violations"], preload: false, ...options };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(run)})`);
  expect(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`),
    name,
  ).toEqual([]);
}

/** Expects that nothing moves for somebody who asked for less motion. */
async function expectStillness(page: Page, name: string): Promise<void> {
  await page.emulateMedia({ reducedMotion: "reduce" });
  expect(await page.evaluate(moving), `${name} with reduced motion`).toEqual([]);
  await page.emulateMedia({ reducedMotion: null });
}

const moving = `[...document.querySelectorAll("*")].filter((one) => {
  const { animationName, transitionDuration, scrollBehavior } = getComputedStyle(one);
  return animationName !== "none" || scrollBehavior === "smooth" || /[1-9]/.test(transitionDuration);
}).map((one) => one.outerHTML.slice(0, 200))`;

/** Expects that axe finds nothing, that nothing moves unasked and that nothing is wider than the window. */
export async function expectReadable(page: Page, name = page.url()): Promise<void> {
  await page.waitForLoadState();
  await shoot(page, name);
  if (isNew([JSON.stringify(page.viewportSize()) + (await page.evaluate<string>(skeleton))])) {
    await expectNoViolation(page, name, { rules: { "target-size": { enabled: true } } });
    await expectStillness(page, name);
  }
  await expectToFit(page, name);
}

/** Expects besides that every control is big enough to tap. */
export async function expectAccessible(page: Page, name = page.url()): Promise<void> {
  await expectReadable(page, name);
  expect(await page.evaluate(lowControls), name).toEqual([]);
}

// What is folded has its size once it is open.
const lowControls = `(() => {
  const folded = [...document.querySelectorAll("main details:not([open])")];
  for (const one of folded) one.open = true;
  const low = [...document.querySelectorAll("main a, main button, main input:not([type=hidden])")]
    .filter((control) => !control.closest("p, li") && (control.closest("label") ?? control).getBoundingClientRect().height < 44)
    .map((control) => control.outerHTML);
  for (const one of folded) one.open = false;
  return low;
})()`;

/** Expects the same of a page on every screen and in both color schemes; what depends on neither is looked at once. */
export async function expectAccessibleEverywhere(page: Page, name = page.url(), expectIt = expectAccessible) {
  const own = page.viewportSize()!;
  await page.setViewportSize(sizes.phone);
  await expectIt(page, name);
  await page.emulateMedia({ colorScheme: "dark" });
  await shoot(page, `${name}-dark`);
  if (isNew(await page.evaluate<string[]>(painted)))
    await expectNoViolation(page, `${name} in the dark`, { runOnly: ["color-contrast"] });
  await page.emulateMedia({ colorScheme: "light" });
  for (const size of [sizes.whiteboard, sizes.desk]) {
    await page.setViewportSize(size);
    await shoot(page, `${name}-${size.width}`);
    await expectToFit(page, name);
  }
  await page.setViewportSize(own);
}
