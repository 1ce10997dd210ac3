import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { recordFirstSignIn } from "../../src/access/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import { makeBrowser, textOf } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { giveRoleTo, makePortalUser } from "../support/portal.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { startService } from "../support/service.ts";
import { giveLogin } from "../support/token.ts";
import { makeConnectionRow } from "../support/upstream-rows.ts";

hashAllQuickly();
const service = await startService();
const make = makeMakers(service.db);

const person = (first: string, last: string) => ({ name: { firstFull: first, firstCall: first, last } });

const [secretary, administrator] = [await makePortalUser(service, null), await makePortalUser(service, null)];

/** A school of its own. One secretary and one administrator work at all of them. */
async function makeSchool() {
  const school = await make.school();
  await giveRoleTo(service, secretary.personId, "SECRETARY", { schoolIds: [school] });
  await giveRoleTo(service, administrator.personId, "SCHOOL_ADMIN", { schoolIds: [school] });
  const { browser: office } = secretary;
  return { school, office, admin: administrator.browser, base: `/admin/schools/${school}/people` };
}

describe("the list of people", () => {
  test("finds people by name without showing in the address what was typed", async () => {
    const { school, office, base } = await makeSchool();
    const group = await make.group({ school, name: "Klasse 5a" });
    await make.person({ school, groups: [group], ...person("Bo", "Müller") });
    await make.person({ school, ...person("Cem", "Yıldız") });
    const all = await office.open(base);
    expect(textOf(all.html)).toMatch(/Bo Müller Klasse 5a.* Cem Yıldız Schülerin oder Schüler/);
    const found = await office.submit(all, "/people/search", { search: "müll" });
    expect(textOf(found.html)).toContain("Bo Müller");
    expect(textOf(found.html)).not.toContain("Cem");
    expect(decodeURIComponent(found.url).toLowerCase()).not.toContain("müll");
    expect(found.html).toContain('value="müll"');
  });

  test("filters by class, role, login and state", async () => {
    const { school, office, base } = await makeSchool();
    const group = await make.group({ school, name: "Klasse 5a" });
    await make.person({ school, groups: [group], ...person("Ada", "Aal") });
    await make.person({ school, role: "OTHER", ...person("Berta", "Bär") });
    await make.person({ school, status: "SOFT_DELETED", ...person("Carl", "Chow") });
    const all = await office.open(base);
    const shows = async (fields: Record<string, string>) => {
      const { html } = await office.submit(all, "/people/search", fields);
      return ["Ada", "Berta", "Carl"].filter((name) => textOf(html).includes(name));
    };
    expect(await shows({})).toEqual(["Ada", "Berta"]);
    expect(await shows({ group })).toEqual(["Ada"]);
    expect(await shows({ role: "OTHER" })).toEqual(["Berta"]);
    expect(await shows({ status: "SOFT_DELETED" })).toEqual(["Carl"]);
    expect(await shows({ status: "ALL" })).toEqual(["Ada", "Berta", "Carl"]);
    expect(await shows({ "sign-in": "IMPOSSIBLE" })).toEqual(["Ada", "Berta"]);
  });

  test("is sorted by the links in the head of the table, and stays so while it is searched", async () => {
    const { school, office, base } = await makeSchool();
    const { clientId } = await make.app();
    for (const [first, days] of [
      ["Ada", 1],
      ["Berta", 3],
      ["Carl", 2],
    ] as const) {
      const id = await make.person({ school, ...person(first, "Zett") });
      const at = new Date(service.clock().getTime() - days * 86_400_000);
      await recordFirstSignIn(service.db, { clientId, personId: id, at });
    }
    const order = ({ html }: { html: string }) => [...textOf(html).matchAll(/Ada|Berta|Carl/g)].map(([name]) => name);
    const headOf = ({ html }: { html: string }, column: string) =>
      new RegExp(`<th scope="col"([^>]*)><a href="([^"]*)">${column}`).exec(html)?.slice(1) ?? [];
    const linkOf = (shown: { html: string }, column: string) => headOf(shown, column)[1]!.replaceAll("&amp;", "&");
    const first = await office.open(`${base}?role=STUDENT`);
    expect(order(first)).toEqual(["Ada", "Berta", "Carl"]);
    expect([headOf(first, "Name")[0], headOf(first, "Zuletzt")[0]]).toEqual([' aria-sort="ascending"', ""]);
    const latest = await office.open(linkOf(first, "Zuletzt"));
    expect([order(latest), headOf(latest, "Zuletzt")[0]]).toEqual([
      ["Ada", "Carl", "Berta"],
      ' aria-sort="descending"',
    ]);
    expect(latest.url).toContain("role=STUDENT");
    const oldest = await office.open(linkOf(latest, "Zuletzt"));
    expect(order(oldest)).toEqual(["Berta", "Carl", "Ada"]);
    const found = await office.submit(oldest, "/people/search", { search: "zett" });
    expect([order(found), headOf(found, "Zuletzt")[0]]).toEqual([["Berta", "Carl", "Ada"], ' aria-sort="ascending"']);
    expect(order(await office.open(linkOf(await office.open(linkOf(found, "Name")), "Name")))).toEqual([
      ...["Carl", "Berta", "Ada"],
    ]);
    expect((await office.open(`${base}?sort=%3Cb%3E`)).status).toBe(200);
  });

  test("shows fifty people, and the next ones on the next page", async () => {
    const { school, office, base } = await makeSchool();
    await make.people({ school, count: 51 });
    const first = await office.open(base);
    const next = /href="([^"]*cursor=[^"]*)"/.exec(first.html)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const second = await office.open(next);
    const rows = (html: string) => html.match(/<tr><th scope="row">/g)?.length ?? 0;
    expect([rows(first.html), rows(second.html)]).toEqual([50, 1]);
  });
});

