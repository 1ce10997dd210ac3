import { readFileSync } from "node:fs";
import { join } from "node:path";
import jsQR from "jsqr";
import type { Page } from "playwright-core";
import { PNG } from "pngjs";
import { expect, test } from "vitest";
import { makeStaff } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { readPdf, readQr } from "../support/read-cards.ts";
import { startReceiver } from "../support/receiver.ts";
import { makeTestClock, startService } from "../support/service.ts";
import { expectAccessible, useBrowser } from "./support/browser.ts";
import { expectHeading } from "./support/steps.ts";

// The way that docs/school-guide.en.md describes. PICTURES names a folder for its pictures; with PICTURES_LOCALE=de
// they are those of docs/school-guide.de.md.
const locale = process.env["PICTURES_LOCALE"] === "de" ? "de" : "en";
const words = {
  en: {
    addSchool: "Register a school",
    saveSchool: "Register the school",
    apply: "Apply",
    tiles: "Your apps",
    grant: "Grant this app",
    everyone: "Everyone at the school",
    chooseGroups: "Select the groups that the app can see",
    preview: "Show preview",
    visible: "25 students",
    confirm: "Confirm the grant",
    granted: "The grant has been changed.",
  },
  de: {
    addSchool: "Schule anlegen",
    saveSchool: "Schule anlegen",
    apply: "Übernehmen",
    tiles: "Deine Apps",
    grant: "App freigeben",
    everyone: "Alle an der Schule",
    chooseGroups: "Gruppen wählen, die die App sieht",
    preview: "Vorschau ansehen",
    visible: "25 Lernende",
    confirm: "So freigeben",
    granted: "Die Freigabe ist geändert.",
  },
}[locale];
const { newPage } = useBrowser();
const service = await startService({
  clock: makeTestClock(new Date()),
  env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" },
});
const make = makeMakers(service.db);

const lastNames = ["Schmidt", "Yılmaz", "Żółć", "Nguyễn", "O’Neill"];
const firstNames = ["Mia", "Ömer", "Łucja", "Thị Hồng", "Zoë"];
const pupils = lastNames.flatMap((last) => firstNames.map((first) => ({ first, last })));
const csv = [
  "id;role;first_name;call_name;last_name;classes",
  ...pupils.map(({ first, last }, index) => `${String(index)};student;${first};;${last};5a`),
  "100;teacher;Ada;;Beispiel;5a",
].join("\n");

const mostHeight = 1000;

async function look(page: Page, name: string): Promise<void> {
  const folder = process.env["PICTURES"];
  if (folder !== undefined) {
    const file = locale === "en" ? `${name}.png` : `${name}.${locale}.png`;
    const height = await page.evaluate<number>("document.documentElement.scrollHeight");
    const clip = { x: 0, y: 0, width: page.viewportSize()!.width, height: Math.min(height, mostHeight) };
    await page.screenshot({ path: join(folder, file), fullPage: true, clip });
  }
  await expectAccessible(page, name);
}

async function runJobs(...names: string[]): Promise<void> {
  for (const name of names) await service.runJob(name);
}

