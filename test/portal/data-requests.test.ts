import { describe, expect, test } from "vitest";
import type { SchoolId } from "../../src/directory/index.ts";
import writeDocument, { type DataDocument } from "../../src/portal/people/data-document.ts";
import { makeStaff } from "../support/admin.ts";
import { textOf } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { findCodes, makePortalWorld } from "../support/portal-world.ts";
import { makePortalUser } from "../support/portal.ts";
import { readPdfText } from "../support/read-cards.ts";
import { startService } from "../support/service.ts";

const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const { prisma } = service.db;
const make = makeMakers(service.db);
await prisma.eventFeed.updateMany({ data: { historyBeganAt: new Date("2026-01-02T08:00:00Z") } });

async function makeSchool() {
  const school = await make.school();
  const group = await make.group({ school, name: "Klasse 5a" });
  const name = { firstFull: "Bo", firstCall: "Bo", last: "Müller" };
  const personId = await make.person({ school, groups: [group], name });
  const office = await makePortalUser(service, "SECRETARY", { schoolIds: [school] });
  const admin = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  return { school, group, personId, office: office.browser, admin: admin.browser };
}

test("a parent asks: the office records it, an administrator exports the data and closes it, today counts it", async () => {
  const { school, personId, office, admin } = await makeSchool();
  const base = `/admin/schools/${school}`;
  const page = `${base}/people/${personId}/data`;
  expect((await office.open(`${base}/people/${personId}`)).html).toContain(`href="${page}"`);
  const empty = await office.open(page);
  expect(empty.html).not.toContain("/data/pdf");
  const recorded = await office.submit(empty, "/data/requests", { askedBy: "GUARDIAN", receivedOn: "2026-01-31" });
  expect(textOf(recorded.html)).toMatch(/Die Anfrage ist eingetragen.*Eltern oder Sorgeberechtigte.*noch 25 Tage/);
  expect(textOf((await admin.open(`${base}/today`)).html)).toMatch(/Auskunftsanfragen 1 .*Bo Müller: Frist bis/);

  const shown = await admin.open(page);
  await admin.submit(shown, "/data/pdf");
  const { id } = (await prisma.dataRequest.findFirst({ where: { personId } }))!;
  const closed = await admin.submit(await admin.open(page), `/data/requests/${id}`, { outcome: "ANSWERED" });
  expect(textOf(closed.html)).toMatch(/Beantwortet am .*\(.*Schul-Administration\).*Daten ausgegeben am/);
  expect(textOf((await admin.open(`${base}/today`)).html)).not.toContain("Auskunftsanfragen");
  expect(textOf((await admin.open(`${base}/privacy/requests`)).html)).toMatch(/Keine Anfrage ist offen.*Bo Müller/);
});

test("the pages of the letter are numbered, however long the name of the school is", async () => {
  const school = await make.school({ name: "Käthe-Kollwitz-Schule ".repeat(8).trim() });
  const personId = await make.person({ school });
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const { body: data } = await call("GET", `/people/${personId}/data`);
  const letter = {
    data: new TextEncoder().encode(JSON.stringify(data)).buffer,
    as: "pdf" as const,
    school: (await call("GET", `/schools/${school}`)).body as DataDocument["school"],
    recipients: [],
    fullName: "Bo Müller",
    askedBy: "PERSON" as const,
    state: null,
    locale: "en" as const,
    zone: "Europe/Berlin",
    now: service.clock(),
  };
  const pages = readPdfText(await writeDocument(letter))
    .split("\f")
    .slice(0, -1);
  expect(pages.length).toBeGreaterThan(1);
  for (const [index, page] of pages.entries())
    expect(page.trim().split("\n").at(-1)).toMatch(new RegExp(`Käthe-.* ${index + 1} ?/ ?${pages.length}$`));
});

test("the letter is addressed to whoever asked first and waits, tells times of day, and can be read aloud", async () => {
  const { school, personId, office, admin } = await makeSchool();
  const page = `/admin/schools/${school}/people/${personId}/data`;
  const print = async () => {
    const { html } = await admin.open(page);
    const body = new URLSearchParams({ token: /name="token" value="([^"]*)"/.exec(html)![1]! });
    const pdf = Buffer.from(await (await admin.once(`${page}/pdf`, { method: "POST", body })).arrayBuffer());
    return { pdf: pdf.toString("latin1"), text: readPdfText(pdf).replace(/\s+/g, " ") };
  };
  const ask = async (askedBy: string) =>
    office.submit(await office.open(page), "/data/requests", { askedBy, receivedOn: "2026-01-31" });

  expect((await print()).text).toContain("Sie haben Auskunft über die Daten verlangt, die über Sie, Bo Müller,");
  await ask("GUARDIAN");
  await ask("AUTHORITY");
  const { pdf, text } = await print();
  expect(text).toContain("An die Sorgeberechtigten von Bo Müller");
  expect(text).toContain("die über Bo Müller gespeichert sind");
  expect(text).toMatch(/Angelegt.{0,40}\d\d\.\d\d\.\d{4}, \d\d:\d\d/);
  for (const part of [
    "/Marked true",
    "/Lang (de)",
    "/DisplayDocTitle true",
    "/S /Document",
    "/S /H1",
    "/S /H2",
    "/S /P",
  ])
    expect(pdf).toContain(part);
  // Every line of text stands in the structure; feet are artifacts.
  expect(pdf.match(/\/S \/H1\b/g)).toHaveLength(1);
});