describe("adding a person", () => {
  const typed = { firstCall: "Bo", last: "Neu", firstFull: "", role: "STUDENT", sourceId: "" };

  test("registers them with their class, and a second click adds nobody", async () => {
    const { school, office, base } = await makeSchool();
    const group = await make.group({ school, name: "Klasse 5a" });
    const form = await office.open(`${base}/new`);
    await office.submit(form, "/people", { ...typed, group });
    await office.submit(form, "/people", { ...typed, group });
    const found = await service.db.prisma.person.findMany({
      where: { homeSchoolId: school, last: "Neu" },
      include: { affiliations: { include: { memberships: true } } },
    });
    expect(found.map(({ firstCall, firstFull, role }) => [firstCall, firstFull, role])).toEqual([
      ["Bo", "Bo", "STUDENT"],
    ]);
    expect(found[0]?.affiliations.flatMap(({ memberships }) => memberships.map(({ groupId }) => groupId))).toEqual([
      group,
    ]);
  });

  test("what was typed stays when it is refused", async () => {
    const { school, office, base } = await makeSchool();
    await make.person({ school, sourceSystemIdentifier: "src-1" });
    const page = await office.submit(await office.open(`${base}/new`), "/people", { ...typed, sourceId: "src-1" });
    expect(page.status).toBe(409);
    expect(textOf(page.html)).toContain("gehört schon zu einer anderen Person");
    expect(page.html).toContain('value="Neu"');
  });
});

