import { expect, test } from "vitest";
import type { PersonId } from "../../src/directory/index.ts";
import type { components } from "../../generated/openapi/admin.ts";
import { makeStaff } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { answer, startReceiver } from "../support/receiver.ts";
import { startService } from "../support/service.ts";
import { askFor, giveLogin } from "../support/token.ts";
import { expectAccessible, useBrowser } from "./support/browser.ts";

type Schemas = components["schemas"];

const { newPage } = useBrowser();
const service = await startService();
const make = makeMakers(service.db);
const school = await make.school();
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const appServer = await startReceiver(answer(200));
const app = await make.app({ scopes: ["openid"], redirectUris: [`${appServer.url}/callback`] });
await make.grant({ app: app.clientId, school });

async function makeCard(secondStep: Schemas["CardSecondStep"]): Promise<Schemas["MadeLoginCard"]> {
  const rules = { enabled: true, grades: null, hours: null, networks: [], printSecondStep: false };
  await admin.call("PUT", `/schools/${school}/card-settings`, { body: { ...rules, secondStep } });
  const person: PersonId = await make.person({ school });
  await giveLogin(service.db, person);
  const body = { personIds: [person], newPasswords: false, withQr: true };
  return ((await admin.call("POST", `/schools/${school}/login-cards`, { body })).body as Schemas["MadeLoginCards"])
    .cards[0]!;
}

test("a card of a browser in which an app waits leads to the app, past the policy for forms", async () => {
  const { url } = await makeCard("NONE");
  const page = await newPage({ locale: "en" });
  await page.goto(askFor(service, app).address);
  await page.goto(url!);
  await page.locator("main form button.primary").click();
  await page.waitForURL((address) => address.pathname !== "/card");
  if (page.url().includes("/interaction/")) await page.locator("form[action$='/consent'] button.primary").click();
  await page.waitForURL(`${app.redirectUri}?**`);
  expect(page.url()).toContain("code=");
});

test.each(["PIN", "PICTURE"] as const)(
  "the page that asks for a %s is accessible, also after a wrong answer",
  async (step) => {
    const { url, picture, pin } = await makeCard(step);
    const page = await newPage({ locale: "de", size: "phone" });
    await page.goto(url!);
    await expectAccessible(page, step);
    if (step === "PIN") {
      await page.locator("#answer").fill(pin === "0000" ? "1111" : "0000");
      await page.locator("main form button.primary").click();
    } else await page.locator(`button[value=${picture === "sun" ? "moon" : "sun"}]`).click();
    await page.locator("#problem").waitFor();
    await expectAccessible(page, `${step}, wrong`);
    await page.goto(`${service.url}/card/unknown`);
    await expectAccessible(page, "unknown card");
  },
);
