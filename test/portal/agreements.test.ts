import { expect, test } from "vitest";
import type { AppAttribute } from "../../src/access/index.ts";
import { makeMakers } from "../support/make.ts";
import { giveRoleTo, makePortalUser } from "../support/portal.ts";
import { startService } from "../support/service.ts";

const service = await startService({ env: { AGREEMENTS: "required" } });
const make = makeMakers(service.db);
const { prisma } = service.db;

const person = await makePortalUser(service, null);

/** A school and an app of their own, which one person runs and looks after. */
async function makeWorld() {
  const school = await make.school();
  const group = await make.group({ school, name: "5a" });
  await make.person({ school, groups: [group], name: { firstFull: "Bo", firstCall: "Bo", last: "Muster" } });
  const { clientId } = await make.app({ name: "Lernapp", scopes: ["openid"], attributes: ["PERSON_NAME"] });
  const { browser, personId } = person;
  await giveRoleTo(service, personId, "SCHOOL_ADMIN", { schoolIds: [school] });
  await giveRoleTo(service, personId, "PARTNER", { clientIds: [clientId] });
  const [ofPartner, ofSchool] = [`/partner/apps/${clientId}/agreement`, `/admin/schools/${school}/apps/${clientId}`];
  return { school, group, clientId, browser, ofPartner, ofSchool, agreement: `${ofSchool}/agreement` };
}

type World = Awaited<ReturnType<typeof makeWorld>>;

const draft = {
  version: "2026",
  text: "§ 1 Gegenstand\n\n§ 2 <b>Weisungen</b>",
  deletionDe: "30 Tage nach dem Ende der Nutzung",
  subprocessors: "Rechenzentrum Nord GmbH; de; Hosting",
  "de-PERSON_NAME": "Die App spricht Kinder mit Namen an.",
  "de-openid": "Anmeldung",
};

async function publish({ browser, ofPartner }: World, more: object = {}) {
  const form = await browser.open(ofPartner);
  const kept = await browser.submit(form, "/agreement", { ...draft, ...more });
  expect(kept.html).toContain("Der Entwurf ist gespeichert.");
  return browser.submit(kept, "/publication", {});
}

async function agree({ browser, agreement }: World, chosen: object = { given: "" }) {
  const preview = await browser.submit(await browser.open(agreement), "/agreement", { act: "accept", ...chosen });
  return { preview, done: await browser.submit(preview, "/agreement", { step: "confirm" }) };
}

test("a partner writes a draft in words, is told what is missing, and publishes it", async () => {
  const world = await makeWorld();
  const { browser, ofPartner, clientId } = world;
  const form = await browser.open(ofPartner);
  const wrong = await browser.submit(form, "/agreement", { ...draft, subprocessors: "Nord GmbH, Hosting" });
  expect(wrong.html).toContain("Schreiben Sie Name; Land mit zwei Buchstaben; Zweck.");
  expect(wrong.html).toContain("Nord GmbH, Hosting");
  const incomplete = await publish(world, { "de-openid": "" });
  expect(incomplete.html).toContain("Der Entwurf ist nicht vollständig");
  const done = await publish(world, { required: "openid" });
  expect(done.html).toContain("Die Fassung ist veröffentlicht.");
  const [made] = await prisma.agreement.findMany({
    where: { clientId },
    include: { purposes: true, subprocessors: true },
  });
  expect(made).toMatchObject({
    version: "2026",
    subprocessors: [{ name: "Rechenzentrum Nord GmbH", country: "DE", purpose: "Hosting" }],
  });
  expect(made!.purposes.map(({ item, required }) => [item, required]).sort()).toEqual([
    ["PERSON_NAME", false],
    ["openid", true],
  ]);
  // The next draft begins with what the current version says.
  expect((await browser.open(ofPartner)).html).toContain("Die App spricht Kinder mit Namen an.");
});

type Registration = { scopes?: string[]; attributes?: AppAttribute[] };

test("an app that got more or less after the page was shown is not agreed to", async () => {
  const world = await makeWorld();
  const { browser, agreement, clientId, school } = world;
  await make.agreement(clientId);
  const register = (data: Registration) => prisma.app.update({ where: { clientId }, data });
  const changes: Registration[] = [
    { scopes: ["openid", "people:read"] },
    { attributes: [] },
    { attributes: ["SCHOOL_ADDRESS"] },
  ];
  for (const change of changes) {
    const page = await browser.open(agreement);
    await register(change);
    const refused = await browser.submit(page, "/agreement", { act: "accept", given: "PERSON_NAME" });
    const preview = await browser.submit(await browser.open(agreement), "/agreement", { act: "accept" });
    await register({ scopes: ["openid"], attributes: ["PERSON_NAME"] });
    const late = await browser.submit(preview, "/agreement", { step: "confirm" });
    expect([change, refused.status, late.status]).toEqual([change, 412, 412]);
  }
  expect(await prisma.agreementAcceptance.count({ where: { clientId, schoolId: school } })).toBe(0);
});

