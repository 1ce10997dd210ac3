import { describe, expect, test } from "vitest";
import type { GroupId, PersonId, SchoolId } from "../../src/directory/index.ts";
import { readForm, type Shown } from "../support/browser.ts";
import { jpeg } from "../support/images.ts";
import { makeMakers } from "../support/make.ts";
import { giveRoleTo, makePortalUser, type PortalUser } from "../support/portal.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { startService } from "../support/service.ts";
import { giveLogin } from "../support/token.ts";

hashAllQuickly();
const service = await startService();
const make = makeMakers(service.db);
const { prisma } = service.db;

const mainOf = (html: string): string => html.slice(html.indexOf("<main"));
const textOf = (html: string): string =>
  mainOf(html)
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ");
const named = (first: string, last: string) => ({ name: { firstFull: first, firstCall: first, last } });

type World = { school: SchoolId; group: GroupId; pupil: PersonId; base: string; page: string };

const secretary = await makePortalUser(service, null);
const office = secretary.browser;

/** A class at a school of its own. One secretary works at all of them. */
async function makeClass(): Promise<World> {
  const school = await make.school();
  await giveRoleTo(service, secretary.personId, "SECRETARY", { schoolIds: [school] });
  const group = await make.group({ school, name: "Klasse 5a" });
  const pupil = await make.person({ school, groups: [group], ...named("Bo", "Müller") });
  const base = `/admin/schools/${school}/classes`;
  return { school, group, pupil, base, page: `${base}/${group}` };
}

async function makeTeacher({ school, group }: World): Promise<PortalUser> {
  const teacher = await makePortalUser(service, "CLASS_TEACHER", { schoolIds: [school] });
  await make.membership({ group, person: teacher.personId, role: "TEACHER" });
  return teacher;
}

const membersOf = async (groupId: GroupId) =>
  (await prisma.membership.findMany({ where: { groupId } })).map(({ personId, role }) => ({ personId, role }));
const passwordsOf = ({ html }: Shown) =>
  [...html.matchAll(/Passwort<\/dt>\s*<dd><code>([^<]+)/g)].map(([, one]) => one);

