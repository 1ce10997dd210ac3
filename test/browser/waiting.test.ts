import type { Page } from "playwright-core";
import { beforeAll, expect, test, vi } from "vitest";
import { PasswordQueue } from "../../src/accounts/login/password-queue.ts";
import { expectAccessible, useBrowser } from "./support/browser.ts";
import { people, startDemoService, type DemoService } from "./support/demo-service.ts";
import { answerToApp, expectHeading, logIn, press } from "./support/steps.ts";

const { waitMs } = PasswordQueue.prototype;
const busy = { tries: 0, turnMs: 0 };
vi.spyOn(PasswordQueue.prototype, "waitMs").mockImplementation(function (this: PasswordQueue) {
  return busy.tries > 0 ? Infinity : waitMs.call(this);
});
vi.spyOn(PasswordQueue.prototype, "giveTurnMs").mockImplementation(() => {
  busy.tries -= 1;
  return busy.turnMs;
});

const { newPage } = useBrowser();
let service: DemoService;

beforeAll(async () => {
  service = await startDemoService();
});

/** A page of the sign-in whose time goes on only when a test says so. */
async function openLogin(): Promise<Page> {
  const page = await newPage({ size: "phone" });
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1000);
  await page.goto(service.authorizationUrl());
  return page;
}

test("a pupil who has to wait sees for how long, and gets in without doing anything", async () => {
  Object.assign(busy, { tries: 1, turnMs: 2000 });
  const page = await openLogin();
  await logIn(page, people.student);
  await expectHeading(page, "Gleich bist du dran");
  await expect.poll(() => page.getByRole("timer").textContent()).toBe("2");
  await page.waitForLoadState();
  await page.clock.runFor(2500);
  await expectHeading(page, "Darf Lernapp deine Daten sehen?");
  await press(page, "Ja, erlauben");
  expect(await answerToApp(page)).toMatchObject({ code: expect.any(String) });
  expect(busy.tries).toBe(0);
});

test("the page of those who wait counts down, and says what happens then", async () => {
  Object.assign(busy, { tries: 1, turnMs: 60_000 });
  const page = await openLogin();
  await logIn(page, people.student);
  await expectHeading(page, "Gleich bist du dran");
  await page.waitForLoadState();
  await page.clock.runFor(5000);
  await expect.poll(() => page.getByRole("timer").textContent()).toBe("55");
  const main = page.locator("main");
  await expect.poll(() => main.innerText()).toContain("Lass diese Seite offen. Es geht von selbst weiter.");
  await expect.poll(() => main.innerText()).not.toContain("Drücke danach");
  await expect.poll(() => page.getByRole("button", { name: "Weiter" }).count()).toBe(0);
  // axe needs its timers.
  await page.clock.resume();
  await expectAccessible(page);
});

test("without JavaScript the pupil presses a button, and types nothing again", async () => {
  Object.assign(busy, { tries: 1, turnMs: 1000 });
  const page = await newPage({ javaScript: false });
  await page.goto(`${service.url}/sign-in?return=%2Faccount`);
  await logIn(page, people.student);
  await expect.poll(() => page.locator("main").innerText()).toContain("Drücke danach auf „Weiter“.");
  await press(page, "Weiter");
  await page.waitForURL(`${service.url}/account`);
});
