import { randomBytes, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { PersonId, SchoolId } from "../../src/directory/index.ts";
import { addDays } from "../../src/platform/clock.ts";
import type { Browser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { findStructureFaults } from "../support/page-structure.ts";
import { startService } from "../support/service.ts";
import { giveLogin } from "../support/token.ts";
import { makeConnectionRow } from "../support/upstream-rows.ts";

// Every number of Today beside what its links show, at schools with nothing, one and several of everything.

hashAllQuickly();
const service = await startService();
const { prisma } = service.db;
const make = makeMakers(service.db, service.clock());
const now = service.clock();
const day = (days: number) => addDays(now, days);
const elsewhere = await make.school({ name: "Andere Schule" });
const times = <T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Array.from({ length: count }).reduce<Promise<T[]>>(
    async (before, _, n) => [...(await before), await work(n)],
    Promise.resolve([]),
  );

async function makeImport(state: string, schoolIds: readonly SchoolId[]) {
  const isOfSchools = ["READY", "HELD"].includes(state);
  const schools = { create: isOfSchools ? schoolIds.map((schoolId) => ({ schoolId, state, counts: {} })) : [] };
  const kind = { format: "PLAIN", mode: "BULK", state, fileName: "liste.csv", namedSchoolIds: [...schoolIds] };
  await prisma.import.create({ data: { id: randomUUID(), ...kind, createdAt: now, schools } });
}

async function makeLeaver(school: SchoolId, leftAt: Date) {
  const id = await make.person({ school });
  await prisma.person.update({ where: { id }, data: { leftAt } });
}

async function makeConnection(school: SchoolId, of: { failing?: boolean; expiring?: boolean; isOn: boolean }) {
  const id = await makeConnectionRow(service.db, { school, at: now });
  const keys = { issuer: "https://iserv.example", clientId: id, clientSecret: new Uint8Array(48), testedAt: now };
  const failure = { failingSince: now, lastFailure: "SECRET_REFUSED", lastFailureAt: now } as const;
  const data = {
    ...keys,
    name: `Login ${id}`,
    state: of.isOn ? ("ON" as const) : ("OFF" as const),
    ...(of.failing && failure),
    ...(of.expiring && { secretExpiresAt: day(10) }),
  };
  await prisma.upstreamConnection.update({ where: { id }, data });
  return id;
}

function refuse(connectionId: string, code: string) {
  const seen = { firstAt: now, lastAt: now, tries: 2 };
  const account = { subjectHash: randomBytes(32), details: new Uint8Array(48) };
  return prisma.upstreamRefusal.create({ data: { id: randomUUID(), connectionId, code, ...account, ...seen } });
}

/** A school with `n` of everything, and more that Today does not count. */
async function makeSchoolWith(n: number): Promise<{ school: SchoolId; browser: Browser }> {
  const school = await make.school({ name: `Schule ${n}` });
  const { browser } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const policy = { id: randomUUID(), leftMonths: 6, leftFrom: "LEAVING" as const, leftReason: "Schulgesetz" };
  await prisma.retentionPolicy.create({
    data: { ...policy, schoolId: school, effectiveAt: day(-400), updatedAt: now },
  });
  const pupils = await times(n + 1, () => make.person({ school }));
  await giveLogin(service.db, pupils[0]!);
  for (const state of ["READY", "HELD", "UNMAPPED", "READING", "EXPIRED", "CANCELLED"])
    await times(n, () => makeImport(state, [school]));
  await makeImport("HELD", [school, elsewhere]);
  await times(n, async (number) => {
    const left = await make.person({ school, status: "SOFT_DELETED" });
    await prisma.person.update({ where: { id: left }, data: { softDeletedAt: day(-3) } });
    const before = await make.person({ school, status: "SOFT_DELETED" });
    await prisma.person.update({ where: { id: before }, data: { softDeletedAt: day(-9) } });
    const guest = await make.person({ schools: [school, elsewhere] });
    await prisma.passwordRequest.create({ data: { personId: guest, schoolId: elsewhere, requestedAt: now } });
    // Half a year after leaving: in the days of the notice, in 90 days, and later.
    for (const leftDays of [178, 120, 20]) await makeLeaver(school, day(-leftDays));
    const of = { schoolId: school, personId: guest, askedBy: "GUARDIAN" as const, receivedOn: now, dueOn: day(20) };
    await prisma.dataRequest.create({ data: { id: randomUUID(), ...of } });
    const closed = { closedAt: now, outcome: "ANSWERED" as const, closedRole: "OPERATOR" };
    await prisma.dataRequest.create({ data: { id: randomUUID(), ...of, ...closed } });
    await offer(elsewhere, school, await make.person({ school: elsewhere }));
    await offer(school, elsewhere, guest);
    await refuse(await makeConnection(school, { failing: true, isOn: true }), "NOBODY_MATCHES");
    const expiring = await makeConnection(school, { expiring: true, isOn: true });
    for (const code of ["SEVERAL_MATCH", "WAITS_FOR_STAFF"]) await refuse(expiring, code);
    await makeConnection(school, { failing: true, expiring: true, isOn: false });
    const [open, accepted] = [
      await make.app({ name: `Offene App ${number}` }),
      await make.app({ name: `Erlaubte App ${number}` }),
    ];
    for (const { clientId } of [open, accepted]) {
      const { id: agreementId } = await make.agreement(clientId);
      if (clientId === accepted.clientId) await accept(agreementId, clientId, school);
      await make.grant({ app: clientId, school });
      await prisma.grant.updateMany({ where: { clientId }, data: { createdAt: day(-100) } });
    }
    await make.signIn({ app: accepted.clientId, person: pupils[0]! });
  });
  if (n > 0) {
    const hold = { checkAt: now, heldAt: now, heldPeople: n + 10 };
    await prisma.retentionCheck.upsert({
      where: { schoolId: school },
      create: { schoolId: school, ...hold },
      update: hold,
    });
    await prisma.schoolWayIn.create({ data: { schoolId: school, emergencyUntil: day(1) } });
  }
  return { school, browser };
}

async function accept(agreementId: string, clientId: string, schoolId: SchoolId) {
  const { scopes, attributes } = await prisma.app.findUniqueOrThrow({ where: { clientId } });
  const of = { id: randomUUID(), agreementId, clientId, schoolId, acceptedAt: now };
  await prisma.agreementAcceptance.create({ data: { ...of, scopes, attributes } });
}

async function offer(fromSchoolId: SchoolId, toSchoolId: SchoolId, personId: PersonId) {
  const id = randomUUID();
  const of = { fromSchoolId, toSchoolId, state: "OFFERED", offered: 1, createdAt: now, expiresAt: day(30) };
  await prisma.handover.create({ data: { id, ...of } });
  await prisma.handoverPerson.create({ data: { personId, handoverId: id } });
}

type Card = { heading: string; figure: number; links: string[]; entries: string[] };

/** The cards of Today: their number, the link to all, and those to the first few. */
function cardsOf(html: string): Card[] {
  const main = html.slice(html.indexOf('<ul class="cards">'), html.indexOf("</main>"));
  return main
    .split('<li class="card">')
    .slice(1)
    .map((card) => ({
      heading: /<h2>(.*?)<\/h2>/.exec(card)![1]!,
      figure: Number(/class="figure">([^<]*)</.exec(card)![1]),
      links: [...card.matchAll(/<a class="secondary" href="([^"]*)"/g)].map(([, to]) => to!.replaceAll("&amp;", "&")),
      entries: [...card.matchAll(/<li><a href="([^"]*)"/g)].map(([, to]) => to!.replaceAll("&amp;", "&")),
    }));
}

const mainOf = (html: string) => html.slice(html.indexOf("<main"), html.indexOf("</main>"));
const countIn = (html: string, pattern: RegExp) => [...mainOf(html).matchAll(pattern)].length;

/** The rows of a list, with all its pages. */
async function countRows(browser: Browser, address: string, row = /<th scope="row">/g): Promise<number> {
  let [count, next]: [number, string | undefined] = [0, address];
  while (next !== undefined) {
    const { html } = await browser.open(next);
    count += countIn(html, row);
    next = /<a[^>]* rel="next"[^>]* href="([^"]*)"|<a[^>]* href="([^"]*)"[^>]* rel="next"/
      .exec(html)
      ?.slice(1)
      .find(Boolean)
      ?.replaceAll("&amp;", "&");
  }
  return count;
}

/** What the pages behind a card show, by the heading of the card. */
const shownBehind: Record<string, (browser: Browser, school: SchoolId, card: Card) => Promise<number>> = {
  "Wartende Importe": (browser, _, { links }) => countRows(browser, links[0]!),
  "Ohne Anmeldung": (browser, _, { links }) => countRows(browser, links[0]!),
  "Noch nie angemeldet": (browser, _, { links }) => countRows(browser, links[0]!),
  "Neue Abgänge": (browser, _, { links }) => countRows(browser, links[0]!),
  // There is no list behind it: of more than five, the others follow when these are done.
  "Neues Passwort erbeten": async (browser, school, { entries, figure }) => {
    const pages = await Promise.all(entries.map((to) => browser.open(to)));
    const found = pages.filter(({ html }) => html.includes('id="login"')).length;
    expect(found).toBe(Math.min(figure, 5));
    return prisma.passwordRequest.count({ where: { affiliation: { person: { homeSchoolId: school } } } });
  },
  Übergaben: (browser, school) =>
    countRows(browser, `/admin/schools/${school}/handovers`, /<th scope="row"><a[^>]*>(Von|von)/g),
  Auskunftsanfragen: async (browser, _, { links }) => {
    const { html } = await browser.open(links[0]!);
    return countIn(html.split(/<h2>Abgeschlossen/)[0]!.concat("</main>"), /<li class="card">/g);
  },
  "Aufbewahrung angehalten": async (browser, school) =>
    Number(/name="people" value="(\d+)"/.exec((await browser.open(`/admin/schools/${school}/retention`)).html)?.[1]),
  "Wird bald gelöscht": async (browser, _, { links }) => {
    const { html } = await browser.open(links[0]!);
    const [soon] = [
      ...mainOf(html).matchAll(/<h3>(Eine|\d+) (?:Person|Personen) in den nächsten[^<]*<\/h3>([^]*?)<\/ul>/g),
    ];
    const named = [...soon![2]!.matchAll(/<li>/g)].length;
    expect(soon![1] === "Eine" ? 1 : Number(soon![1])).toBe(named);
    return named;
  },
  "Schuleigene Anmeldung gestört": async (browser, school) =>
    countIn(
      (await browser.open(`/admin/schools/${school}/own-login`)).html,
      /<span class="badge bad">Anmeldungen scheitern/g,
    ),
  "Geheimnis läuft ab": async (browser, school) =>
    countIn((await browser.open(`/admin/schools/${school}/own-login`)).html, /<span class="badge bad">Geheimnis/g),
  "Notschalter an": async (browser, school) =>
    countIn((await browser.open(`/admin/schools/${school}/own-login`)).html, /emergency\/end"/g),
  "Abgewiesene Anmeldungen": async (browser, school) => {
    const { html } = await browser.open(`/admin/schools/${school}/own-login`);
    const connections = [...mainOf(html).matchAll(/<h3><a href="([^"]*)"/g)].map(([, to]) => to!);
    const counts = await Promise.all(
      connections.map((to) => countRows(browser, `${to}/refusals`, /<li class="card" id="r-/g)),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  },
  "Vereinbarungen mit Apps": async (browser, school) => {
    const { html } = await browser.open(`/admin/schools/${school}/apps?granted=yes`);
    const apps = [...mainOf(html).matchAll(new RegExp(`href="(/admin/schools/${school}/apps/[^"/#?]+)"`, "g"))];
    const pages = await Promise.all(
      [...new Set(apps.map(([, to]) => to!))].map((to) => browser.open(`${to}/agreement`)),
    );
    return pages.filter(({ html }) => html.includes("Bitte lesen Sie die Vereinbarung")).length;
  },
  "Unbenutzte Apps": async (browser, school) => {
    const { html } = await browser.open(`/admin/schools/${school}/apps?granted=yes`);
    return countIn(html, /Offene App/g);
  },
};

test("the pages behind Today are in order for a screen reader, with several of everything", async () => {
  const { school, browser } = await makeSchoolWith(2);
  const operator = await makePortalUser(service, "OPERATOR");
  const base = `/admin/schools/${school}`;
  const { html } = await browser.open(`${base}/own-login`);
  const connections = [...mainOf(html).matchAll(/<h3><a href="([^"]*)"/g)].map(([, to]) => to!);
  const faults: Record<string, string[]> = {};
  const own = ["today", "own-login", "imports", "imports?waiting=yes", "people", "apps", "retention", "handovers"];
  const look = async (reader: Browser, address: string) => {
    const found = findStructureFaults((await reader.open(address)).html);
    if (found.length > 0) faults[address] = found;
  };
  for (const page of [...own, "privacy", "privacy/requests", "settings"]) await look(browser, `${base}/${page}`);
  for (const page of connections.flatMap((to) => [to, `${to}/refusals`, `${to}/links`])) await look(browser, page);
  for (const page of ["/admin/logins", "/admin/logins?show=failing", "/admin/retention", "/admin/schools"])
    await look(operator.browser, page);
  expect(faults).toEqual({});
});

test.each([0, 1, 6])("each number of Today is what its links show, at a school with %i of everything", async (n) => {
  const { school, browser } = await makeSchoolWith(n);
  const cards = cardsOf((await browser.open(`/admin/schools/${school}/today`)).html);
  const [said, shown]: Record<string, number>[] = [{}, {}];
  for (const card of cards) {
    said![card.heading] = card.figure;
    const isListed = card.figure > 0 || card.links.length > 0;
    if (isListed) expect(Object.keys(shownBehind)).toContain(card.heading);
    shown![card.heading] = isListed ? await shownBehind[card.heading]!(browser, school, card) : 0;
  }
  expect(said).toEqual(shown);
  if (n === 0) return;
  expect(Object.keys(said!).sort()).toEqual(Object.keys(shownBehind).sort());
  expect(said).toMatchObject({ "Wartende Importe": 3 * n, "Neue Abgänge": n, "Abgewiesene Anmeldungen": 3 * n });
});
