import { beforeAll, expect, test } from "vitest";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, type PortalUser } from "../support/portal.ts";
import { makeTestClock, startService, type TestService } from "../support/service.ts";
import { expectReadable, useBrowser, type Look } from "./support/browser.ts";
import { logIn } from "./support/steps.ts";

const { newPage } = useBrowser();
const shots = process.env["SCREENSHOTS"];

let service: TestService;
let partner: PortalUser;
let base: string;

beforeAll(async () => {
  service = await startService({ clock: makeTestClock(new Date()) });
  const make = makeMakers(service.db, new Date());
  const { clientId } = await make.app({ name: "Interaktive Lernwerkstatt Mathematik" });
  const school = await make.school({ name: "Goethe-Gymnasium Musterstadt" });
  const group = await make.group({ school });
  await make.people({ school, count: 3, groups: [group] });
  await make.grant({ app: clientId, school, groups: [group] });
  partner = await makePortalUser(service, "PARTNER", { clientIds: [clientId] });
  base = `${service.url}/partner/apps/${clientId}/docs`;
});

const looks: Look[] = [
  { javaScript: false },
  { colorScheme: "dark", size: "phone" },
  { colorScheme: "light", size: "desk", locale: "en" },
];

test.each(looks)("a partner runs the calls of a guide, $size $colorScheme, JavaScript: $javaScript", async (look) => {
  const page = await newPage(look);
  await page.goto(`${base}/not-found`);
  await logIn(page, partner);
  // Before the scripts of the page ran, a call leads to another page.
  await page.waitForLoadState();
  for (const number of [2, 4]) {
    const call = page.locator(`#answer-${number}`);
    await call.getByRole("button", { name: look.locale === "en" ? "Run" : "Ausführen" }).click();
    await call.getByText(number === 2 ? "HTTP/1.1 404" : "HTTP/1.1 200").waitFor();
    if (look.javaScript !== false) await expect.poll(() => page.url()).toBe(`${base}/not-found`);
    if (shots !== undefined)
      await page.screenshot({ path: `${shots}/own-${look.colorScheme ?? "plain"}-${number}.png`, fullPage: true });
  }
  if (look.javaScript === false) return;
  await expectReadable(page);
  for (const path of ["", "/sign-on-server", "/client-credentials"]) {
    await page.goto(base + path);
    await expectReadable(page);
    if (shots !== undefined)
      await page.screenshot({ path: `${shots}/own-${look.colorScheme!}${path.replace("/", "-")}.png`, fullPage: true });
  }
});
