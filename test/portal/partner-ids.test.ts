import { expect, test } from "vitest";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { startService } from "../support/service.ts";

const service = await startService();
const make = makeMakers(service.db);
const runJob = () => service.runJob("access.moveIds");

test("a partner previews the move of an app, starts it, sets its day, calls it off, and cuts over", async () => {
  const { clientId } = await make.app({ name: "Lernapp" });
  const school = await make.school();
  const group = await make.group({ school });
  await make.grant({ app: clientId, school, groups: [group] });
  for (let count = 0; count < 3; count++) await make.person({ school, groups: [group] });
  const { browser } = await makePortalUser(service, "PARTNER", { clientIds: [clientId] });
  const address = `/partner/apps/${clientId}/ids`;

  let page = await browser.open(address);
  page = await browser.submit(page, address, { ids: "PARTNER", cutOverOn: "2020-01-01" });
  expect(page.html).toContain("Der Tag der Umstellung muss in der Zukunft liegen.");
  expect(page.html).toContain('value="2020-01-01"');
  const form = { ...page, html: page.html.replace(`action="${address}"`, `action="${address}/preview"`) };
  page = await browser.submit(form, `${address}/preview`, { ids: "PARTNER", cutOverOn: "2099-01-31" });
  expect(page.html).toContain("3 Personen würden ihre ID bis zur Umstellung behalten.");
  expect(page.html).toContain('<option value="PARTNER" selected>');
  page = await browser.submit(page, address, { ids: "PARTNER", cutOverOn: "2099-01-31" });
  expect(page.html).toContain("Die Umstellung hat begonnen.");
  expect(page.html).toContain("31.01.2099");
  await runJob();
  page = await browser.open(address);
  expect(page.html).toContain("3 von 3");
  expect(page.html).toContain("0 von 3");
  expect(page.html).toMatch(/value="2099-01-31"[^>]* aria-describedby="cutOverOn-hint"/);
  page = await browser.submit(page, `${address}/date`, { cutOverOn: "2098-05-01" });
  expect(page.html).toContain("01.05.2098");
  page = await browser.submit(page, `${address}/date`, { cutOverOn: "" });
  expect(page.html).toContain("noch offen");

  page = await browser.submit(page, `${address}/calling-off`, {});
  expect(page.html).toContain("Die Umstellung ist abgebrochen.");
  page = await browser.submit(page, address, { ids: "APP", cutOverOn: "" });
  expect(page.html).toContain("Die abgebrochene Umstellung wird noch zurückgenommen.");
  await runJob();
  page = await browser.submit(await browser.open(address), address, { ids: "APP", cutOverOn: "" });
  await runJob();
  page = await browser.submit(await browser.open(address), `${address}/cut-over`, { confirmed: "other" });
  expect(page.status).toBe(400);
  expect(page.html).toContain("Die eingegebene Client-ID stimmt nicht. Es wurde nichts geändert.");
  expect(page.html).toContain("<details open><summary>Jetzt umstellen");
  page = await browser.submit(page, `${address}/cut-over`, { confirmed: clientId });
  expect(page.html).toContain("Die App verwendet jetzt die neuen IDs.");
  expect(page.html).toContain("unter IDs, die keine andere App hat");
  expect(page.html).not.toContain(`action="${address}`);
});

// As docs/moving-ids.md says: before, the other app is started with the command line.
test("an app can have the ids of another app of the partner when that one has cut over", async () => {
  const [first, second] = [await make.app({ name: "Lernapp" }), await make.app({ name: "Lesewelt" })];
  const { browser } = await makePortalUser(service, "PARTNER", { clientIds: [first.clientId, second.clientId] });
  const [address, other] = [first, second].map(({ clientId }) => `/partner/apps/${clientId}/ids`) as [string, string];
  await browser.submit(await browser.open(address), address, { ids: "PARTNER", cutOverOn: "" });
  await runJob();
  const moving = await browser.open(address);
  const [, sector] = /<code class="hint">([^<]+)/.exec(moving.html)!;
  expect((await browser.open(other)).html).not.toContain(sector);
  await browser.submit(moving, `${address}/cut-over`, { confirmed: first.clientId });
  const page = await browser.open(other);
  expect(page.html).toContain(`<option value="${sector}">Dieselben wie Lernapp`);
  expect((await browser.submit(page, other, { ids: sector!, cutOverOn: "" })).html).toContain(sector);
});