describe("a person", () => {
  async function makePerson() {
    const made = await makeSchool();
    const { school, base } = made;
    const [group, other] = [await make.group({ school, name: "Klasse 5a" }), await make.group({ school, name: "6b" })];
    const id = await make.person({ school, groups: [group], ...person("Bo", "Müller") });
    return { ...made, group, other, id, page: `${base}/${id}` };
  }
  const read = (id: PersonId) => service.db.prisma.person.findUniqueOrThrow({ where: { id } });
  const groupsOf = async (personId: PersonId) =>
    (await service.db.prisma.membership.findMany({ where: { personId } })).map(({ groupId }) => groupId);

  test("is shown with their facts, and their name stands in no title and no address", async () => {
    const { office, page } = await makePerson();
    const { html, status, url } = await office.open(page);
    expect(status).toBe(200);
    expect(textOf(html)).toMatch(/Bo Müller.*An der Schule.*Klasse 5a.*Verlauf.*Angelegt/);
    expect(/<title>(.*)<\/title>/.exec(html)?.[1]).not.toContain("Müller");
    expect(url).not.toContain("Bo");
  });

  test("gets another name and role; somebody else's change meanwhile is shown first", async () => {
    const { office, page, id } = await makePerson();
    const [first, second] = [await office.open(page), await office.open(page)];
    const typed = { firstCall: "Bo", firstFull: "Bo Emil", last: "Meyer", role: "TEACHER", sourceId: "src-9" };
    expect(textOf((await office.submit(first, "/details", typed)).html)).toContain("gespeichert");
    expect(await read(id)).toMatchObject({ last: "Meyer", role: "TEACHER", sourceSystemIdentifier: "src-9" });
    const refused = await office.submit(second, "/details", { ...typed, last: "Schmidt" });
    expect(refused.status).toBe(412);
    expect(refused.html).toContain('value="Schmidt"');
    expect((await read(id)).last).toBe("Meyer");
  });

  test("gets a user name and a password, which stand on one page and in no address", async () => {
    const { office, page, id } = await makePerson();
    await service.db.prisma.credential.deleteMany({ where: { personId: id } });
    const given = await office.submit(await office.open(page), "/login", { username: "bo.anders" });
    const password = /<code>([^<]+)<\/code><\/dd><\/div>\s*<\/dl>/.exec(given.html)?.[1] ?? "";
    expect(textOf(given.html)).toContain("bo.anders");
    expect(password.length).toBeGreaterThan(5);
    expect(given.url).not.toContain(password);
    expect(given.headers.get("cache-control")).toBe("no-store");
    const shown = await office.open(page);
    const again = await office.submit(shown, "/password");
    const twice = await office.submit(shown, "/password");
    expect(again.html).toContain("bo.anders");
    expect(again.html).not.toContain(password);
    // A second click shows the same password, and makes no other.
    expect(twice.html).toBe(again.html);
    const stranger = await makePortalUser(service, null);
    const taken = await office.submit(shown, "/login", { username: stranger.username.toUpperCase() });
    expect(taken.status).toBe(409);
    expect(textOf(taken.html)).toContain("hat oder hatte schon jemand");
    expect(taken.html).toContain(`value="${stranger.username.toUpperCase()}"`);
  });

  test("changes the class, and what was taken away is put back from the timeline", async () => {
    const { page, id, group, other, admin: browser } = await makePerson();
    const changed = await browser.submit(await browser.open(page), "/groups", { group: other, from: group });
    expect(await groupsOf(id)).toEqual([other]);
    expect(textOf(changed.html)).toMatch(/Herausgenommen aus Klasse 5a · .+ Rückgängig machen/);
    const form = changed.html.slice(changed.html.indexOf("timeline"));
    await browser.submit({ ...changed, html: form }, "/groups");
    expect((await groupsOf(id)).sort()).toEqual([group, other].sort());
    const left = await browser.submit(await browser.open(page), `/groups/${other}/leave`);
    expect(await groupsOf(id)).toEqual([group]);
    expect(left.status).toBe(200);
  });

  test("leaves after a dry run that says what apps lose, and is brought back", async () => {
    const { school, office, page, id } = await makePerson();
    const { clientId } = await make.app({ name: "Lernapp" });
    await make.grant({ app: clientId, school });
    const asked = await office.open(`${page}/leave`);
    expect(textOf(asked.html)).toMatch(/Lernapp 1 Schülerin oder Schüler verschwindet\. Wer verschwindet Bo Müller/);
    expect((await read(id)).status).toBe("ACTIVE");
    const left = await office.submit(asked, "/leave");
    expect((await read(id)).status).toBe("SOFT_DELETED");
    expect(textOf(left.html)).toContain("hat die Schule verlassen");
    expect((await office.submit(asked, "/leave")).status).toBe(409);
    await office.submit(left, "/restore");
    expect((await read(id)).status).toBe("ACTIVE");
  });

  test("who has left is deleted for good by a school admin, and by no secretary", async () => {
    const { office, page, id, admin: browser } = await makePerson();
    const left = await office.submit(await office.open(`${page}/leave`), "/leave");
    expect(left.html).not.toContain(`${page}/delete`);
    expect((await office.open(`${page}/delete`)).status).toBe(403);
    const gone = await browser.submit(await browser.open(`${page}/delete`), "/delete");
    expect(textOf(gone.html)).toContain("endgültig gelöscht");
    expect(await service.db.prisma.person.count({ where: { id } })).toBe(0);
  });

  test("moves to another school of the secretary", async () => {
    const [school, second] = [await make.school(), await make.school({ name: "Zweite Schule" })];
    const { browser } = await makePortalUser(service, "SECRETARY", { schoolIds: [school, second] });
    const id = await make.person({ school });
    const page = `/admin/schools/${school}/people/${id}`;
    const chosen = await browser.open(`${page}/school?how=move&to=${second}`);
    expect(textOf(chosen.html)).toContain("an der Schule Zweite Schule");
    const moved = await browser.submit(chosen, "/school");
    expect(new URL(moved.url).pathname).toBe(`/admin/schools/${second}/people/${id}`);
    expect((await read(id)).homeSchoolId).toBe(second);
  });

  test("who may use the school's own login sees it explained, linked or not yet", async () => {
    const { school, office, admin, base } = await makeSchool();
    const personId = await make.person({ school, ...person("Bo", "Muster") });
    await giveLogin(service.db, personId);
    const { upstreamConnection, upstreamLink } = service.db.prisma;
    const at = service.clock();
    const id = await makeConnectionRow(service.db, { school, at });
    const [issuer, client] = ["https://iserv.example", { clientId: "schultor", clientSecret: new Uint8Array(48) }];
    await upstreamConnection.update({ where: { id }, data: { state: "ON", issuer, ...client, testedAt: at } });
    const shown = async () => textOf((await office.open(`${base}/${personId}/sign-in`)).html);
    expect(await shown()).toContain("Noch nicht mit „IServ“ verknüpft.");
    const link = { connectionId: id, issuer, subject: "7", personId, linkedAt: at, linkedBy: "STAFF" as const };
    await upstreamLink.create({ data: link });
    expect(await shown()).toMatch(/Mit „IServ“ verknüpft seit dem \d\d\.\d\d\.\d{4}, noch nicht benutzt\./);
    const failing = { failingSince: at, lastFailure: "UPSTREAM_DOWN", lastFailureAt: at } as const;
    await upstreamConnection.update({ where: { id }, data: failing });
    expect(await shown()).toMatch(/noch nicht benutzt\. Anmeldungen dort scheitern seit 03\.02\.2026.*\d\d:\d\d/);
    const groupIds = [await make.group({ school })];
    await upstreamConnection.update({ where: { id }, data: { groupIds } });
    expect(await shown()).toContain("„IServ“ ist nur für einzelne Klassen eingeschaltet, und die Person ist in keiner");
    const { html } = await admin.open(`${base}/${personId}/sign-in`);
    expect(html).toContain(`href="/admin/schools/${school}/own-login/${id}#switch-on"`);
  });

  test("whose sign-in is refused gets the reason, step by step, with what mends it", async () => {
    const { school, office, page, id, admin: browser } = await makePerson();
    const { clientId } = await make.app({ name: "Lernapp" });
    await make.grant({ app: clientId, school, signOn: { kind: "ROLES", roles: ["TEACHER"] } });
    const asked = await browser.open(`${page}/sign-in`);
    expect(asked.html).toContain(`value="${clientId}"`);
    await browser.submit(await browser.open(page), "/block");
    const refused = await browser.open(`${page}/sign-in?app=${clientId}`);
    expect(textOf(refused.html)).toMatch(/kann sich nicht anmelden.*Hier klemmt es Die Person ist seit .* gesperrt/);
    expect(textOf(refused.html)).toMatch(/lässt nur zu: Lehrkräfte/);
    expect(refused.html).toContain(`/admin/schools/${school}/apps/${clientId}`);
    await browser.submit(refused, "/unblock");
    expect((await read(id)).blockedAt).toBeNull();
    await make.grant({ app: clientId, school });
    await browser.submit(await browser.open(page), "/login", { username: `bo.${id.slice(-8)}` });
    // A secretary sees the apps of the person.
    const allowed = await office.open(`${page}/sign-in?app=${clientId}`);
    expect(textOf(allowed.html)).toContain("Die Person kann sich anmelden");
    expect((await office.submit(await office.open(page), "/sign-out")).status).toBe(200);
    const waits = await browser.open(page);
    const token = /name="token" value="([^"]*)"/.exec(waits.html)?.[1] ?? "";
    const released = await browser.once(`${page}/release`, { method: "POST", body: new URLSearchParams({ token }) });
    expect(released.status).toBe(303);
  });

  test("whose card and password were refused: the page says which, when, and what mends it", async () => {
    const { school, page, id, admin: browser } = await makePerson();
    const { clientId } = await make.app();
    await make.grant({ app: clientId, school });
    const reasons = async () => textOf((await browser.open(`${page}/sign-in?app=${clientId}`)).html);
    expect(await reasons()).toContain("Die Person hat keinen Benutzernamen.");
    const { username } = await giveLogin(service.db, id);
    const visitor = makeBrowser(service.url);
    const form = await visitor.open("/sign-in");
    await visitor.submit(form, "/sign-in", { username, password: "falsch" });
    await visitor.submit(form, "/sign-in", { username, password: "auch falsch" });
    expect(await reasons()).toMatch(
      /2 falsche Passwörter in den letzten 24 Stunden, das letzte: 03\.02\.2026.*09:00\. Neues Passwort vergeben/,
    );
    const pageText = async () => textOf((await browser.open(page)).html);
    expect(await pageText()).toContain("Neues Passwort geben");
    const wayIn = service.db.prisma.schoolWayIn;
    await wayIn.create({ data: { schoolId: school, localPasswords: false } });
    expect(await reasons()).toMatch(/2 falsche Passwörter[^.]*\./);
    for (const text of [await reasons(), await pageText()]) expect(text).not.toMatch(/Neues Passwort (ver)?geben/);
    expect(await pageText()).toContain("Die Schule verwendet keine Passwörter dieses Dienstes");
    await wayIn.delete({ where: { schoolId: school } });
    const at = service.clock();
    const refused = { refusedAt: at, refusedFor: "NETWORK" } as const;
    const card = { id: randomUUID(), tokenHash: new Uint8Array(32), secondStep: "NONE", createdAt: at } as const;
    await service.db.prisma.loginCard.create({ data: { ...card, ...refused, personId: id, schoolId: school } });
    const limits = { grades: [], networks: [], hoursFrom: "13:00", hoursTo: "15:00", weekdays: [1, 2] };
    const settings = { ...limits, enabled: true, secondStep: "NONE", printSecondStep: false, updatedAt: at } as const;
    await service.db.prisma.cardSettings.create({ data: { schoolId: school, ...settings } });
    expect(await reasons()).toMatch(
      /Die Schule erlaubt Karten von 13:00 bis 15:00 Uhr \(Montag und Dienstag\)\. Der letzte Versuch \(.*\) kam von außerhalb des Schulnetzes\. Regeln für Karten ändern/,
    );
  });

  test("is shown with the apps that see them, where they are signed in and what they agreed to", async () => {
    const { school, office, base } = await makeSchool();
    const { clientId } = await make.app({ name: "Lernapp" });
    await make.grant({ app: clientId, school });
    const pupil = await makePortalUser(service, null, { schoolIds: [school] });
    await make.signIn({ app: clientId, person: pupil.personId });
    await service.db.prisma.consent.create({
      data: { clientId, personId: pupil.personId, scopes: ["openid"], grantedAt: service.clock() },
    });
    const page = `${base}/${pupil.personId}/apps`;
    const shown = await office.open(page);
    expect(textOf(shown.html)).toMatch(/Lernapp.*darf sich anmelden.*Die App sieht Name.*Browser.*Lernapp am 0?3/);
    const ended = await office.submit(shown, "/end");
    expect(textOf(ended.html)).toContain("Diese Anmeldung ist beendet.");
    expect((await pupil.browser.once("/admin/schools")).status).toBe(303);
    await office.submit(ended, "/withdraw");
    expect(await service.db.prisma.consent.count({ where: { personId: pupil.personId } })).toBe(0);
  });

  test("whose login card is lost gets it revoked with one click", async () => {
    const { school, office, page, id } = await makePerson();
    expect((await office.open(page)).html).not.toContain("/revoke");
    const card = { schoolId: school, personId: id, secondStep: "NONE" as const, createdAt: service.clock() };
    await service.db.prisma.loginCard.create({ data: { id: randomUUID(), ...card, tokenHash: Buffer.alloc(32, 7) } });
    const shown = await office.open(page);
    expect(textOf(shown.html)).toMatch(/Anmeldekarten Karte vom .* noch nie benutzt Verloren: Karte sperren/);
    const revoked = await office.submit(shown, "/revoke");
    expect(textOf(revoked.html)).toMatch(/kann sich niemand mehr anmelden.*Gilt nicht mehr/);
    expect(await service.db.prisma.loginCard.count({ where: { personId: id, revokedAt: null } })).toBe(0);
    const { browser } = await makePortalUser(service, "SUPPORT", { schoolIds: [school] });
    expect((await browser.open(page)).html).not.toContain("/revoke");
  });

  test("who asks for their data gets it as PDF and JSON, from a school admin", async () => {
    const { office, page, id, admin: browser } = await makePerson();
    expect((await office.open(`${page}/data`)).html).not.toContain("/data/pdf");
    const shown = await browser.open(`${page}/data`);
    const json = await browser.submit(shown, "/data/json");
    expect(json.headers.get("content-disposition")).toContain("auskunft.json");
    expect(JSON.parse(json.html)).toMatchObject({ person: { id, name: { last: "Müller" } } });
    const pdf = await browser.submit(shown, "/data/pdf");
    expect([pdf.headers.get("content-type"), pdf.html.slice(0, 5)]).toEqual(["application/pdf", "%PDF-"]);
    expect(await service.db.prisma.audit.count({ where: { personId: id, action: "person_data_read" } })).toBe(2);
  });
});
