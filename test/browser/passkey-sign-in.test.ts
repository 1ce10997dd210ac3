import { beforeAll, expect, test } from "vitest";
import world from "../../demo/demo.json" with { type: "json" };
import { giveAuthenticator } from "./support/authenticator.ts";
import { expectAccessible, useBrowser } from "./support/browser.ts";
import { startDemoService, type DemoService } from "./support/demo-service.ts";
import { expectHeading, logIn, press } from "./support/steps.ts";

const { newPage } = useBrowser();
let service: DemoService;

beforeAll(async () => {
  service = await startDemoService();
});

const [operator, , , partner] = world.staff;
const toList = "/sign-in?return=%2Fsign-in%2Fsecond-factor";

test("a teacher with a new device is offered a passkey, and the login page then fills it in by itself", async () => {
  const page = await newPage();
  const device = await giveAuthenticator(page);
  await page.goto(service.url + toList);
  await page.locator('input[name="passkeys"][value="yes"]').waitFor({ state: "attached" });
  await logIn(page, operator!);
  await expectHeading(page, "Nächstes Mal ohne Passwort?");
  await expectAccessible(page);
  await press(page, "Ja, einrichten");
  await expectHeading(page, "Deine Wiederherstellungscodes");
  expect((await device.listCredentials())[0]).toMatchObject({ rpId: "localhost", isResidentCredential: true });

  // The list of passkeys below the user name is open; the person chooses the only one.
  await page.context().clearCookies();
  await page.goto(service.url + toList);
  await expectHeading(page, "Dein zweiter Faktor");
  await expectAccessible(page);
  await page.getByText("Passkey vom").first().waitFor();

  await device.answer(false);
  await page.context().clearCookies();
  await page.goto(service.url + toList);
  const button = page.getByRole("button", { name: "Mit Passkey anmelden" });
  await button.waitFor();
  await expectAccessible(page);
  await device.answer(true);
  await button.click();
  await expectHeading(page, "Dein zweiter Faktor");

  await page.getByText("Namen ändern").click();
  await page.getByLabel("Name des Geräts").fill("Mein Laptop");
  await press(page, "Namen speichern");
  await page.locator(".factors strong", { hasText: "Mein Laptop" }).waitFor();
  await press(page, "Mein Laptop entfernen");
  await page.getByText("Du hast noch keinen zweiten Faktor.").waitFor();
  await page.context().clearCookies();
  await page.goto(service.url + toList);
  await page.getByText("Diesen Passkey kennen wir nicht.").waitFor();
});

test("the offer is skipped with one click, and does not come again", async () => {
  const page = await newPage();
  await giveAuthenticator(page);
  const open = async () => {
    await page.goto(`${service.url}/sign-in?return=%2Faccount&again`);
    await page.locator('input[name="passkeys"][value="yes"]').waitFor({ state: "attached" });
    await logIn(page, partner!);
  };
  await open();
  await expectHeading(page, "Nächstes Mal ohne Passwort?");
  await page.getByRole("link", { name: "Jetzt nicht" }).click();
  await page.waitForURL("**/account");
  await open();
  await page.waitForURL("**/account");
});
