import type { Page } from "playwright-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { expectAccessible, useBrowser } from "./support/browser.ts";
import { people, startDemoService, type DemoService } from "./support/demo-service.ts";
import { answerToApp, expectHeading, logIn, press } from "./support/steps.ts";

const { newPage } = useBrowser();
let service: DemoService;

beforeAll(async () => {
  service = await startDemoService();
});
beforeEach(async () => {
  await service.db.pool.query("DELETE FROM sign_in_brake");
  await service.db.pool.query("DELETE FROM sign_in_place");
  await service.db.pool.query("DELETE FROM consent");
  await service.db.pool.query("DELETE FROM school_choice");
});

/** The sign-in page of an app. */
async function openLogin(): Promise<Page> {
  const page = await newPage();
  await page.goto(service.authorizationUrl());
  return page;
}

test("a pupil signs in, allows the app what it asks for, and arrives there", async () => {
  const page = await newPage({ size: "phone" });
  await page.goto(service.authorizationUrl());
  await expect.poll(() => page.locator("main").textContent()).toContain("Du möchtest Lernapp benutzen");
  await expectAccessible(page);
  await logIn(page, people.student);
  await expectHeading(page, "Darf Lernapp deine Daten sehen?");
  await expect.poll(() => page.locator(".scopes strong").allTextContents()).toEqual(["Dein Name", "Dass du es bist"]);
  await expectAccessible(page);
  await press(page, "Ja, erlauben");
  expect(await answerToApp(page)).toEqual({ code: expect.any(String), state: "state-of-the-app", iss: service.url });
});

test("without JavaScript everything works the same", async () => {
  const page = await newPage({ javaScript: false });
  await page.goto(service.authorizationUrl({ client_id: "demo-mathe", scope: "openid school" }));
  await logIn(page, { ...people.twoSchools, password: "wrong" });
  await expect.poll(() => page.getByRole("alert").textContent()).toContain("Benutzername oder Passwort stimmen nicht");
  await logIn(page, people.twoSchools);
  await press(page, "Gesamtschule Nord");
  await press(page, "Ja, erlauben");
  expect(await answerToApp(page)).toMatchObject({ code: expect.any(String) });
  await page.goto(`${service.url}/oauth2/sessions/logout`);
  await press(page, "Ja, abmelden");
  await expectHeading(page, "Du bist abgemeldet");
});

test("on a shared device the browser keeps no cookie when it is closed, those of scripts included", async () => {
  const page = await openLogin();
  await page.locator("#shared").check();
  await logIn(page, people.student);
  await press(page, "Ja, erlauben");
  await answerToApp(page);
  await page.goto(`${service.url}/account`);
  await expect.poll(async () => (await page.context().cookies()).map(({ name }) => name)).toContain("_zone");
  const lasting = (await page.context().cookies()).filter(({ expires }) => expires !== -1);
  expect(lasting).toEqual([]);
});

