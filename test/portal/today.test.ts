import { expect, test } from "vitest";
import { makeMakers } from "../support/make.ts";
import { giveRoleTo, makePortalUser } from "../support/portal.ts";
import { startService } from "../support/service.ts";
import { giveLogin } from "../support/token.ts";

const service = await startService();
const make = makeMakers(service.db);
const textOf = (html: string): string => html.replace(/<[^>]+>/g, " ").replace(/\s+/g, " ");

test("a school admin comes from /admin to what waits at their school, and sees the steps to begin", async () => {
  const school = await make.school({ name: "Neue Schule" });
  const { browser } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const page = await browser.open("/admin");
  expect(new URL(page.url).pathname).toBe(`/admin/schools/${school}/today`);
  expect(page.html).toContain("Neue Schule");
  for (const next of ["classes", "apps"]) expect(page.html).toContain(`href="/admin/schools/${school}/${next}"`);
});

test("a district sees what waits at each of its schools, with the numbers of the school's own page", async () => {
  const [busy, calm, taught] = [await make.school(), await make.school(), await make.school()];
  const person = await make.person({ school: busy });
  const { browser, personId } = await makePortalUser(service, "DISTRICT", { schoolIds: [busy, calm] });
  await giveRoleTo(service, personId, "CLASS_TEACHER", { schoolIds: [taught] });
  await service.db.prisma.dataRequest.create({
    data: {
      id: crypto.randomUUID(),
      personId: person,
      schoolId: busy,
      askedBy: "PERSON",
      receivedOn: service.clock(),
      dueOn: service.clock(),
    },
  });
  const { html } = await browser.open("/admin");
  const rows = new Map(
    [busy, calm, taught].map((id) => [id, new RegExp(`schools/${id}/today"[\\s\\S]*?</tr>`).exec(html)![0]]),
  );
  expect(textOf(rows.get(busy)!)).toContain("1 Auskunftsanfrage");
  expect(rows.get(busy)).toContain(`href="/admin/schools/${busy}/privacy/requests"`);
  expect(textOf(rows.get(calm)!)).toContain("nichts");
  expect((await browser.open(`/admin/schools/${busy}/privacy/requests`)).status).toBe(200);
});

test("a search on the first page leads to the person, or to all whom it finds", async () => {
  const school = await make.school();
  const named = (last: string) => make.person({ school, name: { firstFull: "Paul", firstCall: "Paul", last } });
  const [one] = [await named("Müller"), await named("Mühlen")];
  const { browser } = await makePortalUser(service, "SECRETARY", { schoolIds: [school] });
  const today = await browser.open(`/admin/schools/${school}/today`);
  const found = await browser.submit(today, "/people/search", { search: "Müller, Paul" });
  expect(new URL(found.url).pathname).toBe(`/admin/schools/${school}/people/${one}`);
  const both = await browser.submit(today, "/people/search", { search: "Paul" });
  for (const name of ["Paul Müller", "Paul Mühlen"]) expect(both.html).toContain(name);
  expect((await browser.submit(today, "/people/search", { search: "Nobody" })).html).toContain("Niemand");
});

test("people without a login and leavers are one click away", async () => {
  const school = await make.school();
  const without = await make.person({ school, name: { firstFull: "Bo", firstCall: "Bo", last: "Muster" } });
  const left = await make.person({ school, status: "SOFT_DELETED" });
  const { browser } = await makePortalUser(service, "SECRETARY", { schoolIds: [school] });
  const { html } = await browser.open(`/admin/schools/${school}/today`);
  expect(html).toContain(`<a href="/admin/schools/${school}/people/${without}">Bo Muster</a>`);
  expect(html).toContain(`/people/${left}"`);
  for (const state of ["IMPOSSIBLE", "NEVER"])
    expect(html).toContain(`href="/admin/schools/${school}/people?sign-in=${state}"`);
});

test("a class teacher, who lists no people of the school, is led to the classes", async () => {
  const school = await make.school();
  const { browser } = await makePortalUser(service, "CLASS_TEACHER", { schoolIds: [school] });
  const page = await browser.open(`/admin/schools/${school}/today`);
  expect(page.status).toBe(200);
  expect(page.html).toContain(`href="/admin/schools/${school}/classes"`);
});

test("a secretary sees the steps of a new school, with what is done, and who does the last one", async () => {
  const school = await make.school();
  const { browser } = await makePortalUser(service, "SECRETARY", { schoolIds: [school] });
  const address = `/admin/schools/${school}`;
  const before = await browser.open(`${address}/today`);
  for (const page of ["imports", "classes"]) expect(before.html).toContain(`<a href="${address}/${page}">`);
  expect(textOf(before.html)).toContain("Die erste App freigeben Das macht die Schul-Administration.");
  expect(before.html).not.toContain(`href="${address}/apps"`);

  const [withLogin] = [await make.person({ school }), await make.person({ school })];
  await giveLogin(service.db, withLogin);
  const after = textOf((await browser.open(`${address}/today`)).html);
  expect(after).toContain("Personen und Klassen importieren erledigt 2 Lernende");
  expect(after).toContain("1 von 2 Lernenden können sich anmelden");
});
