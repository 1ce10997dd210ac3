import { expect, test } from "vitest";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { makeTestClock, startService } from "../support/service.ts";

const clock = makeTestClock();
const service = await startService({ clock, env: { RETENTION_HOLD_PEOPLE: "1", RETENTION_HOLD_PERCENT: "10" } });
const { db } = service;
const make = makeMakers(db);

async function makeWorld(location = { country: "DE", state: "RP" }) {
  const school = await make.school({ name: "Alte Schule", location });
  const people = await make.people({ school, groups: [], count: 3 });
  const { browser } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  return { school, people, browser, address: `/admin/schools/${school}/retention` };
}
const leave = (ids: readonly string[], leftAt: string) =>
  db.prisma.person.updateMany({ where: { id: { in: [...ids] } }, data: { leftAt: new Date(leftAt) } });
const policy = { leftMonths: "6", leftMonthsReason: "Schulgesetz", leftFrom: "LEAVING" };

test("a school uses the suggestion of its state, previews it, and sets it", async () => {
  const { school, people, browser, address } = await makeWorld();
  await leave(people, "2024-10-01T00:00:00Z");
  const settings = await browser.open(`/admin/schools/${school}/settings`);
  expect(settings.html).toContain(`href="${address}"`);
  const page = await browser.open(address);
  expect(page.html).toContain("Zurzeit gilt: sofort, wie im ganzen Dienst.");
  const suggested = await browser.open(`${address}?suggestion=1`);
  expect(suggested.html).toContain("Rheinland-Pfalz: ein Jahr nach dem Ende des Schuljahres");
  const given = { leftMonths: "12", leftFrom: "SCHOOL_YEAR_END", leftMonthsReason: "Landesrecht" };
  const preview = await browser.submit(suggested, "/retention", { ...given, preview: "1" });
  expect(preview.html).toContain("Niemand würde sofort gelöscht.");
  const { html } = await browser.submit(page, "/retention", { ...policy, preview: "1" });
  expect(html).toContain("3 Personen würden sofort gelöscht.");
  // Below the form stands what applies until the school saves.
  expect(html).toContain("Wer nach den jetzigen Fristen in den nächsten 90 Tagen gelöscht wird");
  expect(await db.prisma.retentionPolicy.count({ where: { schoolId: school } })).toBe(0);
  const refused = await browser.submit(page, "/retention", { ...policy, leftMonths: "99" });
  expect(refused.status).toBe(400);
  expect(refused.html).toContain("Eine Frist liegt außerhalb dessen, was der Betreiber erlaubt.");
  expect(refused.html).toContain('value="99"');
  const done = await browser.submit(refused, "/retention", given);
  expect(done.html).toContain("Die Aufbewahrung ist festgelegt.");
  expect(done.html).toContain("Zurzeit gilt: 12 Monate, von der Schule festgelegt.");
  expect(await db.prisma.retentionPolicy.findUnique({ where: { schoolId: school } })).toMatchObject({
    leftMonths: 12,
    leftFrom: "SCHOOL_YEAR_END",
    leftReason: "Landesrecht",
    inactiveMonths: null,
  });
});

test("who is deleted soon is on Today, is kept by a click, and a held run is released", async () => {
  const { school, people, browser, address } = await makeWorld();
  await leave(people, "2025-01-01T00:00:00Z");
  await browser.submit(await browser.open(address), "/retention", policy);
  const today = await browser.open(`/admin/schools/${school}/today`);
  expect(today.html).toContain("Wird bald gelöscht");
  const person = await browser.open(`/admin/schools/${school}/people/${people[0]!}/retention`);
  expect(person.html).toContain("weil sie die Schule verlassen hat");
  const late = await browser.submit(person, "/exemption", { until: "2020-01-01", keptReason: "Nachprüfung" });
  expect(late.html).toContain("Der Tag muss in den nächsten 24 Monaten liegen.");
  const kept = await browser.submit(late, "/exemption", { until: "2026-12-31", keptReason: "Nachprüfung" });
  expect(kept.html).toContain("Sie bleibt bis einschließlich 31.12.2026 gespeichert. Grund: Nachprüfung");
  clock.set("2026-02-18T08:00:00Z");
  await service.runJob("retention.softDelete");
  const { browser: again } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  expect((await again.open(`/admin/schools/${school}/today`)).html).toContain("Alte Schule: 2 Personen");
  const held = await again.open(address);
  const released = await again.submit(held, "/retention/release", {});
  expect(released.html).toContain("Der Lauf ist freigegeben.");
  await service.runJob("retention.softDelete");
  expect(await db.prisma.person.count({ where: { id: { in: people }, status: "SOFT_DELETED" } })).toBe(2);
  const ended = await again.submit(
    await again.open(`/admin/schools/${school}/people/${people[0]!}/retention`),
    "/exemption/end",
    {},
  );
  expect(ended.html).toContain("Für die Person gelten wieder die Fristen der Schule.");
  const page = await again.open(`/admin/schools/${school}/people/${people[0]!}`);
  expect(page.html).toContain("In keiner Schuldatei");
  const back = await again.submit(page, "/restore", {});
  expect(back.html).toContain("Die Person ist wieder an der Schule.");
  expect(await db.prisma.person.findUnique({ where: { id: people[0]! } })).toMatchObject({ leftAt: null });
});

test("an operator sets the values of a state and sees the numbers of each school", async () => {
  const { school, people } = await makeWorld({ country: "DE", state: "SH" });
  await leave(people, "2025-01-01T00:00:00Z");
  const { browser } = await makePortalUser(service, "OPERATOR");
  const page = await browser.open("/admin/retention?state=DE-SH");
  const preview = await browser.submit(page, "/retention/policy", { ...policy, preview: "1" });
  expect(preview.html).toContain(`/admin/schools/${school}/retention`);
  const done = await browser.submit(page, "/retention/policy", policy);
  expect(done.html).toContain("Die Aufbewahrung ist festgelegt.");
  expect(await db.prisma.retentionPolicy.findUnique({ where: { state: "DE-SH" } })).toMatchObject({ leftMonths: 6 });
});