test("a school begins with a CSV and ends with printed cards that sign in, and an app that hears of it", async () => {
  const receiver = await startReceiver();
  const { clientId } = await make.app({ name: "Lernapp", loginUrl: "https://lernapp.example/login" });
  const { call } = await makeStaff(service, "OPERATOR");
  const made = await call("POST", "/webhook-endpoints", {
    body: { clientId, url: `${receiver.url}/hook`, eventTypes: ["person", "group", "school"] },
  });
  expect(made.status).toBe(201);
  const operator = await makePortalUser(service, "OPERATOR");
  const page = await newPage({ locale });

  await page.goto(`${service.url}/admin`);
  await page.locator("#username").fill(operator.username);
  await page.locator("#password").fill(operator.password);
  await page.locator("main form button.primary").first().click();
  await page.getByRole("link", { name: words.addSchool }).click();
  for (const [field, text] of Object.entries({
    name: "Linden-Gymnasium",
    officialId: "DE-NI-4711",
    address: "Lindenweg 1",
    zipCode: "26121",
    city: "Musterstadt",
  }))
    await page.locator(`#${field}`).fill(text);
  await page.locator("#state").selectOption("NI");
  await page.locator("#schoolingLevel").selectOption("GYMNASIUM");
  await look(page, "register-school");
  await page.getByRole("button", { name: words.saveSchool }).click();
  await page.waitForURL("**/today**");
  const school = /schools\/([0-9a-f-]{36})/.exec(page.url())![1]!;
  const at = `${service.url}/admin/schools/${school}`;
  await look(page, "three-steps");

  await page.goto(`${at}/imports`);
  await page.locator("#file").setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  await page.locator("main form button.primary").click();
  await page.getByRole("heading", { name: words.apply }).waitFor();
  await page.locator("#changes table").waitFor();
  await look(page, "import-difference");
  await page.locator("form[action$='/apply'] button[type=submit]").click();
  await expect.poll(() => service.db.prisma.affiliation.count({ where: { schoolId: school } })).toBe(26);

  await page.goto(`${at}/settings`);
  await page.locator("form[action$='/cards'] input[name=enabled]").check();
  await page.locator("form[action$='/cards'] button[type=submit]").click();
  await page.goto(`${at}/classes`);
  await look(page, "classes");
  await page.getByRole("link", { name: "5a", exact: true }).click();
  await page.locator("main a[href$='/logins']").first().click();
  await page.locator("input[name=kind][value=cards]").check();
  await page.locator("form[action$='/logins'] button[type=submit]").click();
  await expect.poll(() => page.locator(".login-cards li").count()).toBe(25);
  await look(page, "login-cards");
  const shown = PNG.sync.read(await page.locator(".login-cards .code").first().screenshot());
  expect(jsQR.default(new Uint8ClampedArray(shown.data), shown.width, shown.height)?.data).toContain("/card/");
  const [firstSheet] = readPdf(await page.pdf({ format: "A4" })).pictures;
  expect(readQr(firstSheet!, 0).text).toContain("/card/");

  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("form[action$='/cards'] button[type=submit]").click(),
  ]);
  const { pages, pictures } = readPdf(readFileSync(await download.path()));
  expect(pictures).toHaveLength(4);
  const printed = pages.join("\n").normalize("NFC");
  for (const { first, last } of pupils) expect(printed).toContain(`${first} ${last}`.normalize("NFC"));
  const { text } = readQr(pictures[0]!, 0);
  expect(text).toMatch(new RegExp(`^${service.url}/card/`));

  const tablet = await newPage({ locale, size: "phone" });
  await tablet.goto(text!);
  await look(tablet, "card");
  await tablet.locator("main form button.primary").click();
  await tablet.waitForURL(`${service.url}/`);
  await expectHeading(tablet, words.tiles);

  await page.goto(`${at}/apps/${clientId}`);
  await page.getByRole("link", { name: words.grant }).click();
  await page.getByLabel(words.everyone).check();
  await page.locator("input[name=sync]").check();
  await page.getByText(words.chooseGroups).click();
  await page.locator("input[name=syncedGroup]").first().check();
  await page.getByRole("button", { name: words.preview }).click();
  await page.getByText(words.visible).first().waitFor();
  await look(page, "dry-run");
  await page.getByRole("button", { name: words.confirm }).click();
  await page.getByText(words.granted).waitFor();
  await page.goto(`${at}/apps/${clientId}/view`);
  await look(page, "app-view");

  await runJobs("webhooks.fanOut", "webhooks.deliver");
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  expect(receiver.received[0]!.headers["webhook-signature"]).toMatch(/^v1,/);

  await tablet.goto(`${service.url}/`);
  await expect.poll(() => tablet.getByRole("link", { name: "Lernapp" }).count()).toBe(1);
  const person = (await service.db.prisma.person.findFirstOrThrow({ where: { last: "Schmidt" } })).id;
  await page.goto(`${at}/people/${person}/sign-in?app=${clientId}`);
  await look(page, "explanation");
});
