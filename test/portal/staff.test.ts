import { expect, test } from "vitest";
import type { PersonId } from "../../src/directory/index.ts";
import { makeMakers } from "../support/make.ts";
import { giveRoleTo, makePortalUser } from "../support/portal.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { startService } from "../support/service.ts";
import { giveLogin } from "../support/token.ts";

hashAllQuickly();
const service = await startService();
const make = makeMakers(service.db);

const rolesOf = (personId: string) =>
  service.db.prisma.staffRole.findMany({ where: { personId }, include: { schools: true } });
const colleague = (school: Awaited<ReturnType<typeof make.school>>, last = "Probst") =>
  make.person({ school, role: "TEACHER", name: { firstFull: "Zoe", firstCall: "Zoe", last } });

async function makeWorld() {
  const school = await make.school();
  const { browser, personId } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  return { school, browser, admin: personId, address: `/admin/schools/${school}/staff` };
}

test("a school admin finds a colleague, gives them a role and takes it away again", async () => {
  const { school, browser, address } = await makeWorld();
  const personId = await colleague(school);
  const search = await browser.open(`${address}/new`);
  const found = await browser.submit(search, "/new/search", { search: "probst" });
  expect(found.url).not.toContain("probst");
  expect(found.html).toContain(`/staff/new?person=${personId}"`);
  const form = await browser.open(`${address}/new?person=${personId}`);
  const given = await browser.submit(form, "/staff/new", { role: "SECRETARY" });
  expect(given.html).toContain("Die Rolle ist vergeben.");
  expect(given.html).toContain("Zoe Probst");
  const [role] = await rolesOf(personId);
  expect(role).toMatchObject({ role: "SECRETARY" });
  const again = await browser.submit(form, "/staff/new", { role: "SECRETARY" });
  expect([again.status, (await rolesOf(personId)).length]).toEqual([200, 1]);

  const withdrawn = await browser.submit(given, `/${role!.id}/withdrawal`);
  expect(withdrawn.html).toContain("Die Rolle ist entzogen.");
  expect(await rolesOf(personId)).toEqual([]);
  expect((await browser.submit(given, `/${role!.id}/withdrawal`)).status).toBe(200);
});

test("a role that is there already is refused in words, and what was typed stays", async () => {
  const { school, browser, address } = await makeWorld();
  const personId = await colleague(school);
  await giveRoleTo(service, personId, "SECRETARY", { schoolIds: [school] });
  const form = await browser.open(`${address}/new?person=${personId}`);
  const refused = await browser.submit(form, "/staff/new", { role: "SECRETARY", reason: "Vertretung" });
  expect(refused.status).toBe(409);
  expect(refused.html).toContain("Diese Person hat die Rolle hier schon.");
  expect(refused.html).toContain('value="Vertretung"');
});

test("support is given by an operator with a reason and a last day, which the school sees", async () => {
  const school = await make.school();
  const { browser } = await makePortalUser(service, "OPERATOR");
  const personId = await colleague(school, "Hilfe");
  const address = `/admin/schools/${school}/staff`;
  const form = await browser.open(`${address}/new?person=${personId}`);
  const refused = await browser.submit(form, "/staff/new", { role: "SUPPORT", endsOn: "2026-02-10" });
  expect(refused.html).toContain("Für Support brauchen wir einen Grund.");
  await browser.submit(form, "/staff/new", { role: "SUPPORT", endsOn: "2026-02-10", reason: "Ticket 4711", once: "x" });
  expect(await rolesOf(personId)).toMatchObject([{ endsAt: new Date("2026-02-10T23:00:00Z") }]);
  const { browser: admin } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const seen = await admin.open(address);
  expect(seen.html).toContain("Ticket 4711");
  const [role] = await service.db.prisma.staffRole.findMany({ where: { personId } });
  const ended = await admin.submit(seen, `/${role!.id}/withdrawal`);
  expect(ended.html).toContain("Die Rolle ist entzogen.");
  expect(ended.html).not.toContain("Ticket 4711");
  expect(await rolesOf(personId)).toEqual([]);
  const lines = await service.db.prisma.audit.findMany({
    where: { personId, action: "staff_role_withdrawn" },
    orderBy: { id: "asc" },
  });
  expect(lines).toMatchObject([{ schoolId: school, detail: { role: "SUPPORT" } }]);
});

