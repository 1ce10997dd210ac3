import { beforeAll, expect, test } from "vitest";
import type { PersonId, SchoolId } from "../../src/directory/index.ts";
import { accountRefusals, connectionFailures, passingFailures, type ConnectionId } from "../../src/upstream/index.ts";
import { makeMakers } from "../support/make.ts";
import { listTexts } from "../support/page-texts.ts";
import { findStructureFaults } from "../support/page-structure.ts";
import { makePortalUser, type PortalUser } from "../support/portal.ts";
import { makeTestClock, startService } from "../support/service.ts";
import { connectSchool, makeTravellingBrowser, signInThere, spoil } from "../support/upstream-browser.ts";
import { startUpstreamProvider } from "../support/upstream-provider.ts";

const clock = makeTestClock(new Date());
const service = await startService({ clock, env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const provider = await startUpstreamProvider();
const make = makeMakers(service.db);

type World = {
  school: SchoolId;
  connectionId: ConnectionId;
  admin: PortalUser;
  base: string;
  page: string;
  ada: PersonId;
  /** Somebody goes through the login of the school. */
  signIn(sub: string, claims: Record<string, unknown>): Promise<string>;
};

async function makeWorld(): Promise<World> {
  const school = await make.school({ name: "Goethe-Gymnasium" });
  const ada = await make.person({
    school,
    name: { firstFull: "Ada", firstCall: "Ada", last: "Beispiel" },
    sourceSystemIdentifier: "4711",
  });
  const connectionId = await connectSchool(service, provider, { school });
  const admin = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const base = `/admin/schools/${school}/own-login`;
  const linkName = `goethe-${school.slice(-8)}`;
  await admin.browser.submit(await admin.browser.open(base), "/way-in", { linkName, localPasswords: "on" });
  return {
    school,
    connectionId,
    admin,
    base,
    page: `${base}/${connectionId}`,
    ada,
    async signIn(sub, claims) {
      signInThere(provider, claims, sub);
      const browser = makeTravellingBrowser(service, provider, { "accept-language": "de" });
      const door = await browser.open(`/s/${linkName}`);
      return (await browser.submit(door, "/sign-in/upstream", { connection: connectionId })).html;
    },
  };
}

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});

test("a connection of another school is not found under the address of this one", async () => {
  const other = await makeWorld();
  const both = await makePortalUser(service, "OPERATOR");
  const found = await both.browser.open(`${world.base}/${other.connectionId}`);
  expect([found.status, found.html.includes("Diese Verbindung ist hier nicht zu finden")]).toEqual([404, true]);
  for (const form of ["off", "check", "deletion", "rule"]) {
    const refused = await world.admin.browser.open(world.page).then((shown) => {
      const html = shown.html.replaceAll(world.connectionId, other.connectionId);
      return world.admin.browser.submit({ ...shown, html }, `/${form}`);
    });
    expect(refused.status, form).toBe(404);
  }
  expect(await service.db.prisma.upstreamConnection.findUnique({ where: { id: other.connectionId } })).toMatchObject({
    state: "ON",
  });
});

test("a refused account is on Today and on the list, is linked by hand, and signs in", async () => {
  const { school, page, admin, signIn } = world;
  const emil = await make.person({
    school,
    name: { firstFull: "Emil", firstCall: "Emil", last: "Ohnekennung" },
    sourceSystemIdentifier: "1",
  });
  const html = await signIn("emil", { import_id: "unknown-17", name: "Emil O." });
  expect(html).toContain("NOBODY_MATCHES");
  const today = await admin.browser.open(`/admin/schools/${school}/today`);
  expect(today.html).toContain(`${page.split("/own-login")[1]!}/refusals`);
  const list = await admin.browser.open(`${page}/refusals`);
  expect(list.html).toContain("Kam von IServ, import_id = unknown-17; niemand hat das.");
  const searched = await admin.browser.submit(list, `/search#r-${refusalOf(list.html)}`, { search: "Ohnekennung" });
  expect(searched.html).toContain("Emil Ohnekennung");
  const linked = await admin.browser.submit(searched, "/link");
  expect(linked.html).toContain("Das Konto ist verknüpft.");
  expect(await signIn("emil", { import_id: "unknown-17" })).toContain("Emil");
  const links = await admin.browser.open(`${page}/links`);
  expect(links.html).toContain("von Hand verknüpft am");
  const person = await admin.browser.open(`/admin/schools/${school}/people/${emil}/apps`);
  expect(person.html).toContain("IServ, verknüpft am");
  const ended = await admin.browser.submit(person, `/logins/${world.connectionId}/end`);
  expect(ended.html).toContain("Die Verknüpfung ist gelöst.");
  expect(await service.db.prisma.upstreamLink.count({ where: { personId: emil } })).toBe(0);
});

const refusalOf = (html: string): string => /id="r-([0-9a-f-]{36})"/.exec(html)![1]!;

