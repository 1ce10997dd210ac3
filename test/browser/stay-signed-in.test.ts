import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import world from "../../demo/demo.json" with { type: "json" };
import type { PersonId, SchoolId } from "../../src/directory/index.ts";
import { giveRoleTo } from "../support/portal.ts";
import { setSignInSettings } from "../support/sign-ins.ts";
import { expectAccessible, useBrowser } from "./support/browser.ts";
import { startDemoService, type DemoService } from "./support/demo-service.ts";
import { expectHeading, logIn } from "./support/steps.ts";

const { newPage } = useBrowser();
let service: DemoService;

const [teacher, pupil] = world.people;
const goethe = world.schools[0]!.id as SchoolId;

beforeAll(async () => {
  service = await startDemoService();
  const given = { schoolId: goethe, staySignedInDays: 30 };
  await setSignInSettings(service.db, given, { at: service.clock() });
});

/** The browser is closed and opened again: a profile with the cookies that outlive it. */
async function reopen(page: Page): Promise<Page> {
  const kept = (await page.context().cookies()).filter(({ expires }) => expires > 0);
  const opened = await newPage();
  await opened.context().addCookies(kept);
  return opened;
}

test("a teacher and a secretary stay signed in on a new device that nobody else uses; a pupil does not", async () => {
  for (const [person, path, stays] of [
    [pupil!, "/account", false],
    [teacher!, "/account", true],
    [teacher!, "/admin", true],
  ] as const) {
    if (path === "/admin") await giveRoleTo(service, teacher!.id as PersonId, "SECRETARY", { schoolIds: [goethe] });
    const page = await newPage();
    await page.goto(service.url + "/sign-in");
    const tick = page.getByLabel("Auf diesem Gerät angemeldet bleiben");
    await page.getByLabel("Dieses Gerät benutzen auch andere").check();
    await tick.waitFor({ state: "hidden" });
    await page.getByLabel("Dieses Gerät benutzen auch andere").uncheck();
    await tick.check();
    await expectAccessible(page);
    await logIn(page, person as { username: string; password: string });
    await page.waitForURL((url) => !url.pathname.startsWith("/sign-in"));
    const [expires = 0] = (await page.context().cookies())
      .filter(({ name }) => name.endsWith("_session"))
      .map((cookie) => cookie.expires);
    expect(expires > 0 && Math.round((expires - Date.now() / 1000) / 86_400)).toBe(stays && 30);
    const again = await reopen(page);
    await again.goto(service.url + path);
    expect(new URL(again.url()).pathname.startsWith("/sign-in")).toBe(!stays);
    if (stays) continue;
    await expectHeading(again, `Weiter als ${pupil!.name!.firstCall}`);
    await again.getByText("Für alle, die an der Schule arbeiten.").waitFor();
  }
});
