import { beforeAll, expect, test } from "vitest";
import type { ClientId } from "../../src/access/index.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, type PortalUser } from "../support/portal.ts";
import { answer, startReceiver, type Receiver } from "../support/receiver.ts";
import { makeTestClock, startService, type TestService } from "../support/service.ts";
import { getAppToken, postToken } from "../support/token.ts";
import { expectAccessible, sizes, useBrowser, type Look } from "./support/browser.ts";
import { logIn, press } from "./support/steps.ts";

const { newPage } = useBrowser();
const shots = process.env["SCREENSHOTS"];

let service: TestService;
let receiver: Receiver;
let partner: PortalUser;
let clientId: ClientId;
let base: string;

beforeAll(async () => {
  service = await startService({
    env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" },
    clock: makeTestClock(new Date()),
  });
  receiver = await startReceiver(answer(500, {}, "the queue of the app is full"));
  const make = makeMakers(service.db, new Date());
  const app = await make.app({ name: "Interaktive Lernwerkstatt Mathematik", scopes: ["openid", "schools:read"] });
  clientId = app.clientId;
  const schools = [await make.school({ name: "Goethe-Gymnasium Musterstadt" }), await make.school()];
  for (const school of schools) await make.grant({ app: clientId, school });
  await make.agreement(clientId);
  await postToken(service, app, { grant_type: "client_credentials", scope: "nonsense" });
  const headers = { authorization: `Bearer ${await getAppToken(service, app, ["schools:read"])}` };
  for (const path of ["schools", "schools/c0000000-0000-4000-8000-000000000001"])
    await fetch(`${service.url}/idm/ep/v1/${path}`, { headers });
  for (const name of ["traffic.flushLogs", "traffic.flush", "traffic.flush"]) await service.runJob(name);
  partner = await makePortalUser(service, "PARTNER", { clientIds: [clientId] });
  base = `${service.url}/partner/apps/${clientId}`;
});

async function enter(look: Look, path: string) {
  const page = await newPage(look);
  await page.goto(base + path);
  await logIn(page, partner);
  return page;
}

const looks: Look[] = [
  { javaScript: false },
  { colorScheme: "dark", size: "phone" },
  { colorScheme: "light", size: "whiteboard", locale: "en" },
];

test("a partner rotates a secret, makes an endpoint and sees a delivery", async () => {
  const page = await enter({}, "/secret");
  const look = async (name: string) => {
    if (shots !== undefined) await page.screenshot({ path: `${shots}/partner-${name}.png`, fullPage: true });
    await expectAccessible(page, name);
  };
  await look("secret");
  await page.getByLabel("Der jetzige gilt noch").selectOption("7");
  await press(page, "Neuen Zugangsschlüssel erstellen");
  const secret = await page.locator(".secret dd code").nth(1).textContent();
  expect(secret).toMatch(/^\S{20,}$/);
  expect(page.url()).not.toContain(secret!);
  await look("secret-made");
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("link", { name: "Webhook anlegen" }).click();
  await look("endpoint-new");
  await page.getByLabel("Adresse", { exact: true }).fill(receiver.url);
  await press(page, "Webhook anlegen");
  await page.getByText("whsec_").waitFor();
  await look("endpoint-made");
  await page.getByRole("link", { name: "Zum Webhook" }).click();
  await press(page, "Testnachricht senden");
  await page.getByText("Bisher kein Versuch.").waitFor();
  await look("delivery-waits");
  await service.runJob("webhooks.deliver");
  // The page asks again by itself.
  await page.getByText("Antwort mit Status 500").waitFor();
  await page.getByText("Antwort lesen").click();
  await look("delivery-tried");
  await page.getByRole("link", { name: "Zum Webhook" }).click();
  await page.getByText("0 von einem Versuch").waitFor();
  await page.waitForLoadState();
  await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
  await look("endpoint");
  await page.getByLabel("Zustand der Nachrichten").selectOption("FAILED");
  await page.getByText("Keine Nachrichten.").waitFor();
});

test.each(looks)("the pages of an app are accessible and fit: $colorScheme, $size", async (look) => {
  const page = await enter(look, "");
  const ofApp = [
    "",
    "?range=day",
    "/registration",
    "/secret",
    "/schools",
    "/scopes",
    "/agreement",
    "/webhooks",
    "/webhooks/signature",
    "/sandbox",
    "/sign-ons",
  ];
  const paths = [...ofApp, "/requests", "/log"].map((path) => base + path);
  for (const [index, path] of [`${service.url}/partner`, `${service.url}/partner/new`, ...paths].entries()) {
    await page.goto(path);
    if (look.javaScript !== false)
      await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
    if (shots !== undefined)
      await page.screenshot({ path: `${shots}/partner-${look.size ?? "desk"}-${index}.png`, fullPage: true });
    if (look.javaScript !== false) await expectAccessible(page, path);
  }
});

test("a partner makes a sandbox, plays a step of the year in it and deletes it", async () => {
  const page = await enter({}, "/sandbox");
  await press(page, "Sandbox anlegen");
  await page.getByText("Kopieren Sie sie jetzt").waitFor();
  await expectAccessible(page, "new sandbox");
  await press(page, "Nächsten Schritt spielen");
  await page.getByText("Der Schritt wurde gespielt.").waitFor();
  await expectAccessible(page, "sandbox");
  await press(page, "Diese Sandbox löschen");
  await page.getByText("Die Sandbox wurde gelöscht.").waitFor();
});

test("the registration is changed and permissions are asked for with JavaScript off", async () => {
  const page = await enter({ javaScript: false }, "/registration");
  await page.getByLabel("Was die App tut (Deutsch)").fill("Mathematik üben.");
  await press(page, "Registrierung speichern");
  await page.getByText("Die Registrierung ist gespeichert.").waitFor();
  await page.getByRole("link", { name: "Rechte" }).click();
  await page.getByLabel(/Den Namen der angemeldeten Person/).check();
  await page.getByLabel("Wozu braucht die App sie?").fill("Wir zeigen den Namen.");
  await press(page, "Anfragen");
  await page.getByText("Die Anfrage ist beim Betreiber.").waitFor();
});

test("on a phone the row of an app's pages shows the present one", async () => {
  const page = await enter({ size: "phone" }, "/ids");
  await expect
    .poll(async () => {
      const { x, width } = (await page.locator(".parts [aria-current]").boundingBox())!;
      return x >= 0 && x + width <= sizes.phone.width;
    })
    .toBe(true);
});
