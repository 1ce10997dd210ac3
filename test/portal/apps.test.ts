import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ClientId } from "../../src/access/index.ts";
import type { SchoolId } from "../../src/directory/index.ts";
import { allScopes, makeMakers } from "../support/make.ts";
import { giveRoleTo, makePortalUser } from "../support/portal.ts";
import { startService } from "../support/service.ts";

const service = await startService();
const make = makeMakers(service.db);

const grantOf = (schoolId: SchoolId, clientId: ClientId) =>
  service.db.prisma.grant.findFirst({ where: { schoolId, clientId }, include: { syncedGroups: true } });

// A school with a class of two pupils and a teacher, and somebody who may grant apps.
const school = await make.school();
const group = await make.group({ school, name: "5a" });
await make.person({ school, groups: [group], name: { firstFull: "Bo", firstCall: "Bo", last: "Muster" } });
await make.person({ school, groups: [group] });
await make.person({ school, groups: [group], role: "TEACHER" });
const { browser, personId } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });

async function makeApp(name = "Lernapp", at = school) {
  const { clientId } = await make.app({ name });
  return { clientId, address: `/admin/schools/${at}/apps/${clientId}` };
}

describe("the catalogue", () => {
  test("shows apps with what the school gave them, and finds them by name and by grant", async () => {
    const { clientId } = await makeApp("Ähren-App");
    const other = await make.app({ name: "Birken-App" });
    await make.grant({ app: clientId, school });
    const { html } = await browser.open(`/admin/schools/${school}/apps?search=%C3%84hren`);
    expect(html).toContain("Ähren-App");
    expect(html).toContain("Alle an der Schule dürfen sich anmelden.");
    expect(html).not.toContain("Birken-App");
    const rest = await browser.open(`/admin/schools/${school}/apps?granted=no&search=-App`);
    expect(rest.html).toContain(`/apps/${other.clientId}"`);
    expect(rest.html).not.toContain(`/apps/${clientId}"`);
  });
});

describe("an app at a school", () => {
  test("says when it last read data of the school", async () => {
    const { clientId, address } = await makeApp();
    expect((await browser.open(address)).html).toMatch(/Zuletzt Daten bekommen<\/dt><dd>Noch nie</);
    const at = new Date("2026-02-02T09:30:00Z");
    await service.db.prisma.lastCall.create({ data: { clientId, schoolId: school, at } });
    expect((await browser.open(address)).html).toMatch(/Zuletzt Daten bekommen<\/dt><dd>[^<]*2026/);
  });

  test("is granted after a dry run that says in words and by name what the app would see", async () => {
    const { clientId, address } = await makeApp();
    const form = await browser.open(`${address}/change`);
    const chosen = { signOn: "ROLES", role: "STUDENT", sync: "on", syncedGroup: group };
    const preview = await browser.submit(form, "/change", { ...chosen, step: "preview" });
    expect(preview.html).toContain("2 Lernende und 1 Lehrkraft werden sichtbar.");
    expect(preview.html).toContain("Bo Muster");
    expect(preview.html).toContain("Anmelden dürfen sich: Lernende.");
    expect(preview.html).toContain("Freigegeben ist die Gruppe 5a mit ihren Mitgliedern.");
    expect(await grantOf(school, clientId)).toBeNull();

    const again = await browser.submit(preview, "/change", { step: "edit" });
    expect(again.html).toMatch(/name="signOn" value="ROLES" checked/);
    expect(again.html).toMatch(new RegExp(`name="syncedGroup" value="${group}" checked`));
    const done = await browser.submit(preview, "/change", { step: "confirm" });
    expect(new URL(done.url).pathname).toBe(address);
    expect(done.html).toContain("Die Freigabe ist geändert.");
    const grant = await grantOf(school, clientId);
    expect(grant).toMatchObject({ signOnAudience: "ROLES", signOnRoles: ["STUDENT"], sync: true });
    expect(grant!.syncedGroups.map(({ groupId }) => groupId)).toEqual([group]);
  });

  test("a choice without roles is refused in words, and what was chosen stays", async () => {
    const { address } = await makeApp();
    const form = await browser.open(`${address}/change`);
    const refused = await browser.submit(form, "/change", {
      signOn: "ROLES",
      sync: "on",
      syncedGroup: group,
      step: "preview",
    });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain("Bitte wählen Sie mindestens eine Rolle.");
    expect(refused.html).toMatch(/name="signOn" value="ROLES" checked/);
    expect(refused.html).toMatch(new RegExp(`name="syncedGroup" value="${group}" checked`));
  });

  test("confirmed twice counts once; after somebody else's change it is refused", async () => {
    const { clientId, address } = await makeApp();
    await make.grant({ app: clientId, school, signOn: "NOBODY", sync: false });
    const form = await browser.open(`${address}/change`);
    const preview = await browser.submit(form, "/change", { signOn: "EVERYBODY", step: "preview" });
    const confirmed = await browser.submit(preview, "/change", { step: "confirm" });
    const second = await browser.submit(preview, "/change", { step: "confirm" });
    expect([confirmed.status, second.status]).toEqual([200, 200]);
    expect(second.html).toContain("Die Freigabe ist geändert.");

    await make.grant({ app: clientId, school, signOn: { kind: "ROLES", roles: ["TEACHER"] }, sync: false });
    const late = await browser.submit(preview, "/change", { step: "confirm" });
    expect(late.status).toBe(412);
    expect(late.html).toContain("Jemand anderes hat das inzwischen geändert.");
    expect(await grantOf(school, clientId)).toMatchObject({ signOnAudience: "ROLES" });
  });

  test("a first grant does not replace one that somebody else made meanwhile", async () => {
    const { clientId, address } = await makeApp();
    const chosen = { signOn: "EVERYBODY", step: "preview" };
    const form = await browser.open(`${address}/change`);
    const preview = await browser.submit(form, "/change", chosen);
    await make.grant({ app: clientId, school, signOn: { kind: "ROLES", roles: ["TEACHER"] }, sync: false });
    const late = await browser.submit(preview, "/change", { step: "confirm" });
    expect([late.status, (await browser.submit(form, "/change", chosen)).status]).toEqual([412, 412]);
    expect(late.html).toContain("Jemand anderes hat das inzwischen geändert.");
    expect(await grantOf(school, clientId)).toMatchObject({ signOnAudience: "ROLES" });
  });

  test("is taken everything back from, after it is said what disappears", async () => {
    const { clientId, address } = await makeApp();
    await make.grant({ app: clientId, school, groups: [group], signOn: "NOBODY" });
    const page = await browser.open(`${address}/withdrawal`);
    expect(page.html).toContain("2 Lernende und 1 Lehrkraft verschwinden.");
    expect(await grantOf(school, clientId)).not.toBeNull();
    const done = await browser.submit(page, "/withdrawal");
    expect(done.html).toContain("Die Freigabe ist zurückgenommen.");
    expect(await grantOf(school, clientId)).toBeNull();
    expect((await browser.submit(page, "/withdrawal")).status).toBe(200);
  });
});

