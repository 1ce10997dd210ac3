import { expect, test } from "vitest";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { startService } from "../support/service.ts";

const service = await startService();
const make = makeMakers(service.db);

test("a school admin comes from /admin to what waits at their school, and sees the steps to begin", async () => {
  const school = await make.school({ name: "Neue Schule" });
  const { browser } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const page = await browser.open("/admin");
  expect(new URL(page.url).pathname).toBe(`/admin/schools/${school}/today`);
  expect(page.html).toContain("Neue Schule");
  for (const next of ["classes", "apps"]) expect(page.html).toContain(`href="/admin/schools/${school}/${next}"`);
});

test("people without a login and leavers are one click away", async () => {
  const school = await make.school();
  const without = await make.person({ school, name: { firstFull: "Bo", firstCall: "Bo", last: "Muster" } });
  const left = await make.person({ school, status: "SOFT_DELETED" });
  const { browser } = await makePortalUser(service, "SECRETARY", { schoolIds: [school] });
  const { html } = await browser.open(`/admin/schools/${school}/today`);
  expect(html).toContain(`<a href="/admin/schools/${school}/people/${without}">Bo Muster</a>`);
  expect(html).toContain(`/people/${left}"`);
});

test("a class teacher, who lists no people of the school, is led to the classes", async () => {
  const school = await make.school();
  const { browser } = await makePortalUser(service, "CLASS_TEACHER", { schoolIds: [school] });
  const page = await browser.open(`/admin/schools/${school}/today`);
  expect(page.status).toBe(200);
  expect(page.html).toContain(`href="/admin/schools/${school}/classes"`);
});

test.each(["SCHOOL_ADMIN", "CLASS_TEACHER"] as const)("another school does not exist for %s", async (role) => {
  const { browser } = await makePortalUser(service, role, { schoolIds: [await make.school()] });
  expect((await browser.open(`/admin/schools/${await make.school()}/today`)).status).toBe(404);
});
