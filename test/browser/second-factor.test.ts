import { generateKeyPairSync } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import world from "../../demo/demo.json" with { type: "json" };
import { expectAccessible, useBrowser } from "./support/browser.ts";
import { startDemoService, type DemoService } from "./support/demo-service.ts";
import { giveAuthenticator } from "./support/authenticator.ts";
import { expectHeading, logIn, press } from "./support/steps.ts";

const { newPage } = useBrowser();
let service: DemoService;

beforeAll(async () => {
  service = await startDemoService();
});

const [operator, , , partner] = world.staff;

test("a passkey is set up, proves the next sign-in, and a foreign one does not", async () => {
  const page = await newPage();
  const own = await giveAuthenticator(page, "security key");
  await page.goto(`${service.url}/sign-in?return=%2Fsign-in%2Fsecond-factor`);
  await logIn(page, operator!);
  await expectHeading(page, "Dein zweiter Faktor");
  await expectAccessible(page);
  await page.getByRole("link", { name: "Passkey oder Sicherheitsschlüssel einrichten" }).click();
  await page.getByRole("button", { name: "Passkey anlegen" }).waitFor();
  await expectAccessible(page);
  await page.getByLabel("Name des Geräts").fill("Laptop");
  await press(page, "Passkey anlegen");
  await expectHeading(page, "Deine Wiederherstellungscodes");
  await expectAccessible(page);
  await expect.poll(() => page.locator(".recovery-codes li").count()).toBe(10);
  const [credential] = await own.listCredentials();
  expect(credential).toMatchObject({ rpId: "localhost" });
  await page.getByRole("link", { name: "Ich habe die Codes, weiter" }).click();
  await expect.poll(() => page.locator(".factors").textContent()).toContain("Laptop");
  await expectAccessible(page);

  await page.context().clearCookies();
  await page.goto(`${service.url}/sign-in?return=%2Fsign-in%2Fsecond-factor`);
  await logIn(page, operator!);
  await expectHeading(page, "Bestätige, dass du es bist");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Mit Passkey bestätigen" }).waitFor();
  await press(page, "Mit Passkey bestätigen");
  await expectHeading(page, "Dein zweiter Faktor");
  expect((await own.listCredentials())[0]!.signCount).toBeGreaterThan(credential!.signCount);

  const other = await newPage();
  const foreign = await giveAuthenticator(other, "security key");
  await foreign.session.send("WebAuthn.addCredential", {
    authenticatorId: foreign.authenticatorId,
    credential: { ...credential!, privateKey: makeOtherKey() },
  });
  await other.goto(`${service.url}/sign-in`);
  await logIn(other, operator!);
  await press(other, "Mit Passkey bestätigen");
  await other.getByText("Der Code stimmt nicht oder wurde schon benutzt").waitFor();
});

/** A key of the same kind that the service has never seen. */
const makeOtherKey = (): string =>
  generateKeyPairSync("ec", { namedCurve: "P-256" })
    .privateKey.export({ format: "der", type: "pkcs8" })
    .toString("base64");

test("an answer of a passkey is good once", async () => {
  const page = await newPage();
  await giveAuthenticator(page, "security key");
  await page.goto(`${service.url}/sign-in?return=%2Fsign-in%2Fsecond-factor`);
  await logIn(page, partner!);
  await page.goto(`${service.url}/sign-in/second-factor/passkey`);
  await press(page, "Passkey anlegen");
  await expectHeading(page, "Deine Wiederherstellungscodes");
  await page.context().clearCookies();
  await page.goto(`${service.url}/sign-in?return=%2Fsign-in%2Fsecond-factor`);
  await logIn(page, partner!);
  const [sent] = await Promise.all([
    page.waitForRequest((request) => request.method() === "POST" && request.url().includes("/confirm")),
    press(page, "Mit Passkey bestätigen"),
  ]);
  await expectHeading(page, "Dein zweiter Faktor");
  const again = await page.context().request.post(`${service.url}/sign-in/confirm`, {
    headers: { "content-type": "application/x-www-form-urlencoded" },
    data: sent.postData()!,
    maxRedirects: 0,
  });
  expect(again.status()).toBe(422);
});