describe("the classes of a school", () => {
  test("stand before its courses and other groups; deleted ones stand apart", async () => {
    const world = await makeClass();
    await make.group({ school: world.school, name: "Chor", type: "SONSTIG" });
    await make.group({ school: world.school, name: "Klasse 4z", status: "DELETED" });
    const { html } = await office.open(world.base);
    expect(textOf(html)).toMatch(
      /Klassen \(1\).*Weitere Gruppen \(1\).*Gelöscht \(1\).*Klasse Lernende Noch nie angemeldet Ohne Anmeldung Klasse 5a 1 1 1/,
    );
    expect(textOf(html)).not.toContain("Chor");
    expect(textOf((await office.open(`${world.base}?kind=SONSTIG`)).html)).toContain("Chor");
    expect(textOf((await office.open(`${world.base}?search=chor`)).html)).toContain("Chor");
    expect(textOf((await office.open(`${world.base}?kind=DELETED`)).html)).toContain("Klasse 4z");
  });

  test("each number of a class opens the list that has as many people", async () => {
    const world = await makeClass();
    const more = { school: world.school, groups: [world.group] };
    await giveLogin(service.db, await make.person({ ...more, ...named("Ada", "Beck") }));
    await make.person({ ...more, ...named("Cem", "Kurz"), role: "TEACHER" });
    await make.person({ ...more, ...named("Dora", "Weg"), status: "SOFT_DELETED" });
    await make.group({ school: world.school, name: "Klasse 10a" });
    for (const reader of [office, (await makeTeacher(world)).browser]) {
      const { html } = await reader.open(world.base);
      const row = mainOf(html)
        .split("<tr>")
        .find((one) => one.includes("Klasse 5a"))!;
      const numbers = [...row.matchAll(/href="([^"]+)">(\d+)</g)].map(
        ([, address, count]) => [address!, Number(count)] as const,
      );
      expect(numbers.map(([, count]) => count)).toEqual([2, 2, 1]);
      for (const [address, count] of numbers) {
        const list = mainOf((await reader.open(address.replaceAll("&amp;", "&"))).html);
        expect(list.match(/<th scope="row">/g), address).toHaveLength(count);
        expect(textOf(list)).toContain("Alle zeigen");
      }
    }
    expect(textOf((await office.open(world.base)).html)).toMatch(/Klasse 5a 2 2 1 Klasse 10a 0 0 0/);
  });

  test("a class teacher sees why a pupil cannot sign in, and ends a wait there", async () => {
    const world = await makeClass();
    const { browser } = await makeTeacher(world);
    const member = await browser.open(`${world.page}/members/${world.pupil}`);
    const address = `${world.page}/members/${world.pupil}/sign-in`;
    expect(mainOf(member.html)).toContain(`href="${address}"`);
    const before = textOf((await browser.open(address)).html);
    expect(before).toContain("Bo Müller Die Person kann sich nicht anmelden");
    expect(before).toContain("Das ändern kann: ");
    await giveLogin(service.db, world.pupil);
    const after = await browser.open(address);
    expect(textOf(after.html)).toContain("Die Person kann sich anmelden");
    const offers = async () =>
      textOf((await browser.open(`${world.page}/members/${world.pupil}`)).html).includes("Neues Passwort geben");
    expect(await offers()).toBe(true);
    await service.db.prisma.schoolWayIn.create({ data: { schoolId: world.school, localPasswords: false } });
    expect(await offers()).toBe(false);
    const token = /name="token" value="([^"]*)"/.exec((await browser.open(`${world.page}/logins`)).html)![1]!;
    const released = await browser.once(`${world.page}/members/${world.pupil}/release`, {
      method: "POST",
      body: new URLSearchParams({ token }),
    });
    const shown = await browser.open(released.headers.get("location")!);
    expect([released.status, shown.status, textOf(shown.html).includes("Bo Müller")]).toEqual([303, 200, true]);
  });
});

describe("a group", () => {
  test("is added once, renamed, deleted after a dry run and restored with its members", async () => {
    const world = await makeClass();
    const form = await office.open(`${world.base}/new`);
    const added = await office.submit(form, "/classes", { name: "AG <b>Chor</b>", type: "SONSTIG" });
    await office.submit(form, "/classes", { name: "AG <b>Chor</b>", type: "SONSTIG" });
    expect(added.html).toContain("AG &lt;b&gt;Chor&lt;/b&gt;");
    expect(await prisma.group.count({ where: { schoolId: world.school, type: "SONSTIG" } })).toBe(1);

    const shown = await office.open(world.page);
    expect(textOf((await office.submit(shown, "/name", { name: "Klasse 5 a" })).html)).toContain("Name ist geändert");
    const stale = await office.submit(shown, "/name", { name: "Andere" });
    expect(stale.status).toBe(412);
    expect(stale.html).toContain('value="Andere"');
    expect((await office.submit(await office.open(world.page), "/name", { name: "" })).status).toBe(400);

    const { clientId } = await make.app({ name: "Lernapp" });
    await make.grant({ app: clientId, school: world.school, groups: [world.group] });
    const asked = await office.open(`${world.page}/delete`);
    expect(textOf(asked.html)).toMatch(/Lernapp Bei 1 Person ändert sich, was die App sieht\. 1 Gruppe verschwindet\./);
    const deleted = await office.submit(asked, "/delete");
    expect(textOf(deleted.html)).toContain("Diese Gruppe ist gelöscht");
    const restored = await office.submit(deleted, "/restore");
    expect(textOf(restored.html)).toContain("Bo Müller");
  });

  test("takes people of the school in, gives them a role and lets them go", async () => {
    const world = await makeClass();
    const person = await make.person({ school: world.school, ...named("Zoë", "Zander") });
    const found = await office.submit(await office.open(`${world.page}/add`), "/add/search", { search: "zander" });
    expect(textOf(found.html)).toContain("Zoë Zander");
    expect(found.url.toLowerCase()).not.toContain("zander");
    const added = await office.submit(found, "/add", { person });
    expect(textOf(added.html)).toContain("Eine Person ist aufgenommen.");
    const member = await office.open(`${world.page}/members/${person}`);
    await office.submit(member, "/role", { role: "TEACHER" });
    expect(await membersOf(world.group)).toContainEqual({ personId: person, role: "TEACHER" });
    await office.submit(member, "/remove");
    expect((await membersOf(world.group)).map(({ personId }) => personId)).toEqual([world.pupil]);
  });
});

