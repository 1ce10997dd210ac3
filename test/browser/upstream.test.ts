import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { putWayInIn } from "../../src/upstream/index.ts";
import { makeMakers } from "../support/make.ts";
import { answer, startReceiver } from "../support/receiver.ts";
import { makeRunningClock, startService } from "../support/service.ts";
import { askFor } from "../support/token.ts";
import { connectSchool, refuseAll, signInThere, spoil } from "../support/upstream-browser.ts";
import { startUpstreamProvider } from "../support/upstream-provider.ts";
import { expectAccessible, useBrowser } from "./support/browser.ts";
import { answerToApp, expectHeading, press } from "./support/steps.ts";

const { newPage } = useBrowser();
const env = { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" };
const service = await startService({ env, clock: makeRunningClock() });
const provider = await startUpstreamProvider();
const make = makeMakers(service.db);
const school = await make.school({ name: "Goethe-Gymnasium" });
await connectSchool(service, provider, { school, endsUpstreamSession: true });
const settings = { schoolId: school, linkName: "goethe", localPasswords: false };
await withPrismaTransaction(service.db, (tx) => putWayInIn(tx, settings, { at: service.clock() }));
const appServer = await startReceiver(
  answer(200, { "content-type": "text/html" }, '<link rel="icon" href="data:,">app'),
);
const bye = `${appServer.url}/bye`;
const wishes = { redirectUris: [`${appServer.url}/callback`], postLogoutRedirectUris: [bye] };
const app = await make.app({ name: "Lernapp", scopes: ["openid"], ...wishes });
await make.grant({ app: app.clientId, school });

async function makePupil(): Promise<void> {
  const personId = await make.person({ school, name: { firstFull: "Bo", firstCall: "Bo", last: "Muster" } });
  const sourceSystemIdentifier = randomUUID();
  await service.db.prisma.person.update({ where: { id: personId }, data: { sourceSystemIdentifier } });
  signInThere(provider, { import_id: sourceSystemIdentifier });
}

test("a pupil finds the school, signs in with its login, arrives in the app, and signs out of both", async () => {
  await makePupil();
  const page = await newPage({ size: "phone" });
  // The provider's own page of signing out wants a font.
  await page.route(/fonts\.googleapis/, (route) => route.fulfill({ contentType: "text/css", body: "" }));
  await page.goto(askFor(service, app).address);
  await page.getByRole("link", { name: /eigenes Login/ }).click();
  await expectHeading(page, "Such deine Schule");
  await expectAccessible(page, "search");
  await page.getByLabel("Name und Ort deiner Schule").fill("goethe");
  await press(page, "Suchen");
  await expectAccessible(page, "found");
  await press(page, "Goethe-Gymnasium, Town");
  const button = /^Mit IServ von Goethe-Gymnasium anmelden$/;
  await page.getByRole("button", { name: button }).waitFor();
  await expect.poll(() => page.locator("#password").count()).toBe(0);
  await expectAccessible(page, "sign-in page");
  await press(page, button);
  await press(page, "Ja, erlauben");
  expect(await answerToApp(page)).toMatchObject({ code: expect.any(String) });

  // With a session at the login, the browser passes it, this service and the app without a page.
  await page.context().clearCookies({ name: "_session" });
  await page.goto(askFor(service, app).address);
  await press(page, button);
  expect(await answerToApp(page)).toMatchObject({ code: expect.any(String) });

  const leave = new URLSearchParams({ client_id: app.clientId, post_logout_redirect_uri: bye });
  await page.goto(`${service.url}/oauth2/sessions/logout?${leave.toString()}`);
  await press(page, "Ja, abmelden");
  await page.waitForURL(`${provider.issuer}/session/end**`);
  await page.locator("button[value=yes]").click();
  await page.waitForURL(bye);
});

test("the page of a failure is accessible and leads back; staff find the password form", async () => {
  const page = await newPage({ locale: "de", size: "phone" });
  refuseAll(provider, "access_denied");
  await page.goto(`${service.url}/s/goethe`);
  await press(page, /^Mit IServ/);
  await expectHeading(page, "Du hast abgebrochen");
  await expectAccessible(page, "cancelled");
  spoil(provider, null);
  await page.getByRole("link", { name: "Noch einmal versuchen" }).click();
  await page.getByRole("link", { name: "Andere Wege, sich anzumelden" }).click();
  await page.locator("#password").waitFor();
  await expectAccessible(page, "other ways");
});
