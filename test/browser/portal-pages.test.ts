import { expect, test } from "vitest";
import { fillPath, makePortalWorld, portalPaths } from "../support/portal-world.ts";
import { makePortalUser } from "../support/portal.ts";
import { makeTestClock, startService } from "../support/service.ts";
import { getAppToken, postToken } from "../support/token.ts";
import { expectAccessible, expectAccessibleEverywhere, expectReadable, useBrowser } from "./support/browser.ts";

const { newPageAs } = useBrowser();
const env = { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" };
// Browsers judge cookies by the real time.
const service = await startService({ clock: makeTestClock(new Date()), env });
const world = await makePortalWorld(service);
const forOperator = await makePortalUser(service, "OPERATOR");

/** What apps did, for the figures and the pages of sign-ons and calls. */
async function makeTraffic(): Promise<void> {
  const headers = { authorization: `Bearer ${await getAppToken(service, world.app, ["schools:read"])}` };
  for (const path of ["schools", "schools/c0000000-0000-4000-8000-000000000001"])
    await fetch(`${service.url}/idm/ep/v1/${path}`, { headers });
  await postToken(service, world.app, { grant_type: "client_credentials", scope: "nonsense" });
  for (const name of ["traffic.flushLogs", "traffic.flush", "traffic.flush"]) await service.runJob(name);
}

const isFile = (path: string) => /\/(file|csv|json|pdf|document|template|logo)$/.test(path);
const paths = portalPaths.filter(
  (path) => !isFile(path) && !/^\/set-up|calls\/:number|^\/admin\/schools\/:schoolId$/.test(path),
);

test("every page of the portal is accessible on every screen and in the dark", async () => {
  await makeTraffic();
  const page = await newPageAs(forOperator, service.url, { size: "phone" });
  let count = 0;
  for (const path of paths) {
    const response = await page.goto(service.url + fillPath(path, world));
    if (response!.status() !== 200) continue;
    count += 1;
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    await expectAccessibleEverywhere(page, path, path.includes("/docs") ? expectReadable : expectAccessible);
  }
  expect(count).toBeGreaterThan(70);
});

test.each([
  ["/admin/schools/:schoolId/settings", "/settings/cards"],
  ["/partner/apps/:clientId/webhooks/new", "/webhooks/new"],
])(
  "a refused form of %s (%s) is accessible, and its message has the focus and leads to the field",
  async (path, step) => {
    const page = await newPageAs(forOperator, service.url, { size: "phone" });
    await page.goto(service.url + fillPath(path, world));
    const form = page.locator(`form[action$="${step}"]`);
    await form.evaluate((element) => ((element as unknown as { noValidate: boolean }).noValidate = true));
    for (const field of await form.locator("input[required], textarea").all()) await field.fill("", { force: true });
    for (const field of await form.locator('[name="networks"]').all()) await field.fill("nonsense");
    await form.locator("button[type=submit]").last().click();
    const problem = page.locator("#problem:focus");
    await problem.waitFor();
    await expectAccessibleEverywhere(page, step, expectAccessible);
    await problem.getByRole("link").first().click();
    await page.locator("[aria-invalid=true]:focus").waitFor();
  },
);