test("a school reads, switches names off, and agrees after a preview", async () => {
  const world = await makeWorld();
  const { browser, ofSchool, agreement, school, group, clientId } = world;
  await publish(world);
  await make.grant({ app: clientId, school, groups: [group] });
  expect((await browser.open(`/admin/schools/${school}/today`)).html).toContain("Lernapp: noch nicht zugestimmt");
  expect((await browser.open(ofSchool)).html).toContain("Ihre Schule hat der Vereinbarung noch nicht zugestimmt.");
  const page = await browser.open(agreement);
  expect(page.html).toContain("§ 2 &lt;b&gt;Weisungen&lt;/b&gt;");
  expect(page.html).toContain("Rechenzentrum Nord GmbH (DE): Hosting");
  expect(page.html).toContain("Der Betreiber verlangt diese Vereinbarung");
  const { preview, done } = await agree(world);
  expect(preview.html).toContain("Namen von Personen");
  expect(done.html).toContain("Ihre Schule hat der Vereinbarung zugestimmt.");
  expect(await prisma.withheldItem.findMany({ where: { clientId } })).toMatchObject([{ item: "PERSON_NAME" }]);
  expect((await browser.open(ofSchool)).html).toContain("Für diese App ausgeschaltet: Namen von Personen.");
  expect((await browser.open(`/admin/schools/${school}/today`)).html).not.toContain("Lernapp: noch nicht");

  // Switching on again asks for no further agreement.
  const back = await browser.submit(await browser.open(agreement), "/agreement", {
    act: "withhold",
    given: "PERSON_NAME",
  });
  const kept = await browser.submit(back, "/agreement", { step: "confirm" });
  expect(kept.html).toContain("Die Auswahl der Daten ist geändert.");
  expect(await prisma.withheldItem.count({ where: { clientId } })).toBe(0);
});

test("the receipt of what a school agreed to is shown, printed and loaded", async () => {
  const world = await makeWorld();
  const { browser, school, clientId } = world;
  await make.agreement(clientId);
  await agree(world, { given: "PERSON_NAME" });
  const list = await browser.open(`/admin/schools/${school}/agreements`);
  expect(list.html).toContain(`<a href="/admin/schools/${school}/apps">Alle Apps`);
  const [, receipt] = /(\/admin\/schools\/[^"]+\/agreements\/[0-9a-f-]{36})"/.exec(list.html) ?? [];
  const shown = await browser.open(receipt!);
  expect(shown.html).toContain("data-print");
  expect(shown.html).toContain("Vereinbarte Daten</dt><dd>Namen von Personen");
  for (const [file, start] of [
    ["pdf", "%PDF-"],
    ["json", "{"],
    ["document", "§ 1"],
  ]) {
    const loaded = await browser.open(`${receipt}/${file}`);
    expect(loaded.html.startsWith(start!), file).toBe(true);
  }
});

test("sync is refused in words until the school agrees, and ends when it withdraws", async () => {
  const world = await makeWorld();
  const { browser, ofSchool, agreement, group, clientId } = world;
  await make.agreement(clientId);
  const grant = async () => {
    const chosen = { signOn: "EVERYBODY", sync: "on", syncedGroup: group, step: "preview" };
    return browser.submit(await browser.open(`${ofSchool}/change`), "/change", chosen);
  };
  expect((await grant()).html).toContain("muss Ihre Schule der aktuellen Vereinbarung zustimmen");
  await agree(world, { given: "PERSON_NAME" });
  await browser.submit(await grant(), "/change", { step: "confirm" });
  expect(await prisma.grant.findFirst({ where: { clientId } })).toMatchObject({ sync: true });
  const question = await browser.open(`${agreement}/withdrawal`);
  expect(question.html).toContain("Das Abrufen wird sofort ausgeschaltet.");
  const done = await browser.submit(question, "/withdrawal", {});
  expect(done.html).toContain("Die Zustimmung ist zurückgenommen.");
  expect(await prisma.grant.findFirst({ where: { clientId } })).toMatchObject({ sync: false });
});

test("a later version is asked on Today and refused where it was published meanwhile", async () => {
  const world = await makeWorld();
  const { browser, agreement, school, group, clientId } = world;
  await make.agreement(clientId);
  await make.grant({ app: clientId, school, groups: [group] });
  await agree(world, { given: "PERSON_NAME" });
  const old = await browser.open(agreement);
  service.clock.forwardSeconds(1);
  await publish(world, { version: "2027" });
  expect((await browser.open(`/admin/schools/${school}/today`)).html).toContain("Lernapp: neue Fassung");
  const stale = await browser.submit(old, "/agreement", { act: "withhold", given: "" });
  expect(stale.html).toMatch(/inzwischen|geändert/);
  const page = await browser.open(agreement);
  expect(page.html).toContain("in der Fassung 2026 vereinbart");
  const { done } = await agree(world, { given: "PERSON_NAME" });
  expect(done.html).toContain("Ihre Schule hat der Vereinbarung zugestimmt.");
});

test("a choice that is saved before a school agrees to a new version switches nothing on that this one requires", async () => {
  const world = await makeWorld();
  const { browser, agreement, clientId } = world;
  await prisma.app.update({ where: { clientId }, data: { attributes: ["PERSON_NAME", "SCHOOL_ADDRESS"] } });
  const address = { "de-SCHOOL_ADDRESS": "Rechnungen" };
  await publish(world, address);
  await agree(world);
  // Of two versions of the same moment, either may be the current one.
  service.clock.forwardSeconds(1);
  await publish(world, { ...address, version: "2027", required: "PERSON_NAME" });
  const form = await browser.open(agreement);
  const chosen = { act: "withhold", given: "SCHOOL_ADDRESS" };
  const preview = await browser.submit(form, "/agreement", chosen);
  const done = await browser.submit(preview, "/agreement", { step: "confirm" });
  expect(done.html).toContain("Die Auswahl der Daten ist geändert.");
  expect(await prisma.withheldItem.findMany({ where: { clientId } })).toMatchObject([{ item: "PERSON_NAME" }]);
});