describe("what an app sees", () => {
  test("stands in words beside the very text and tag that it gets, which is handed out byte by byte", async () => {
    const { clientId, address } = await makeApp();
    await make.grant({ app: clientId, school, groups: [group], signOn: "NOBODY" });
    const page = await browser.open(`${address}/view?resource=people`);
    expect(page.html).toContain("3 Einträge");
    expect(page.html).toContain("Bo Muster");
    expect(page.html).toContain("ETag");
    const file = await browser.open(`${address}/view/file?resource=people`);
    expect(file.headers.get("content-disposition")).toContain("people.json");
    expect(file.html).toMatch(/^\[{"id":"/);
    const escaped = file.html.replaceAll('"', "&quot;").replaceAll("'", "&#39;");
    expect(page.html).toContain(`<code>${escaped}</code>`);
    const [{ id }] = JSON.parse(file.html) as [{ id: string }];
    const one = await browser.open(`${address}/view?resource=person&id=${id}`);
    expect(one.html).toContain(`/idm/ep/v1/people/${id}`);
  });

  test("is the same through OneRoster, if the app reads that", async () => {
    const says = "Über OneRoster liest die App dieselbe Schule";
    const { address } = await makeApp();
    expect((await browser.open(`${address}/view`)).html).not.toContain(says);
    const { clientId } = await make.app({ scopes: [...allScopes, "oneroster:read"] });
    expect((await browser.open(`/admin/schools/${school}/apps/${clientId}/view`)).html).toContain(says);
  });

  test("of a school of 500 people fits into a page of 60 KB", async () => {
    const large = await make.school();
    await giveRoleTo(service, personId, "SCHOOL_ADMIN", { schoolIds: [large] });
    const { clientId, address } = await makeApp("Lernapp", large);
    const all = await make.group({ school: large });
    await make.people({ school: large, count: 500, groups: [all] });
    await make.grant({ app: clientId, school: large, groups: [all] });
    for (const resource of ["people", "users", "personen-info"]) {
      const { html } = await browser.open(`${address}/view?resource=${resource}`);
      expect(html.length).toBeLessThan(60_000);
      expect(html).toContain("&amp;from=");
    }
  });
});

test("a school reads what an app cannot read, before it gives it anything", async () => {
  const { address } = await makeApp();
  for (const path of ["", "/change"]) expect((await browser.open(address + path)).html).not.toContain("Namen von");
  const silent = await make.app({ attributes: ["SCHOOLING_LEVEL"] });
  for (const path of ["", "/change"]) {
    const { html } = await browser.open(`/admin/schools/${school}/apps/${silent.clientId}${path}`);
    expect(html).toContain("Das kann die App nicht lesen:");
    expect(html).toContain("<li>Namen von Personen</li>");
    expect(html).not.toContain("<li>Schulform</li>");
  }
});

test("says what the app has not erased yet and since when, here and on the page of today, without names", async () => {
  const { clientId, address } = await makeApp();
  expect((await browser.open(address)).html).not.toContain("Löschungen");
  const since = new Date(service.clock().getTime() - 31 * 86_400_000);
  const subjectId = randomUUID();
  await service.db.prisma.erasure.create({
    data: { id: randomUUID(), clientId, schoolId: school, subjectId, since, cause: "deleted" },
  });
  const { html } = await browser.open(address);
  expect(html).toMatch(/Noch nicht bestätigt<\/dt><dd>1 \(älteste: [^)]*2026[^)]*\) <span class="badge">1 überfällig</);
  expect(html).not.toContain("Gelöscht</dt>");
  const today = await browser.open(`/admin/schools/${school}/today`);
  expect(today.html).toContain("Überfällige Löschungen");
  expect(today.html).toContain(`${address}#erasures">Lernapp</a>`);
  for (const page of [html, today.html]) expect(page).not.toContain(subjectId);
});
