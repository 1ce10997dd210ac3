import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { makeTestClock, startService } from "../support/service.ts";
import { expectAccessible, useBrowser, type Look } from "./support/browser.ts";

const { newPage } = useBrowser();
const service = await startService({ clock: makeTestClock(new Date()) });
const make = makeMakers(service.db);

/** A school with a class, an app that says what it wants, and somebody who decides. */
async function makeWorld() {
  const school = await make.school({ name: "Goethe-Gymnasium Musterstadt" });
  const group = await make.group({ school, name: "5a" });
  await make.group({ school, name: "5b" });
  const names = ["Zoe Probst", "Cem Aydın", "Dana Fort"].map((name) => name.split(" ") as [string, string]);
  for (const [firstCall, last] of names)
    await make.person({ school, groups: [group], name: { firstFull: firstCall, firstCall, last } });
  await make.person({ school, groups: [group], role: "TEACHER" });
  const { clientId } = await make.app({ name: "Lernapp" });
  await make.agreement(clientId);
  await make.app({ name: "Rechenheld mit einem sehr langen Namen, der umbrechen muss" });
  return { school, clientId, user: await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] }) };
}

async function signIn(page: Page, { username, password }: { username: string; password: string }): Promise<void> {
  await page.goto(`${service.url}/admin`);
  await page.locator("#username").fill(username);
  await page.locator("#password").fill(password);
  await page.locator("main form button[type=submit]").first().click();
}

/** Looks at a state as axe does, and keeps a picture of it where SCREENSHOTS names a folder. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  await expectAccessible(page, name);
}

const looks: Look[] = [
  { locale: "de", colorScheme: "light", size: "desk" },
  { locale: "de", colorScheme: "dark", size: "phone", javaScript: false },
  { locale: "en", colorScheme: "light", size: "phone" },
  { locale: "en", colorScheme: "dark", size: "whiteboard" },
];

test.each(looks)("a school admin grants an app after a dry run and finds it in the log: %o", async (wanted) => {
  const { school, user, clientId } = await makeWorld();
  const page = await newPage(wanted);
  // axe is a script itself.
  const shot = (name: string) =>
    wanted.javaScript === false ? undefined : look(page, `${wanted.size}-${wanted.colorScheme}-${name}`);
  const say = (german: string, english: string) => (wanted.locale === "de" ? german : english);
  await signIn(page, user);
  await page.waitForURL(`**/admin/schools/${school}/today`);
  await shot("today");

  await page.goto(`${service.url}/admin/schools/${school}/apps`);
  await shot("catalogue");
  await page.locator(`main a[href$="${clientId}"]`).click();
  await shot("app-before");
  await page.getByRole("link", { name: say("App freigeben", "Grant this app") }).click();
  await page.getByLabel(say("Alle an der Schule", "Everyone at the school")).check();
  await page.locator("input[name=sync]").check();
  await page.getByText(say("Gruppen wählen, die die App sieht", "Select the groups that the app can see")).click();
  await page.locator("input[name=syncedGroup]").first().check();
  await shot("form");
  await page.getByRole("button", { name: say("Vorschau ansehen", "Show preview") }).click();
  await page.getByText(say("Wer sichtbar wird", "Becoming visible")).click();
  await expect.poll(() => page.getByText("Zoe Probst").isVisible()).toBe(true);
  await shot("preview");
  await page.getByRole("button", { name: say("So freigeben", "Confirm the grant") }).click();
  await page.getByText(say("Die Freigabe ist geändert.", "The grant has been changed.")).waitFor();
  await shot("app-after");

  await page.getByRole("link", { name: say("Genau sehen", "See exactly") }).click();
  await page.getByText("Zoe Probst").first().click();
  await shot("view");
  await page.goto(`${service.url}/admin/schools/${school}/apps/${clientId}`);
  await page
    .getByRole("link", { name: say("Vereinbarung und Daten ansehen", "View the agreement and the data") })
    .click();
  await page.getByLabel(say("Namen von Personen", "Names of people")).uncheck();
  await shot("agreement");
  await page.getByRole("button", { name: say("Der Fassung 2026 zustimmen", "Agree to version 2026") }).click();
  await page.getByText(say("Ausgeschaltet:", "Switched off:")).waitFor();
  await shot("agreement-preview");
  await page.getByRole("button", { name: say("Der Fassung 2026 zustimmen", "Agree to version 2026") }).click();
  await page.getByRole("link", { name: say("Nachweis ansehen", "View the receipt") }).click();
  await shot("receipt");
  await page.getByRole("link", { name: say("Alle Nachweise", "All receipts") }).click();
  await shot("receipts");
  await page.goto(`${service.url}/admin/schools/${school}/apps/${clientId}/agreement/withdrawal`);
  await shot("agreement-withdrawal");
  await page.goto(`${service.url}/admin/schools/${school}/apps/${clientId}/withdrawal`);
  await shot("withdrawal");
  await page.goto(`${service.url}/admin/schools/${school}/audit`);
  await page.locator("tbody summary").first().click();
  await shot("audit");
  for (const other of ["staff", "staff/new", `staff/new?person=${user.personId}`, "settings", "retention", "privacy"]) {
    await page.goto(`${service.url}/admin/schools/${school}/${other}`);
    await shot(other.replace(/\W.*/, "") + (other.includes("person") ? "-give" : other.includes("new") ? "-new" : ""));
  }
});
