import { join } from "node:path";
import jsQR from "jsqr";
import type { Page } from "playwright-core";
import { PNG } from "pngjs";
import { beforeAll, expect, test } from "vitest";
import type { GroupId, SchoolId } from "../../src/directory/index.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, type PortalUser } from "../support/portal.ts";
import { makeRunningClock, startService } from "../support/service.ts";
import { signInThere } from "../support/upstream-browser.ts";
import { clientId, clientSecret, startUpstreamProvider } from "../support/upstream-provider.ts";
import { expectAccessibleEverywhere, useBrowser } from "./support/browser.ts";

// The way that docs/own-login.en.md describes, from the set-up link to the first pupil. PICTURES names a folder for its
// pictures; with PICTURES_LOCALE=de they are those of docs/own-login.de.md.
const locale = process.env["PICTURES_LOCALE"] === "de" ? "de" : "en";
const { newPage, newPageAs } = useBrowser();
const service = await startService({
  clock: makeRunningClock(),
  env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" },
});
const provider = await startUpstreamProvider({ authMethod: "client_secret_post" });
const make = makeMakers(service.db);

const mostHeight = 900;

async function look(page: Page, name: string, isPicture = true): Promise<void> {
  const folder = process.env["PICTURES"];
  await page.waitForLoadState();
  if (folder !== undefined && isPicture) {
    const file = locale === "en" ? `${name}.png` : `${name}.${locale}.png`;
    const height = await page.evaluate<number>("document.documentElement.scrollHeight");
    const clip = { x: 0, y: 0, width: page.viewportSize()!.width, height: Math.min(height, mostHeight) };
    await page.screenshot({ path: join(folder, file), fullPage: true, clip });
  }
  await expectAccessibleEverywhere(page, name);
}

let school: SchoolId;
let group: GroupId;
let admin: PortalUser;
let own: string;

beforeAll(async () => {
  school = await make.school({ name: "Goethe-Gymnasium Musterstadt" });
  group = await make.group({ school, name: "5a" });
  await make.group({ school, name: "5b" });
  const names = ["Ada Beispiel", "Bo Muster", "Cem Probe", "Dana Test"].map((name) => name.split(" "));
  for (const [index, [first, last]] of names.entries()) {
    const name = { firstFull: first!, firstCall: first!, last: last! };
    await make.person({
      school,
      groups: [group],
      name,
      sourceSystemIdentifier: index === 3 ? null : `47${index + 11}`,
    });
  }
  admin = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  own = `${service.url}/admin/schools/${school}/own-login`;
});

/** Adds a connection of IServ and returns its page and the address of a set-up link. */
async function addConnection(page: Page, name: string): Promise<{ connection: string; link: string }> {
  await page.goto(own);
  if (!(await page.locator("#name").isVisible())) await page.locator("details summary").first().click();
  await page.locator("input[name=profile][value=ISERV]").check();
  await page.locator("#name").fill(name);
  await page.locator("form[action$='/own-login'] button[type=submit]").click();
  await page.waitForURL("**/own-login/*-*-*-*-**");
  const connection = page.url().split("?")[0]!;
  await page.locator("form[action$='/set-up-links'] button[type=submit]").click();
  return { connection, link: await page.locator("#setUpLink").inputValue() };
}

/** What the contact does until the provider has answered. */
async function enterValues(page: Page): Promise<void> {
  const redirectUri = await page.locator("#copy-redirectUri").inputValue();
  provider.redirectUris.push(redirectUri);
  await page.locator("main .actions a.primary").click();
  await look(page, "own-login-values", false);
  await page.locator("#issuer").fill(provider.issuer);
  await page.locator("#clientId").fill(clientId);
  await page.locator("#secret").fill(clientSecret);
  await page.locator("form[action$='/values'] button[type=submit]").click();
}

test("from the set-up link to the first pupil, and to the one who is refused", async () => {
  signInThere(
    provider,
    {
      uuid: "7b1c2f0e-3d52-4c7e-8f6a",
      import_id: "4711",
      name: "Ada Beispiel",
      preferred_username: "ada.beispiel",
    },
    "ada",
  );
  const office = await newPageAs(admin, own, { locale });
  await look(office, "own-login-empty", false);
  const { connection, link } = await addConnection(office, "IServ");
  await look(office, "own-login-link", false);

  const contact = await newPage({ locale });
  await contact.goto(link);
  await contact.waitForURL(`${service.url}/set-up`);
  await look(contact, "own-login-opening", false);
  await contact.keyboard.press("Tab");
  await contact.locator("main form button.primary").focus();
  await contact.keyboard.press("Enter");
  await contact.waitForURL("**/start");
  await look(contact, "own-login-start");
  await contact.locator("main .actions a.primary").click();
  await look(contact, "own-login-provider");
  await contact.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await contact.locator("button[data-copy=copy-redirectUri]").click();
  const copied = await contact.locator("#copy-redirectUri").inputValue();
  await expect.poll(() => contact.evaluate("navigator.clipboard.readText()")).toBe(copied);
  await enterValues(contact);
  await contact.waitForURL("**/check");
  await contact.locator("form[action$='/check'] button[type=submit]").click();
  await contact.locator(".done").waitFor();
  await look(contact, "own-login-check", false);
  await contact.locator("main .actions a.primary").click();
  await contact.waitForURL("**/result");
  await look(contact, "own-login-suggestions", false);
  await contact.locator("form[action$='/result'] button.secondary").first().click();
  await contact.locator(".done").waitFor();
  await look(contact, "own-login-result");
  await contact.locator("main > .actions a.primary").click();
  await contact.locator("input[name=for][value=classes]").check();
  await contact.getByLabel("5a", { exact: true }).check();
  await look(contact, "own-login-switch-on");
  await contact.locator("form[action$='/switch-on'] button[type=submit]").click();
  await contact.locator(".done").waitFor();
  await look(contact, "own-login-done", false);

  await office.goto(own);
  await office.locator("#linkName").fill("goethe");
  await office.locator("form[action$='/way-in'] button[type=submit]").click();
  await look(office, "own-login-overview", false);
  await office.goto(`${own}/poster`);
  const code = PNG.sync.read(await office.locator(".code").screenshot());
  expect(jsQR.default(new Uint8ClampedArray(code.data), code.width, code.height)?.data).toBe(`${service.url}/s/goethe`);

  const pupil = await newPage({ locale, size: "phone" });
  await pupil.goto(`${service.url}/s/goethe`);
  await look(pupil, "own-login-pupil");
  await pupil.locator("button[name=connection]").click();
  await pupil.waitForURL(`${service.url}/`);
  await pupil.goto(`${service.url}/account`);
  await look(pupil, "own-login-account", false);

  signInThere(provider, { uuid: "11111111-2222", import_id: "9999", name: "Nora Neu" }, "gone");
  const stranger = await newPage({ locale, size: "phone" });
  await stranger.goto(`${service.url}/s/goethe`);
  await stranger.locator("button[name=connection]").click();
  await stranger.getByText("NOBODY_MATCHES").waitFor();
  await office.goto(`${connection}/refusals`);
  await office.locator("input[type=search]").fill("Dana");
  await office.locator("form[role=search] button").click();
  await office.getByText("Dana Test").waitFor();
  await look(office, "own-login-refusals");
  await office.locator("form[action$='/link'] button").click();
  await office.locator(".done").waitFor();
  await stranger.goto(`${service.url}/s/goethe`);
  await stranger.locator("button[name=connection]").click();
  await stranger.waitForURL(`${service.url}/`);
});