test("the keyboard alone is enough", async () => {
  const page = await openLogin();
  await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("username");
  await page.keyboard.type(people.student.username);
  await page.keyboard.press("Tab");
  await page.keyboard.type(people.student.password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Darf Lernapp" }).waitFor();
  await page.waitForLoadState();
  await page.keyboard.press("Tab");
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Zum Inhalt springen");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Ja, erlauben");
  await expect.poll(() => page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
  await page.keyboard.press("Enter");
  expect(await answerToApp(page)).toMatchObject({ code: expect.any(String) });
});

test("from the platform's own page to the apps: signing in, and a tile that knows who clicks", async () => {
  const page = await newPage({ size: "whiteboard" });
  await page.goto(`${service.url}/`);
  await expectAccessible(page);
  await page.goto(`${service.url}/sign-in`);
  await expectAccessible(page);
  await logIn(page, people.student);
  await page.waitForURL(`${service.url}/`);
  await expectAccessible(page);
  const tile = await page.getByRole("link", { name: /Lernapp/ }).getAttribute("href");
  const parameters = new URL(tile ?? "").searchParams;
  expect(parameters.get("iss")).toBe(service.url);
  await page.goto(service.authorizationUrl({ login_hint: parameters.get("login_hint") ?? "" }));
  await expectHeading(page, "Darf Lernapp deine Daten sehen?");
});

test("what no app asked for is accessible too: an address that leads nowhere, and the page for partners", async () => {
  const page = await newPage({ size: "phone", locale: "en" });
  for (const path of ["/nowhere", "/docs"]) {
    await page.goto(`${service.url}${path}`);
    await expectAccessible(page);
  }
});

test("a person sees the password that they type, is told of caps lock, and sends it hidden", async () => {
  const page = await newPage({ size: "phone" });
  await page.goto(service.authorizationUrl());
  await page.locator("#username").fill(` ${people.student.username} `);
  await page.locator("#password").fill(people.student.password);
  await press(page, "Passwort anzeigen");
  await expect.poll(() => page.locator("#password").getAttribute("type")).toBe("text");
  await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("password");
  await page.evaluate(
    "document.getElementById('password').dispatchEvent(new KeyboardEvent('keyup', { key: 'A', modifierCapsLock: true }))",
  );
  await expect.poll(() => page.getByRole("status").textContent()).toContain("Feststelltaste");
  await expectAccessible(page);
  await press(page, "Passwort verbergen");
  await expect.poll(() => page.locator("#password").getAttribute("type")).toBe("password");
  await press(page, "Passwort anzeigen");
  await press(page, /^Anmelden$/);
  await expectHeading(page, "Darf Lernapp deine Daten sehen?");
});

test("who chooses a new password sees what they type, field by field, and is told of caps lock", async () => {
  const address = `${service.url}/sign-in/password`;
  const page = await newPage({ size: "phone" });
  await page.goto(address);
  await logIn(page, people.teacher);
  const fields = page.locator("[data-password] input");
  await expect.poll(() => fields.count()).toBe(3);
  await page.locator("[aria-controls=password]").click();
  for (const [id, type] of Object.entries({ current: "password", password: "text", repeated: "password" }))
    await expect.poll(() => page.locator(`#${id}`).getAttribute("type")).toBe(type);
  await page.evaluate(
    "document.getElementById('repeated').dispatchEvent(new KeyboardEvent('keyup', { key: 'A', modifierCapsLock: true }))",
  );
  await expect.poll(() => page.locator("#repeated-caps").textContent()).toContain("Feststelltaste");
  await expectAccessible(page);
  const plain = await newPage({ javaScript: false });
  await plain.goto(address);
  await logIn(plain, people.teacher);
  await expect.poll(() => plain.locator("[data-password] input:visible").count()).toBe(3);
  await expect.poll(() => plain.locator("[data-password] button:visible").count()).toBe(0);
});

test("the answer to a consent is in sight on a small phone, also to an app that asks for everything", async () => {
  const page = await newPage({ size: "phone", colorScheme: "dark" });
  await page.setViewportSize({ width: 360, height: 640 });
  for (const scope of ["openid profile school role groups", "openid profile school role groups offline_access"]) {
    await page.goto(service.authorizationUrl({ scope, prompt: "login" }));
    await logIn(page, people.student);
    await expectHeading(page, "Darf Lernapp deine Daten sehen?");
    await page.waitForLoadState();
    for (const name of ["Ja, erlauben", "Nein, nicht erlauben"]) {
      const box = await page.getByRole("button", { name }).boundingBox();
      expect((box?.y ?? 999) + (box?.height ?? 999)).toBeLessThanOrEqual(640);
    }
    await expect.poll(() => page.evaluate("scrollY")).toBe(0);
  }
  await expect.poll(() => page.locator(".scopes").textContent()).toContain("Goethe-Gymnasium Musterstadt");
  await expectAccessible(page);
});

test("Back after signing in leads on to the app", async () => {
  const page = await newPage({ size: "phone" });
  await page.goto(service.authorizationUrl());
  await logIn(page, people.student);
  await press(page, "Ja, erlauben");
  await answerToApp(page);
  await page.goBack();
  await expectHeading(page, "Du bist schon angemeldet");
  await expectAccessible(page);
  await page.getByRole("link", { name: "Weiter zu Lernapp" }).click();
  await page.waitForURL(/\/login\?iss=/);
});

test("one's own device greets, and a shared one forgets and shows how to sign out", async () => {
  const page = await newPage({ size: "phone", colorScheme: "dark" });
  await page.goto(`${service.url}/sign-in`);
  await logIn(page, people.student);
  await page.goto(`${service.url}/sign-in?again`);
  await expectHeading(page, "Weiter als Bo");
  await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("password");
  await expectAccessible(page);
  await page.getByLabel("Dieses Gerät benutzen auch andere").check();
  await logIn(page, people.student);
  await page.waitForURL(`${service.url}/`);
  await expectAccessible(page);
  await press(page, "Abmelden");
  await press(page, "Ja, abmelden");
  await page.goto(`${service.url}/sign-in`);
  await expectHeading(page, "Anmelden");
  await expect.poll(() => page.getByLabel("Dieses Gerät benutzen auch andere").isChecked()).toBe(true);
});
