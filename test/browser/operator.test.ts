import { beforeAll, expect, test } from "vitest";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, type PortalUser } from "../support/portal.ts";
import { makeTestClock, startService, type TestService } from "../support/service.ts";
import { getAppToken, postToken } from "../support/token.ts";
import { expectAccessible, useBrowser, type Look } from "./support/browser.ts";
import { logIn, press } from "./support/steps.ts";

const { newPage } = useBrowser();
const shots = process.env["SCREENSHOTS"];

let service: TestService;
let operator: PortalUser;

beforeAll(async () => {
  service = await startService({ clock: makeTestClock(new Date()) });
  const make = makeMakers(service.db, new Date());
  const app = await make.app({ name: "Lernapp", scopes: ["openid", "schools:read"] });
  const headers = { authorization: `Bearer ${await getAppToken(service, app, ["schools:read"])}` };
  for (let n = 0; n < 12; n++) await fetch(`${service.url}/idm/ep/v1/schools`, { headers });
  for (let n = 0; n < 5; n++)
    await fetch(`${service.url}/idm/ep/v1/schools/c0000000-0000-4000-8000-000000000001`, { headers });
  for (const scope of ["nonsense", "other"]) await postToken(service, app, { grant_type: "client_credentials", scope });
  for (const name of ["traffic.flush", "traffic.flush"]) await service.runJob(name);
  const { browser } = await makePortalUser(service, "PARTNER", { clientIds: [app.clientId] });
  for (const reason of ["Lehrkräfte stellen ihren Klassen Aufgaben."]) {
    const form = await browser.open(`/partner/apps/${app.clientId}/scopes`);
    await browser.submit(form, "/scopes", { scope: "people:read", reason });
  }
  operator = await makePortalUser(service, "OPERATOR");
});

async function enter(look: Look, path: string) {
  const page = await newPage(look);
  await page.goto(service.url + path);
  await logIn(page, operator);
  return page;
}

const looks: Look[] = [
  { colorScheme: "light", size: "desk" },
  { colorScheme: "dark", size: "phone" },
  { colorScheme: "light", size: "whiteboard", locale: "en" },
];

test.each(looks)("the pages of an operator are accessible and fit: $colorScheme, $size", async (look) => {
  const page = await enter(look, "/admin/apps");
  const paths = [
    "/admin/apps",
    "/admin/keys",
    "/admin/retention",
    "/admin/retention?state=DE-RP",
    "/admin/figures",
    "/admin/figures?range=month",
  ];
  for (const [index, path] of paths.entries()) {
    await page.goto(service.url + path);
    if (shots !== undefined)
      await page.screenshot({ path: `${shots}/operator-${look.size}-${index}.png`, fullPage: true });
    await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
    await expectAccessible(page, path);
  }
});

test("an operator decides on a request and rotates the keys, with JavaScript off", async () => {
  const page = await enter({ javaScript: false }, "/admin/apps");
  await press(page, "Ablehnen");
  await page.getByText("Bitte schreiben Sie dem Anbieter, warum Sie ablehnen.").waitFor();
  await press(page, "Genehmigen");
  await page.getByText("Die Anfrage ist genehmigt").waitFor();
  await page.getByText("Keine Anfrage wartet.").waitFor();
  await page.getByRole("link", { name: "Schlüssel", exact: true }).click();
  await page.getByText("Schlüssel wechseln").click();
  await press(page, "Jetzt wechseln");
  await page.getByText("Die Schlüssel sind gewechselt.").waitFor();
  await expect.poll(() => page.getByText("abgelöst", { exact: true }).count()).toBeGreaterThan(0);
});