test("a partner gets a role for apps on the page of the whole service", async () => {
  const { clientId } = await make.app();
  const { browser } = await makePortalUser(service, "OPERATOR");
  const personId = await colleague(await make.school());
  const form = await browser.open(`/admin/staff/new?person=${personId}`);
  await browser.submit(form, "/staff/new", { role: "PARTNER", app: clientId });
  expect(await rolesOf(personId)).toMatchObject([{ role: "PARTNER" }]);
  expect((await browser.open("/admin/staff?role=PARTNER")).html).toContain(clientId);
});

test("an operator makes an account at no school, whose first password stands on one page, and deletes it", async () => {
  const { browser } = await makePortalUser(service, "OPERATOR");
  const list = await browser.open("/admin/staff");
  expect(list.html).toContain('href="/admin/staff/accounts"');
  const form = await browser.open("/admin/staff/accounts/new");
  const fields = { firstCall: "Max", last: "Vogel", username: "Max.Vogel", role: "OPERATOR" };
  const made = await browser.submit(form, "/staff/accounts", fields);
  const [, password] = /<dt>Passwort<\/dt><dd><code>([^<]+)<\/code>/.exec(made.html)!;
  expect(made.html).toContain("max.vogel");
  const { personId } = await service.db.prisma.credential.findUniqueOrThrow({ where: { username: "max.vogel" } });
  expect(await rolesOf(personId)).toMatchObject([{ role: "OPERATOR" }]);
  const again = await browser.submit(form, "/staff/accounts", fields);
  expect(again.html).toContain(password);
  const taken = await browser.submit(await browser.open("/admin/staff/accounts/new"), "/staff/accounts", fields);
  expect([taken.status, taken.html.includes("Diesen Benutzernamen hat oder hatte schon jemand.")]).toEqual([409, true]);
  expect(taken.html).toContain('value="Vogel"');

  const accounts = await browser.open("/admin/staff/accounts");
  expect(accounts.html).toContain("Max Vogel");
  expect(accounts.html).not.toContain(password);
  const renewed = await browser.submit(accounts, `/${personId}/password`);
  expect(renewed.html).toContain("Dieses Passwort sehen Sie nur jetzt.");
  expect(renewed.html).not.toContain(password);
  const deleted = await browser.submit(accounts, `/${personId}/deletion`);
  expect(deleted.html).toContain("Der Zugang ist gelöscht.");
  expect(deleted.html).not.toContain("Max Vogel");
});

test("after an import, the teachers of its classes are proposed, and one confirmation gives those ticked the role", async () => {
  const { school, browser, address } = await makeWorld();
  const roster = [
    "id;role;first_name;last_name;classes",
    "1;teacher;Ida;Alt;5a",
    "2;teacher;Udo;Blau;5b",
    "3;teacher;Eva;Celan;5a",
    "",
  ].join("\n");
  const list = await browser.open(`/admin/schools/${school}/imports`);
  const preview = await browser.sendFile(list, "/imports", { name: "roster.csv", content: roster });
  const applied = await browser.submit(preview, "/apply");
  expect(applied.html).toContain("3 Lehrkräfte mit einer Klasse können die Rolle noch nicht bekommen");
  expect(applied.html).toContain("hat noch kein Passwort und keine Karte");
  const people = await service.db.prisma.person.findMany({
    where: { homeSchoolId: school, sourceSystemIdentifier: { not: null } },
  });
  const idOf = (last: string) => people.find((person) => person.last === last)!.id as PersonId;
  for (const last of ["Alt", "Blau"]) await giveLogin(service.db, idOf(last));
  const shown = await browser.open(applied.url);
  expect(shown.html).toContain("2 Lehrkräfte haben eine Klasse, aber keine Rolle.");
  expect(shown.html).toMatch(/Udo Blau <span class="hint">5b/);
  const given = await browser.submit(shown, "/staff/class-teachers", { person: idOf("Blau") });
  expect(given.url).toContain(address);
  expect(given.html).toContain("1 Person hat jetzt die Rolle Klassenleitung.");
  expect(await rolesOf(idOf("Blau"))).toMatchObject([{ role: "CLASS_TEACHER", schools: [{ schoolId: school }] }]);
  expect(await rolesOf(idOf("Alt"))).toEqual([]);
  expect(given.html).toContain("1 Lehrkraft hat eine Klasse, aber keine Rolle.");
  const { browser: secretary } = await makePortalUser(service, "SECRETARY", { schoolIds: [school] });
  expect((await secretary.open(applied.url)).html).not.toContain("Klassenleitungen ohne Rolle");
});
