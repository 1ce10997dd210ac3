import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Fills in the login form, in German or English, and sends it; another user name than the known one asks for that. */
export async function logIn(page: Page, { username, password }: { username: string; password: string }): Promise<void> {
  await page.locator("#password").waitFor();
  const known = page.locator("[name=username][readonly]");
  const isKnown = (await known.count()) > 0;
  if (isKnown && (await known.inputValue()) !== username)
    await page.getByRole("link", { name: /^(Nicht|Not) .*\?/ }).click();
  if (!isKnown || (await known.count()) === 0) await page.locator("#username").fill(username);
  await page.locator("#password").fill(password);
  await press(page, /^(Anmelden|Sign in)$/);
}

export async function press(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole("button", { name }).click();
}

/** Types into the search of a list; nothing is sent for what is typed before the scripts of the page ran. */
export async function search(page: Page, words: string): Promise<void> {
  await page.locator("#search").waitFor();
  await page.waitForLoadState();
  await page.locator("#search").fill(words);
}

/** What the app got back, once the browser has arrived there. */
export async function answerToApp(page: Page): Promise<Record<string, string>> {
  await page.waitForURL(/\/callback\?/);
  return Object.fromEntries(new URL(page.url()).searchParams);
}

/** Waits for the page with this heading, its only one of the first level. */
export async function expectHeading(page: Page, heading: string): Promise<void> {
  await expect.poll(() => page.locator("h1").allTextContents()).toEqual([heading]);
}