describe("the logins of a class", () => {
  test("a class teacher gives passwords to those who have none, and sees them on one page", async () => {
    const world = await makeClass();
    const { browser } = await makeTeacher(world);
    const form = await browser.open(`${world.page}/logins`);
    const made = await browser.submit(form, "/logins", { kind: "missing" });
    const { name } = await prisma.school.findUniqueOrThrow({ where: { id: world.school } });
    expect(textOf(made.html)).toContain(`Anmelden: ${service.url}/sign-in`);
    expect(mainOf(made.html)).toContain(`<p class="hint">${name}</p>`);
    expect(passwordsOf(made)).toHaveLength(1);
    expect(made.url).not.toContain(String(passwordsOf(made)[0]));
    expect(made.headers.get("cache-control")).toBe("no-store");
    // The same form again shows the same passwords.
    expect(passwordsOf(await browser.submit(form, "/logins", { kind: "missing" }))).toEqual(passwordsOf(made));
    const second = await browser.submit(await browser.open(`${world.page}/logins`), "/logins", { kind: "missing" });
    expect(passwordsOf(second)).toEqual([]);
    const all = await browser.submit(await browser.open(`${world.page}/logins`), "/logins", { kind: "all" });
    expect(passwordsOf(all)).toHaveLength(1);
    expect(passwordsOf(all)).not.toEqual(passwordsOf(made));
  });

  test("a class teacher sees who is blocked and who signed in, and gives those who are ticked new passwords", async () => {
    const world = await makeClass();
    const { school, group } = world;
    const [ada, cem] = [
      await make.person({ school, groups: [group], ...named("Ada", "Berg"), isBlocked: true }),
      await make.person({ school, groups: [group], ...named("Cem", "Can") }),
    ];
    for (const person of [ada, cem, world.pupil]) await giveLogin(service.db, person);
    const app = await make.app();
    await make.signIn({ app: app.clientId, person: cem });
    const { browser } = await makeTeacher(world);
    const page = await browser.open(world.page);
    expect(textOf(page.html)).toMatch(/Ada Berg gesperrt seit [^B]*noch nie/);
    expect(textOf(page.html)).toMatch(/Cem Can (?:(?!noch nie).)*Bo Müller/);
    expect(mainOf(page.html)).not.toMatch(/name="person" value="[^"]*" aria-label="[^"]*Lehrkraft/);
    const form = await browser.open(`${world.page}/logins?person=${ada}&person=${cem}`);
    expect(textOf(form.html)).toMatch(/Für wen\? (Ada Berg Cem Can|Cem Can Ada Berg) /);
    expect(textOf(form.html)).toContain("Neue Passwörter für diese 2 Personen");
    const others = await prisma.credential.findUniqueOrThrow({ where: { personId: world.pupil } });
    const body = new URLSearchParams(readForm(form, "/logins").fields);
    body.set("kind", "chosen");
    for (const id of [ada, cem]) body.append("person", id);
    const made = await (await browser.once(`${world.page}/logins`, { method: "POST", body })).text();
    expect([...made.matchAll(/<h3>([^<]*)<\/h3>/g)].map(([, name]) => name).sort()).toEqual(["Ada Berg", "Cem Can"]);
    expect(await prisma.credential.findUniqueOrThrow({ where: { personId: world.pupil } })).toEqual(others);
  });

  test("cards have QR codes where the school uses them, and are refused in words where it does not", async () => {
    const world = await makeClass();
    const { browser } = await makeTeacher(world);
    await browser.submit(await browser.open(`${world.page}/logins`), "/logins", { kind: "missing" });
    const refused = await browser.submit(await browser.open(`${world.page}/logins`), "/logins", { kind: "cards" });
    expect(refused.status).toBe(409);
    expect(textOf(refused.html)).toContain("ausgeschaltet");
    expect(mainOf((await office.open(`${world.page}/logins`)).html)).not.toContain('value="cards"');
    const none = { grades: [], weekdays: [], networks: [], printSecondStep: false };
    await prisma.cardSettings.create({
      data: { schoolId: world.school, enabled: true, secondStep: "PIN", updatedAt: service.clock(), ...none },
    });
    const form = await office.open(`${world.page}/logins`);
    const made = await office.submit(form, "/logins", { kind: "cards", newPasswords: "yes" });
    expect(made.html).toMatch(/<svg[^>]*viewBox/);
    expect(textOf(made.html)).toMatch(/Nur für die Lehrkraft.*Bo Müller \d{4}/);
    expect(passwordsOf(made)).toHaveLength(1);
    expect(textOf(made.html).replaceAll(`${service.url}/sign-in`, "")).not.toContain("://");
    const { headers, html: pdf } = await office.submit(made, "/cards");
    expect([headers.get("content-type"), pdf.slice(0, 5)]).toEqual(["application/pdf", "%PDF-"]);
  });

  test("cards have the logo of the school, which a class teacher may see, and none where there is none", async () => {
    const world = await makeClass();
    const source = `/admin/schools/${world.school}/logo`;
    expect((await makeCard(world)).html).not.toContain(source);
    const data = { type: "image/jpeg", hash: "0".repeat(32), bytes: new Uint8Array(jpeg) };
    await prisma.schoolLogo.create({ data: { schoolId: world.school, ...data } });
    expect((await makeCard(world)).html).toContain(`<img class="school-logo" src="${source}" alt="">`);
    const { browser } = await makeTeacher(world);
    expect((await browser.once(source)).headers.get("content-type")).toBe("image/jpeg");
  });

  test("the page with the cards of 30 pupils is small enough for a slow network", async () => {
    const world = await makeClass();
    await make.people({ school: world.school, count: 29, groups: [world.group] });
    const made = await makeCard(world);
    expect(passwordsOf(made)).toHaveLength(30);
    expect(Buffer.byteLength(made.html)).toBeLessThan(60_000);
  });

  const isRevoked = async (personId: PersonId) =>
    (await prisma.loginCard.findMany({ where: { personId } })).map(({ revokedAt }) => revokedAt !== null);
  async function makeCard(world: World): Promise<Shown> {
    const none = { grades: [], weekdays: [], networks: [], printSecondStep: false };
    const settings = { enabled: true, secondStep: "NONE" as const, updatedAt: service.clock(), ...none };
    await prisma.cardSettings.upsert({
      where: { schoolId: world.school },
      create: { schoolId: world.school, ...settings },
      update: {},
    });
    const made = await office.submit(await office.open(`${world.page}/logins`), "/logins", {
      kind: "cards",
      newPasswords: "yes",
    });
    expect(made.status).toBe(200);
    return made;
  }

  test("a lost card is dead with one click of the class teacher, and a second click does no harm", async () => {
    const world = await makeClass();
    await makeCard(world);
    const { browser, personId } = await makeTeacher(world);
    const member = await browser.open(`${world.page}/members/${world.pupil}`);
    expect(textOf(member.html)).toMatch(/Anmeldekarten Karte vom .* noch nie benutzt/);
    const revoked = await browser.submit(member, "/revoke");
    expect(textOf(revoked.html)).toContain("Mit der Karte kann sich niemand mehr anmelden");
    expect(textOf(revoked.html)).toContain("Gilt nicht mehr");
    expect(mainOf(revoked.html)).not.toContain("/revoke");
    expect((await browser.submit(member, "/revoke")).status).toBe(200);
    expect(await isRevoked(world.pupil)).toEqual([true]);
    expect((await browser.open(`${world.page}/members/${personId}`)).status).toBe(200);
  });

  test("a class teacher makes a new card for one pupil, and no other card ends", async () => {
    const world = await makeClass();
    const other = await make.person({ school: world.school, groups: [world.group], ...named("Cem", "Yıldız") });
    await makeCard(world);
    const { browser } = await makeTeacher(world);
    const member = await browser.open(`${world.page}/members/${world.pupil}`);
    expect(textOf(member.html)).toContain("Karte ersetzen");
    const form = await browser.open(`${world.page}/members/${world.pupil}/card`);
    expect(textOf(form.html)).toMatch(/gilt dann nicht mehr.*Die Karten aller anderen gelten weiter/);
    const made = await browser.submit(form, "/card", { newPasswords: "no" });
    expect([made.html.split("<svg").length - 1, passwordsOf(made)]).toEqual([1, []]);
    const { headers, html: pdf } = await browser.submit(made, "/card/pdf");
    expect([headers.get("content-type"), pdf.slice(0, 5)]).toEqual(["application/pdf", "%PDF-"]);
    expect((await isRevoked(world.pupil)).toSorted()).toEqual([false, true]);
    expect(await isRevoked(other)).toEqual([false]);
  });

  test("the office makes the first card of a person on their page; without QR codes it has a password", async () => {
    const world = await makeClass();
    const page = `/admin/schools/${world.school}/people/${world.pupil}`;
    expect(textOf((await office.open(page)).html)).toContain("Karte machen");
    const form = await office.open(`${page}/card`);
    expect(textOf(form.html)).toContain("Ihre Schule verwendet keine QR-Codes");
    expect(passwordsOf(await office.submit(form, "/card"))).toHaveLength(1);
  });

  test("all cards of a class are revoked at once", async () => {
    const world = await makeClass();
    await makeCard(world);
    const { browser } = await makeTeacher(world);
    const shown = await browser.open(`${world.page}/logins`);
    expect(textOf((await browser.submit(shown, "/cards/revoke")).html)).toContain("Eine Karte gilt nicht mehr.");
    expect(await isRevoked(world.pupil)).toEqual([true]);
  });
});

describe("passwords and cards for several classes", () => {
  const prepare = () => service.runJob("accounts.prepareCredentials");
  const startOf = (world: World) => `/admin/schools/${world.school}/credentials`;

  test("are prepared while the page is closed, and valid when downloaded; as a file no name is a formula", async () => {
    const world = await makeClass();
    const later = await make.group({ school: world.school, name: "Klasse 10a" });
    await make.person({ school: world.school, groups: [later], ...named("=SUM(A1)", "Aal") });
    expect(mainOf((await office.open(world.base)).html)).toContain(`href="${startOf(world)}"`);
    const form = await office.open(startOf(world));
    expect(textOf(form.html)).toContain("Anmeldekarten mit QR-Code sind an Ihrer Schule ausgeschaltet");
    const page = await office.submit(form, "/credentials", { kind: "passwords", role: "STUDENT" });
    expect(textOf(page.html)).toMatch(/0 von 2 vorbereitet.*Noch hat sich nichts geändert/);
    expect(mainOf(page.html)).not.toContain("/document");
    await prepare();
    const list = await office.open(startOf(world));
    expect(textOf(list.html)).toMatch(/Ihre Dokumente.*2 Personen liegt bereit/);
    const address = /href="([^"]*\/credentials\/[^"]+)"/.exec(list.html)![1]!;
    const ready = await office.open(address);
    expect(textOf(ready.html)).toContain(
      "Sie können es einmal herunterladen. Dann gelten alle Karten und Passwörter darin",
    );
    const open = await office.open(address);
    expect(await prisma.credential.count({ where: { person: { homeSchoolId: world.school, role: "STUDENT" } } })).toBe(
      0,
    );
    const file = await office.submit(ready, "/document", { format: "csv" });
    expect([file.headers.get("content-type"), file.headers.get("cache-control")]).toEqual([
      "text/csv; charset=utf-8",
      "no-store",
    ]);
    const [head, first, second] = file.html.replace(/^\uFEFF/, "").split(/\r?\n/);
    expect(head).toBe("Klasse;Name;Benutzername;Passwort");
    expect(first).toMatch(/^Klasse 5a;Bo Müller;bo\.mueller\d*;.{10}$/);
    expect(second).toContain("'=SUM(A1) Aal");
    // The same page gets it again, for a download that was interrupted.
    expect((await office.submit(ready, "/document", { format: "csv" })).html).toBe(file.html);
    const refused = await office.submit(open, "/document", { format: "pdf" });
    expect(refused.status).toBe(409);
    expect(textOf(refused.html)).toContain("ist schon heruntergeladen worden und wird nicht noch einmal ausgegeben");
    const done = await office.open(address);
    expect(textOf(done.html)).toContain("Das Dokument wird nur einmal ausgegeben");
    expect(mainOf(done.html)).not.toContain("/document");
    const nobody = await office.submit(await office.open(startOf(world)), "/credentials", {
      kind: "passwords",
      role: "STUDENT",
    });
    expect(textOf(nobody.html)).toContain("Es gibt nichts zu machen");
  });

  test("come with a letter to parents, whose text a school administrator changes", async () => {
    const world = await makeClass();
    const admin = (await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [world.school] })).browser;
    const address = `${startOf(world)}/letter`;
    expect(mainOf((await admin.open(startOf(world))).html)).toContain(`href="${address}"`);
    const form = await admin.open(address);
    expect(textOf(form.html)).toContain("hat an unserer Schule einen Zugang");
    const refused = await admin.submit(form, "/letter", { text: "Ihr {Pasword}" });
    expect(refused.status).toBe(400);
    expect(textOf(refused.html)).toMatch(/Platzhalter, den es nicht gibt.*Ihr \{Pasword\}/);
    const longest = `${"a".repeat(1_990)}\r\n\r\n\r\n\r\n\r\n${"a".repeat(5)}`;
    const saved = await admin.submit(refused, "/letter", { text: longest });
    expect(textOf(saved.html)).toContain("Der Text des Elternbriefs ist gespeichert.");
    expect(textOf((await admin.open(address)).html)).toContain("aaaaa");
    expect(textOf((await admin.submit(await admin.open(address), "/letter", { reset: "yes" })).html)).toContain(
      "gespeichert",
    );
    expect(await prisma.parentLetter.count({ where: { schoolId: world.school } })).toBe(0);
    expect((await office.open(address)).status).toBe(403);
    const start = await office.open(startOf(world));
    const staff = await office.submit(start, "/credentials", { kind: "letters", role: "TEACHER" });
    expect([staff.status, textOf(staff.html).includes("Elternbriefe gibt es nur für Lernende")]).toEqual([400, true]);
    const only = await office.submit(await office.open(startOf(world)), "/credentials", { kind: "letters" });
    expect(textOf(only.html)).toMatch(/Elternbriefe Inhalt Nur Elternbriefe/);
    expect(textOf(only.html)).not.toContain("Karten und Passwörter");
    const page = await office.submit(start, "/credentials", { kind: "passwords", letters: "yes", role: "STUDENT" });
    expect(textOf(page.html)).toContain("Passwörter, mit Elternbrief");
  });

  test("ask for whom, and a class teacher has their own classes only", async () => {
    const world = await makeClass();
    await make.group({ school: world.school, name: "Klasse 9c" });
    const { browser } = await makeTeacher(world);
    const form = await browser.open(startOf(world));
    expect(textOf(form.html)).toContain("Alle Lernenden Ihrer Klassen");
    expect(textOf(form.html)).not.toContain("9c");
    const missing = await browser.submit(form, "/credentials", { kind: "passwords", whom: "groups" });
    expect([missing.status, textOf(missing.html).includes("mindestens eine Klasse")]).toEqual([400, true]);
    const page = await browser.submit(form, "/credentials", { kind: "passwords", whom: "groups", group: world.group });
    expect(textOf(page.html)).toContain("0 von 1 vorbereitet");
    const support = await makePortalUser(service, "SUPPORT", { schoolIds: [world.school] });
    expect((await support.browser.open(startOf(world))).status).toBe(403);
  });
});