test("an entry is taken off the list", async () => {
  const { page, admin, signIn } = world;
  await signIn("nobody", { import_id: "unknown-18", name: "Nora N." });
  const list = await admin.browser.open(`${page}/refusals`);
  const done = await admin.browser.submit(list, `/${refusalOf(list.html)}/dismissal`);
  expect(done.html).toContain("Der Eintrag ist von der Liste genommen.");
  expect(done.html).not.toContain("unknown-18");
});

test("a new account waits, is named on Today, and is accepted or declined", async () => {
  const { page, admin, signIn, school, connectionId } = world;
  const where = { id: connectionId };
  await service.db.prisma.upstreamConnection.update({ where, data: { createsGuests: true } });
  const named = (given_name: string) => ({ import_id: given_name, given_name, family_name: "Neu" });
  for (const name of ["Gustav", "Greta"]) {
    const html = await signIn(name, named(name));
    expect(html).toContain("WAITS_FOR_STAFF");
    expect(html).toContain("muss dein Konto annehmen");
  }
  expect((await admin.browser.open(`/admin/schools/${school}/today`)).html).toContain("warten 2 als Gäste auf Sie");
  expect(findStructureFaults((await admin.browser.open(`${page}/refusals`)).html)).toEqual([]);
  const list = await admin.browser.open(`${page}/refusals`);
  const idOf = (name: string) => new RegExp(`value="([0-9a-f-]{36})"[^>]*> ${name} Neu`).exec(list.html)![1]!;
  const nobody = await admin.browser.submit(list, "/refusals/guests", { act: "accept" });
  expect(nobody.html).toContain("Kreuzen Sie mindestens ein Konto an.");
  const accepted = await admin.browser.submit(list, "/refusals/guests", { act: "accept", guest: idOf("Gustav") });
  expect(accepted.html).toContain("Die Gäste sind angenommen.");
  const declined = await admin.browser.submit(accepted, "/refusals/guests", { act: "decline", guest: idOf("Greta") });
  expect(declined.html).toContain("von der Liste genommen");
  expect(declined.html).not.toContain("Greta");
  expect(await signIn("Gustav", named("Gustav"))).toContain("Gustav");
  expect(await service.db.prisma.person.count({ where: { homeSchoolId: school, last: "Neu" } })).toBe(1);
  await service.db.prisma.upstreamConnection.update({ where, data: { createsGuests: false } });
});

test("people see their linked accounts and unlink them", async () => {
  const { signIn, ada } = world;
  await signIn("ada", { import_id: "4711" });
  const browser = makeTravellingBrowser(service, provider, { "accept-language": "de" });
  const wayIn = await service.db.prisma.schoolWayIn.findUniqueOrThrow({ where: { schoolId: world.school } });
  const door = await browser.open(`/s/${wayIn.linkName!}`);
  await browser.submit(door, "/sign-in/upstream", { connection: world.connectionId });
  const account = await browser.open("/account");
  expect(account.html).toContain("IServ, Goethe-Gymnasium");
  await browser.submit(account, `/logins/${world.connectionId}/end`);
  expect(await service.db.prisma.upstreamLink.count({ where: { personId: ada } })).toBe(0);
});

test("a rule is tried before it is saved, and what was typed stays", async () => {
  const { page, admin } = world;
  const shown = await admin.browser.open(page);
  const fields = { ruleClaim: "import_id", ruleField: "USERNAME", normalisation: "LOWER_CASE" };
  const tried = await admin.browser.submit(shown, "/rule", { ...fields, preview: "1" });
  expect(tried.html).toContain("Personen haben: Benutzername hier.");
  expect(tried.html).toContain('<option value="USERNAME" selected>');
  expect(await service.db.prisma.upstreamConnection.findFirst({ where: { id: world.connectionId } })).toMatchObject({
    ruleField: "SOURCE_SYSTEM_IDENTIFIER",
  });
  const refused = await admin.browser.submit(shown, "/rule", { ...fields, ruleClaim: "email" });
  expect(refused.status).toBe(400);
  expect(refused.html).toContain("Diese Angabe kann die Besitzerin oder den Besitzer wechseln");
  expect(refused.html).toContain('value="email"');
});

test("a failing connection says in words what to do, on Today, on its page and on the operator’s list", async () => {
  const { school, page, admin, signIn } = world;
  spoil(provider, { path: "/token", status: 401, body: { error: "invalid_client" } });
  await signIn("ada", { import_id: "4711" });
  spoil(provider, null);
  const failing = await admin.browser.open(page);
  expect(failing.html).toContain("Der Anbieter lehnt Client-ID oder Geheimnis ab");
  expect(failing.html).toContain("Erzeugen Sie beim Anbieter ein neues und tragen Sie es hier ein.");
  expect(failing.html).toContain("<code>SECRET_REFUSED</code>");
  const today = await admin.browser.open(`/admin/schools/${school}/today`);
  expect(today.html).toContain("Schuleigene Anmeldung gestört");
  const operator = await makePortalUser(service, "OPERATOR");
  expect((await operator.browser.open("/admin/logins?show=failing")).html).toContain(page);
  const checked = await admin.browser.submit(failing, "/check");
  expect(checked.html).toContain("Der Anbieter antwortet, und seine Angaben passen zur Verbindung.");
});

