import { expect, test } from "vitest";
import { textOf } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { giveRoleTo, makePortalUser } from "../support/portal.ts";
import { oneRosterOf, pupilsOf, startSource, status } from "../support/roster-source.ts";
import { startService } from "../support/service.ts";

const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const make = makeMakers(service.db);
const { prisma } = service.db;
const school = await make.school({ officialId: "DE-P1" });
const other = await make.school({ officialId: "DE-P2" });
const base = `/admin/schools/${school}/roster-connections`;
const admin = await makePortalUser(service, null);
await giveRoleTo(service, admin.personId, "SCHOOL_ADMIN", { schoolIds: [school, other] });
const secretary = await makePortalUser(service, null);
await giveRoleTo(service, secretary.personId, "SECRETARY", { schoolIds: [school] });
const { browser } = admin;

test("a program is connected, tested, switched on, run, and its failure is on the page and on Today", async () => {
  const source = await startSource(oneRosterOf(pupilsOf(12), { identifier: "DE-P1" }));
  const list = await browser.open(base);
  expect(textOf(list.html)).toContain("Noch ist kein Programm verbunden.");
  expect(list.html).not.toContain("kind=FOLDER");
  const form = await browser.open(`${base}/new?kind=ONEROSTER`);
  const address = `${source.address}/ims/oneroster/rostering/v1p2`;
  const incomplete = await browser.submit(form, "/new", { name: "Untis", address: "" });
  expect(incomplete.status).toBe(400);
  const fields = { name: "Untis", address, secret: "hush", times: "02:30\n14:00", daysOff: "SUNDAY" };
  const made = await browser.submit(form, "/new", { ...fields, applies: "UNLESS_HELD" });
  expect(textOf(made.html)).toContain("Machen Sie einen Probelauf");
  const { id, ...stored } = await prisma.rosterConnection.findFirstOrThrow({ where: { name: "Untis" } });
  expect(stored).toMatchObject({
    times: ["02:30", "14:00"],
    daysOff: ["SUNDAY"],
    applies: "UNLESS_HELD",
    state: "OFF",
  });
  expect(made.html).not.toContain("hush");

  const one = `${base}/${id}`;
  const tested = await browser.submit(await browser.open(one), "/test");
  expect(textOf(tested.html)).toMatch(/geprüft.*12 neu, 0 geändert, 0 gehen/);
  const on = await browser.submit(await browser.open(one), "/on");
  expect(textOf(on.html)).toMatch(/Nächster Lauf: .*14:00/);
  const ran = await browser.submit(await browser.open(one), "/run");
  expect(textOf(ran.html)).toContain("übernommen");
  const { importId } = await prisma.rosterRun.findFirstOrThrow({ where: { outcome: "APPLIED" } });
  expect(ran.html).toContain(`/admin/schools/${school}/imports/${importId}`);

  source.answers["/ims/oneroster/rostering/v1p2/orgs"] = status(401);
  const failed = await browser.submit(await browser.open(one), "/run");
  expect(textOf(failed.html)).toContain("Das Programm hat die Zugangsdaten abgelehnt");
  expect((await browser.open(`/admin/schools/${school}/today`)).html).toContain(one);

  const changed = await browser.submit(await browser.open(one), "/settings", {
    ...fields,
    applies: "UNLESS_HELD",
    name: "WebUntis",
    secret: "",
  });
  expect(textOf(changed.html)).toContain("Die Verbindung ist geändert.");
  expect(await prisma.rosterConnection.findUniqueOrThrow({ where: { id } })).toMatchObject({
    name: "WebUntis",
    state: "ON",
    times: ["02:30", "14:00"],
  });
  expect((await browser.open(`/admin/schools/${other}/roster-connections/${id}`)).status).toBe(404);
  const shown = await secretary.browser.open(one);
  expect(shown.html).not.toContain("/deletion");
  expect(shown.html).toContain("/test");
  const gone = await browser.submit(await browser.open(one), "/deletion");
  expect(textOf(gone.html)).toContain("Die Verbindung ist gelöscht.");
});
