import { expect, test } from "vitest";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { startService } from "../support/service.ts";

const service = await startService();
const make = makeMakers(service.db);

test("a district merges two schools after a preview and the number of people, and undoes it", async () => {
  const [from, into] = [await make.school({ name: "Waldschule" }), await make.school({ name: "Seeschule" })];
  const [group, app] = [await make.group({ school: from, name: "5a" }), await make.app({ name: "Lernwelt" })];
  await make.group({ school: into, name: "5a" });
  const pupil = await make.person({ school: from, groups: [group] });
  await make.grant({ app: app.clientId, school: from, groups: [group] });
  const { browser } = await makePortalUser(service, "DISTRICT", { schoolIds: [from, into] });
  const homeOf = async () => (await service.db.prisma.person.findUniqueOrThrow({ where: { id: pupil } })).homeSchoolId;

  const settings = await browser.open(`/admin/schools/${from}/settings`);
  expect(settings.html).toContain(`/admin/schools/${from}/mergers"`);
  const form = await browser.open(`/admin/schools/${from}/mergers/new`);
  const preview = await browser.submit(form, "/mergers/new", { into, ids: "remove" });
  for (const text of ["2 Personen wechseln.", "1 Gruppe wechselt", "5a", "Lernwelt"])
    expect(preview.html).toContain(text);
  const wrong = await browser.submit(preview, "/mergers/new", { step: "merge", into, people: "2", number: "1" });
  expect(wrong.html).toContain("2 Personen wechseln.");
  expect(await homeOf()).toBe(from);
  const merged = await browser.submit(preview, "/mergers/new", { step: "merge", into, people: "2", number: "2" });
  expect(merged.html).toContain("Die Schulen sind zusammengelegt. 2 Personen haben gewechselt.");
  expect(await homeOf()).toBe(into);
  const undone = await browser.submit(merged, "/undo");
  expect(undone.html).toContain("Die Zusammenlegung ist rückgängig gemacht.");
  expect(undone.html).toMatch(/rückgängig gemacht am \d/);
  expect(await homeOf()).toBe(from);
});

test("whoever manages one school reads whom to ask", async () => {
  const school = await make.school();
  const { browser } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  expect((await browser.open(`/admin/schools/${school}/mergers`)).html).toContain(
    "Es wurde keine Schule zusammengelegt.",
  );
  const { html } = await browser.open(`/admin/schools/${school}/mergers/new`);
  expect(html).toContain("Sie verwalten keine andere Schule.");
});