test("only an operator trusts the provider’s second factor", async () => {
  const { page, admin } = world;
  const operator = await makePortalUser(service, "OPERATOR");
  expect((await admin.browser.open(page)).html).not.toContain("trustedForSecondFactor");
  const shown = await operator.browser.open(page);
  const fields = {
    name: "IServ",
    issuer: provider.issuer,
    clientId: /id="clientId"[^>]*value="([^"]*)"/.exec(shown.html)![1]!,
    scopes: "openid profile",
    subjectClaim: "sub",
    authMethod: "client_secret_basic",
  };
  const done = await operator.browser.submit(shown, "/settings", { ...fields, trustedForSecondFactor: "on" });
  expect(done.html).toContain("Die Einstellungen sind gespeichert.");
  expect((await admin.browser.open(page)).html).toContain("Das ändert nur der Betreiber.");
  const kept = await admin.browser.submit(await admin.browser.open(page), "/settings", fields);
  expect(kept.html).toContain("Die Einstellungen sind gespeichert.");
  expect(await service.db.prisma.upstreamConnection.findFirst({ where: { id: world.connectionId } })).toMatchObject({
    trustedForSecondFactor: true,
    state: "ON",
  });
});

test("what a set-up link changed waits for the school, which confirms it for the staff", async () => {
  const { page, base, admin, connectionId } = await makeWorld();
  const heading = "Das Personal wartet auf Ihre Bestätigung";
  expect((await admin.browser.open(page)).html).not.toContain(heading);
  const where = { id: connectionId };
  await service.db.prisma.upstreamConnection.update({ where, data: { confirmedForStaff: false } });
  expect((await admin.browser.open(base)).html).toContain("für das Personal nicht bestätigt");
  const shown = await admin.browser.open(page);
  expect(shown.html).toContain(heading);
  const done = await admin.browser.submit(shown, "/confirmation");
  expect(done.html).toContain("Die Verbindung ist bestätigt");
  expect(done.html).not.toContain(heading);
});

test("where passwords are off and the login is off or on for some classes only, the page says who is left out", async () => {
  const { base, admin, school, connectionId } = await makeWorld();
  const warning = "Passwörter sind abgeschaltet, und die Anmeldung ist nur für einzelne Klassen eingeschaltet";
  const groupIds = [await make.group({ school })];
  await service.db.prisma.upstreamConnection.update({ where: { id: connectionId }, data: { groupIds } });
  const shown = await admin.browser.open(base);
  expect(shown.html).not.toContain(warning);
  expect((await admin.browser.submit(shown, "/way-in", { linkName: "" })).html).toContain(warning);
  await service.db.prisma.upstreamConnection.update({ where: { id: connectionId }, data: { groupIds: [] } });
  expect((await admin.browser.open(base)).html).not.toContain(warning);
  const alone = "Passwörter sind abgeschaltet, und keine Verbindung ist eingeschaltet";
  expect((await admin.browser.open(base)).html).not.toContain(alone);
  await service.db.prisma.upstreamConnection.update({ where: { id: connectionId }, data: { state: "OFF" } });
  expect((await admin.browser.open(base)).html).toContain(alone);
});

test("passwords are switched off, allowed for a day by the emergency switch, and the poster has the address", async () => {
  const { base, admin, school } = world;
  const shown = await admin.browser.open(base);
  const linkName = /name="linkName" value="([^"]*)"/.exec(shown.html)![1]!;
  const off = await admin.browser.submit(shown, "/way-in", { linkName });
  expect(off.html).toContain("Der Weg zur Anmeldung ist gespeichert.");
  const opened = await admin.browser.submit(off, "/emergency");
  expect(opened.html).toContain("Passwörter sind zugelassen bis");
  expect((await admin.browser.open(`/admin/schools/${school}/today`)).html).toContain("Notschalter an");
  const ended = await admin.browser.submit(opened, "/emergency/end");
  expect(ended.html).toContain("Der Notschalter ist beendet.");
  const poster = await admin.browser.open(`${base}/poster`);
  expect(poster.html).toContain(`/s/${linkName}`);
  expect(poster.html).toContain("<svg viewBox");
});

test("one click switches a connection off, and it can be deleted", async () => {
  const { page, base, admin } = await makeWorld();
  const off = await admin.browser.submit(await admin.browser.open(page), "/off");
  expect(off.html).toContain("ausgeschaltet");
  const on = await admin.browser.submit(off, "/on", { for: "all" });
  expect(on.html).toContain("Die Verbindung ist eingeschaltet.");
  const gone = await admin.browser.submit(on, "/deletion");
  expect(new URL(gone.url).pathname).toBe(base);
  expect((await admin.browser.open(page)).status).toBe(404);
});

test.each(["de", "en"])("each failure says what it is and what to do, in %s", (locale) => {
  const texts = listTexts("src/portal/upstream", locale);
  const keys = [...connectionFailures, ...accountRefusals, ...passingFailures].flatMap((code) => [
    `failure.${code}`,
    `remedy.${code}`,
  ]);
  expect(keys.filter((key) => !texts.has(key))).toEqual([]);
});
