import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { readPdfText } from "../support/read-cards.ts";
import { answer, startReceiver } from "../support/receiver.ts";
import { makeTestClock, startService } from "../support/service.ts";
import { expectAccessible, expectAccessibleEverywhere, expectReadable, sizes, useBrowser } from "./support/browser.ts";
import { press } from "./support/steps.ts";

// What the scripts of the portal's pages do; test/portal sends the same forms without them.

const { newPageAs } = useBrowser();
const env = { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" };
const service = await startService({ env, clock: makeTestClock(new Date()) });
const make = makeMakers(service.db, new Date());
const school = await make.school({ name: "Goethe-Gymnasium Musterstadt" });
const base = `${service.url}/admin/schools/${school}`;
for (const name of ["10a", "5a", "5b"])
  await make.people({ school, count: 12, groups: [await make.group({ school, name })] });
const name = { firstFull: "Bo Emil", firstCall: "Bo", last: "Zimmermann" };
await make.person({ school, name });
const office = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });

async function makePartner() {
  const { clientId } = await make.app({ name: "Interaktive Lernwerkstatt Mathematik" });
  const partner = await makePortalUser(service, "PARTNER", { clientIds: [clientId] });
  return { clientId, partner, ofApp: `${service.url}/partner/apps/${clientId}` };
}

test("a person is found as one types, gets a password, leaves and comes back", async () => {
  const page = await newPageAs(office, `${base}/people`);
  // Nothing is sent for what is typed before the scripts of the page ran.
  await page.waitForLoadState();
  await page.locator("#search").pressSequentially("zimmer");
  await page.waitForURL(/[?&]q=/);
  await expect.poll(() => page.locator("#results tbody tr").count()).toBe(1);
  expect(page.url().toLowerCase()).not.toContain("zimmer");
  await page.getByRole("link", { name: "Bo Zimmermann" }).click();
  await page.goBack();
  await expect.poll(() => page.locator("#search").inputValue()).toBe("zimmer");
  await page.getByRole("link", { name: "Bo Zimmermann" }).click();
  await page.locator("#username").fill("bo.muster.neu");
  await press(page, "Benutzernamen und neues Passwort geben");
  await page.getByText("bo.muster.neu").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Drucken" }).isVisible()).toBe(true);
  await expectAccessibleEverywhere(page, "password");
  await page.getByRole("link", { name: "Zurück" }).click();
  await page.getByRole("link", { name: "Hat die Schule verlassen …" }).click();
  await press(page, "Hat die Schule verlassen");
  await page.getByRole("button", { name: "Wiederherstellen" }).waitFor();
  await expectAccessible(page);
  await press(page, "Wiederherstellen");
  await page.getByText("Die Person ist wieder an der Schule.").waitFor();
});

test("passwords of two classes are prepared with the page closed, and downloaded once", async () => {
  const page = await newPageAs(office, `${base}/credentials`);
  for (const one of ["5a", "10a"]) await page.getByLabel(one, { exact: true }).check();
  await expect.poll(() => page.getByLabel("Die Lernenden dieser Klassen:").isChecked()).toBe(true);
  await page.getByLabel("Sie bekommen ein neues").check();
  await page.getByLabel(/ein Brief an die Eltern/).check();
  await press(page, "Vorbereiten");
  await page.getByText("0 von 24 vorbereitet").waitFor();
  await expectAccessibleEverywhere(page, "preparing");
  const [address, context] = [page.url(), page.context()];
  await page.close();

  const back = await context.newPage();
  await back.goto(address);
  await back.getByText("0 von 24 vorbereitet").waitFor();
  await service.runJob("accounts.prepareCredentials");
  // The page asks again by itself.
  await back.getByText("Das Dokument liegt bereit.").waitFor();
  await expectAccessibleEverywhere(back, "ready");
  const other = await context.newPage();
  await other.goto(address);
  const download = back.waitForEvent("download");
  await press(back, "Als PDF herunterladen, Klasse für Klasse");
  const pdf = await readFile(await (await download).path());
  const letters = [...readPdfText(pdf).matchAll(/An die Eltern von\n.*\n\s*Klasse (\S+)/g)].map(([, one]) => one);
  expect(letters).toEqual([...Array<string>(12).fill("5a"), ...Array<string>(12).fill("10a")]);

  await press(other, "Als PDF herunterladen, Klasse für Klasse");
  await other.getByText("ist schon heruntergeladen worden und wird nicht noch einmal ausgegeben").waitFor();
  await back.reload();
  await back.getByText("Das Dokument wird nur einmal ausgegeben.").waitFor();
  await expect.poll(() => back.getByRole("button", { name: /herunterladen/ }).count()).toBe(0);
});

test("a partner makes an endpoint and sees a delivery as it is sent", async () => {
  const { ofApp, partner } = await makePartner();
  const receiver = await startReceiver(answer(500, {}, "the queue of the app is full"));
  const page = await newPageAs(partner, `${ofApp}/webhooks/new`);
  await page.getByLabel("Adresse", { exact: true }).fill(receiver.url);
  await press(page, "Webhook anlegen");
  await page.getByText("whsec_").waitFor();
  await expectAccessibleEverywhere(page, "endpoint made");
  await page.getByRole("link", { name: "Zum Webhook" }).click();
  await press(page, "Testnachricht senden");
  await page.getByText("Bisher kein Versuch.").waitFor();
  await service.runJob("webhooks.deliver");
  // The page asks again by itself.
  await page.getByText("Antwort mit Status 500").waitFor();
  await page.getByText("Antwort lesen").click();
  await expectAccessibleEverywhere(page, "delivery tried");
  await page.getByRole("link", { name: "Zum Webhook" }).click();
  await page.getByText("0 von einem Versuch").waitFor();
  await page.waitForLoadState();
  await page.getByLabel("Zustand der Nachrichten").selectOption("FAILED");
  await page.getByText("Keine Nachrichten.").waitFor();
});

test("a partner runs the calls of a guide on its page", async () => {
  const { clientId, ofApp, partner } = await makePartner();
  await make.grant({ app: clientId, school });
  const guide = `${ofApp}/docs/not-found`;
  const page = await newPageAs(partner, guide);
  // Before the scripts of the page ran, a call leads to another page.
  await page.waitForLoadState();
  for (const [number, status] of [
    [2, "HTTP/1.1 404"],
    [4, "HTTP/1.1 200"],
  ] as const) {
    const call = page.locator(`#answer-${number}`);
    await call.getByRole("button", { name: "Ausführen" }).click();
    await call.getByText(status).waitFor();
    await expect.poll(() => page.url()).toBe(guide);
  }
  await expectReadable(page);
});

test("on a phone the row of an app's pages shows the present one", async () => {
  const { ofApp, partner } = await makePartner();
  const page = await newPageAs(partner, `${ofApp}/ids`, { size: "phone" });
  await expect
    .poll(async () => {
      const { x, width } = (await page.locator(".parts [aria-current]").boundingBox())!;
      return x >= 0 && x + width <= sizes.phone.width;
    })
    .toBe(true);
});
