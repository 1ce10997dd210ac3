import { expect, test } from "vitest";
import { makeUuid } from "../../src/platform/crypto/ids.ts";
import type { Browser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { startService } from "../support/service.ts";
import { getAppToken, giveLogin } from "../support/token.ts";

const service = await startService();
const make = makeMakers(service.db);
const { prisma } = service.db;

const { runJob } = service;
const { browser } = await makePortalUser(service, "OPERATOR");

/** A partner who asks for a scope on their page. */
async function makeRequest() {
  const { clientId } = await make.app({ name: "<i>Lernapp</i>", scopes: ["openid"] });
  const { browser: partner } = await makePortalUser(service, "PARTNER", { clientIds: [clientId] });
  const form = await partner.open(`/partner/apps/${clientId}/scopes`);
  await partner.submit(form, "/scopes", { scope: "profile", reason: "<b>Namen</b> zeigen" });
  const { id } = await prisma.scopeRequest.findFirstOrThrow({ where: { clientId } });
  return { clientId, id, partner, address: `/partner/apps/${clientId}/scopes` };
}

const readRequest = (id: string) => prisma.scopeRequest.findUniqueOrThrow({ where: { id } });

test("a request of scopes is approved once, and the app has them", async () => {
  const { clientId, id } = await makeRequest();
  const page = await browser.open("/admin/apps");
  expect(page.html).toContain("&lt;b&gt;Namen&lt;/b&gt; zeigen");
  expect(page.html).not.toContain("<i>Lernapp");
  const approved = await browser.submit(page, `/${id}/approval`, { note: "" });
  expect(approved.html).toContain("Die Anfrage ist genehmigt");
  expect((await browser.submit(page, `/${id}/approval`, { note: "" })).status).toBe(200);
  expect(await readRequest(id)).toMatchObject({ state: "APPROVED" });
  const app = await prisma.app.findUniqueOrThrow({ where: { clientId } });
  expect([...app.scopes].sort()).toEqual(["openid", "profile"]);
});

test("a refusal needs words, which the partner reads", async () => {
  const { id, partner, address } = await makeRequest();
  const page = await browser.open("/admin/apps");
  const [, token] = /name="token" value="([^"]+)"/.exec(page.html) ?? [];
  const refuse = async (note: string) => {
    const body = new URLSearchParams({ token: token!, note });
    const sent = await browser.once(`/admin/apps/requests/${id}/refusal`, { method: "POST", body });
    return { status: sent.status, html: await sent.text() };
  };
  const missing = await refuse(" ");
  expect([missing.status, missing.html]).toEqual([400, expect.stringContaining("warum Sie ablehnen")]);
  expect(await readRequest(id)).toMatchObject({ state: "REQUESTED" });
  expect((await refuse("Bitte den Zweck beschreiben.")).status).toBe(303);
  expect((await partner.open(address)).html).toContain("Bitte den Zweck beschreiben.");
  const other = await browser.submit(page, `/${id}/approval`);
  expect([other.status, other.html]).toEqual([409, expect.stringContaining("schon anders entschieden")]);
});

test("apps are found by name and lead to their pages", async () => {
  const { clientId } = await make.app({ name: "Zebra-Rechner" });
  await make.app({ name: "Andere" });
  const { html } = await browser.open("/admin/apps?search=zebra");
  expect(html).toContain(`/partner/apps/${clientId}"`);
  expect(html).not.toContain(">Andere<");
  const page = await browser.open(`/partner/apps/${clientId}`);
  expect(page.html).toContain('<a href="/admin/apps" aria-current="page"');
});

test("signing keys are rotated once for one form", async () => {
  const page = await browser.open("/admin/keys");
  const before = await prisma.signingKey.count();
  const done = await browser.submit(page, "/rotation");
  expect(done.html).toContain("Die Schlüssel sind gewechselt.");
  const after = await prisma.signingKey.count();
  await browser.submit(page, "/rotation");
  expect([after > before, await prisma.signingKey.count()]).toEqual([true, after]);
});

test("keys that apps may not have yet sign only if that is ticked", async () => {
  service.clock.forwardSeconds(4200);
  const before = await browser.open("/admin/keys");
  expect(before.html).not.toContain('name="force"');
  await browser.submit(before, "/rotation");
  const count = await prisma.signingKey.count();
  const page = await browser.open("/admin/keys");
  expect(page.html).toContain("Gewechselt werden kann ab ");
  const refused = await browser.submit(page, "/rotation");
  expect([refused.status, await prisma.signingKey.count()]).toEqual([409, count]);
  expect(refused.html).toContain("Es wurde nichts gewechselt.");
  const forced = await browser.submit(await browser.open("/admin/keys"), "/rotation", { force: "on" });
  expect(forced.html).toContain("Die Schlüssel sind gewechselt.");
  expect(await prisma.signingKey.count()).toBeGreaterThan(count);
});