const letters = {
  de: [/Auskunft nach Artikel 15 DSGVO/, /Datenschutz-Aufsichtsbehörde für Niedersachsen/, /30 Tage lang/],
  en: [/Art\. 15 GDPR/, /data protection authority for Lower Saxony/, /restored for 30 days/],
};

describe("the letter has no codes and ids", async () => {
  const { school, pupil, base } = await makePortalWorld(service);
  const { browser } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });

  test.each(Object.entries(letters))("in the language %s", async (language, parts) => {
    const page = await browser.open(`${base}/people/${pupil}/data?lang=${language}`);
    const token = /name="token" value="([^"]*)"/.exec(page.html)![1]!;
    const body = new URLSearchParams({ token });
    const response = await browser.once(`${base}/people/${pupil}/data/pdf`, { method: "POST", body });
    const text = readPdfText(Buffer.from(await response.arrayBuffer()));
    const flowing = text.replace(/\s+/g, " ");
    expect(flowing.slice(0, 200)).toContain("Goethe-Gymnasium");
    for (const part of [...parts, /Lernwerkstatt/, /Telefon/, /5a/]) expect(flowing).toMatch(part);
    expect(findCodes(text)).toEqual([]);
    // Names of the contract, such as firstCall or hasLogin.
    expect(text.match(/\b[a-z]+[A-Z]\w*|\{\{|undefined|\[object/g) ?? []).toEqual([]);
  });
});

test("an overdue request is marked, and a day that cannot be is refused with what was typed", async () => {
  const { school, personId, office } = await makeSchool();
  const base = `/admin/schools/${school}`;
  const empty = await office.open(`${base}/people/${personId}/data`);
  const refused = await office.submit(empty, "/data/requests", { askedBy: "PERSON", receivedOn: "2030-01-01" });
  expect(textOf(refused.html)).toContain("liegt in der Zukunft");
  expect(refused.html).toContain('value="2030-01-01"');
  await office.submit(empty, "/data/requests", { askedBy: "PERSON", receivedOn: "2025-12-20" });
  for (const page of ["today", "privacy/requests", `people/${personId}/data`])
    expect(textOf((await office.open(`${base}/${page}`)).html), page).toContain("überfällig");
  expect(textOf((await office.open(`${base}/today`)).html)).toContain("vor 14 Tagen");
});

test("a request whose person was deleted is closed on the page of the school", async () => {
  const { school, admin } = await makeSchool();
  const days = { receivedOn: service.clock(), dueOn: service.clock() };
  const id = crypto.randomUUID();
  await prisma.dataRequest.create({ data: { id, schoolId: school, askedBy: "AUTHORITY", ...days } });
  const page = await admin.open(`/admin/schools/${school}/privacy/requests`);
  expect(textOf(page.html)).toContain("Eine Person, die gelöscht wurde");
  const closed = await admin.submit(page, `/requests/${id}`, { outcome: "WITHDRAWN" });
  expect(textOf(closed.html)).toContain("Zurückgenommen am");
});

async function grantTo(school: SchoolId, group: Awaited<ReturnType<typeof make.group>>, name: string) {
  const app = await make.app({ name, profile: { provider: "Lern GmbH" } });
  await make.grant({ app: app.clientId, school, groups: [group] });
  return app;
}

test("staff read what apps could learn; in the letter it is a part of its own", async () => {
  const { school, group, personId, office } = await makeSchool();
  const page = `/admin/schools/${school}/people/${personId}/disclosures`;
  expect(textOf((await office.open(page)).html)).toContain(
    "Seit dies aufgezeichnet wird, konnte keine App etwas über diese Person erfahren",
  );
  await grantTo(school, group, "Lernapp");
  const { html } = await office.open(page);
  expect(textOf(html)).toMatch(
    /Aufgezeichnet seit dem 02.01.2026.*Lernapp \(Lern GmbH\) Seit 03.02.2026, \d\d:\d\d kann die App lesen: Name, Rolle/,
  );
});

test("people read under My account what apps could learn about them", async () => {
  const { browser, personId } = await makePortalUser(service, null);
  expect(textOf((await browser.open("/account")).html)).toContain(
    "Seit diese Liste geführt wird, konnte keine App etwas lesen",
  );
  const { homeSchoolId } = await prisma.person.findUniqueOrThrow({ where: { id: personId } });
  const school = homeSchoolId as SchoolId;
  const group = await make.group({ school });
  await make.membership({ group, person: personId });
  await grantTo(school, group, "Zeichen-App");
  expect(textOf((await browser.open("/account")).html)).toMatch(
    /Was Apps erfahren konnten.*Zeichen-App.*kann die App lesen/,
  );
});