test("figures are drawn, named, and stand in a table beside", async () => {
  const app = await make.app();
  const token = await getAppToken(service, app, ["schools:read"]);
  const headers = { authorization: `Bearer ${token}` };
  for (let n = 0; n < 3; n++) await fetch(`${service.url}/idm/ep/v1/schools`, { headers });
  await runJob("traffic.flush");
  await runJob("traffic.flush");
  for (const range of ["day", "month", "year"]) {
    const { html } = await browser.open(`/admin/figures?range=${range}`);
    expect(html).toMatch(
      /<svg class="plot" viewBox="0 0 360 180" role="img" aria-label="Abrufe der Apps von .+: zusammen 3\./,
    );
    expect(html).toMatch(/<td class="number">3<\/td>/);
    expect(html.length).toBeLessThan(60_000);
  }
  const { html } = await browser.open("/admin/figures");
  expect(html).toContain("in Ordnung");
  expect(html).toContain("Kein Import wartet auf eine Bestätigung.");
});

test("an import that is held is shown with its schools, and leads to the first of them", async () => {
  const ids = [await make.school({ name: "<b>Deichschule</b>" }), await make.school({ name: "<b>Kanalschule</b>" })];
  const people = { created: 0, changed: 0, restored: 0, removed: 3, joined: 0, left: 0, leftHome: 0 };
  const groups = { created: 0, changed: 0, carriedOver: 0, restored: 0, removed: 0 };
  const memberships = { created: 0, changed: 0, removed: 0 };
  const counts = { people, groups, memberships, before: { people: 4, groups: 1 } };
  const hold = async (fileName: string, schoolIds: readonly string[]) => {
    const schools = { create: schoolIds.map((schoolId) => ({ schoolId, state: "HELD", counts })) };
    const data = { id: makeUuid(service.clock()), format: "PLAIN", mode: "BULK", state: "HELD", fileName, schools };
    await prisma.import.create({ data: { ...data, namedSchoolIds: [...schoolIds], createdAt: service.clock() } });
  };
  await hold("one.csv", ids.slice(0, 1));
  await hold("both.csv", ids);
  const { html } = await browser.open("/admin/figures");
  const link = (file: string) => `<a href="/admin/schools/[^/]+/imports/[^"]+">${file}</a>`;
  expect(html).toMatch(
    new RegExp(`${link("one.csv")} &lt;b&gt;Deichschule&lt;/b&gt; <span class="hint">[^<]*3 Personen`),
  );
  expect(html).toMatch(
    new RegExp(
      `${link("both.csv")} &lt;b&gt;(Deich|Kanal)schule&lt;/b&gt; und eine weitere Schule <span class="hint">[^<]*6 P`,
    ),
  );
  await prisma.import.deleteMany();
});

test("an operator finds a person of any school by name, user name and id, and each search is in the school's log", async () => {
  const school = await make.school({ name: "Lindenschule" });
  const name = { firstFull: "Zoë", firstCall: "Zoë", last: "Quastenflosser" };
  const person = await make.person({ school, name });
  const { username } = await giveLogin(service.db, person);
  const find = async (user: Browser, search: string) => {
    const page = await user.open("/admin/people");
    expect(page.html).toContain('<a href="/admin/people" aria-current="page"');
    return (await user.submit(page, "/admin/people/search", { search })).html;
  };
  for (const search of ["quasten", username, person]) {
    const found = await find(browser, search);
    expect(found).toContain(`<a href="/admin/schools/${school}/people/${person}">Zoë Quastenflosser</a>`);
    expect(found).toContain("<td>Lindenschule</td><td>Schülerin oder Schüler");
  }
  const lines = () =>
    prisma.audit.findMany({ where: { action: "people_searched", personId: person }, orderBy: { id: "asc" } });
  expect(await lines()).toMatchObject(Array(3).fill({ schoolId: school, actorRole: "OPERATOR" }));
  expect(await find(browser, "niemandheissthier")).toContain("Niemand passt zu dieser Suche.");
  expect(await prisma.audit.count({ where: { action: "people_searched", personId: null } })).toBe(1);

  const { browser: inside } = await makePortalUser(service, "DISTRICT", { schoolIds: [school, await make.school()] });
  expect(await find(inside, "quasten")).toContain("Zoë Quastenflosser");
  expect(await lines()).toHaveLength(4);
  const elsewhere = { schoolIds: [await make.school(), await make.school()] };
  const { browser: outside } = await makePortalUser(service, "DISTRICT", elsewhere);
  for (const search of ["quasten", person]) expect(await find(outside, search)).not.toContain("Quastenflosser</a>");
  expect(await lines()).toHaveLength(4);
  const { browser: partner } = await makePortalUser(service, "PARTNER", { clientIds: [(await make.app()).clientId] });
  expect((await partner.open("/admin/people")).status).toBe(403);
});
