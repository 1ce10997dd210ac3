import { expect, test } from "vitest";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { startService } from "../support/service.ts";
import { giveLogin } from "../support/token.ts";

const service = await startService();
const make = makeMakers(service.db);
const home = await make.school({ name: "Goethe-Gymnasium" });
const guest = await make.school({ name: "Gesamtschule Nord" });
const group = await make.group({ school: guest, name: "Kurs Nord" });
const called = { firstFull: "Dana", firstCall: "Dana", last: "Zwei" };
const dana = await make.person({
  schools: [home, guest],
  groups: [group],
  name: called,
  sourceSystemIdentifier: "src-7",
});
const { username } = await giveLogin(service.db, dana);
const [atHome, atGuest] = [
  (await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [home] })).browser,
  (await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [guest] })).browser,
];
const page = (school: string, more = "") => `/admin/schools/${school}/people/${dana}${more}`;
const formsOf = (html: string): string[] =>
  [...html.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, to]) => to!);

test("the page of a guest names the home school and offers only what the guest school may do", async () => {
  const { html, status } = await atGuest.open(page(guest));
  expect(status).toBe(200);
  expect(html).toContain("Goethe-Gymnasium führt diese Person.");
  for (const secret of [username, "src-7"]) expect(html).not.toContain(secret);
  const offered = formsOf(html).filter((to) => to.includes(dana));
  expect(offered.sort()).toEqual([page(guest, `/groups/${group}/leave`), page(guest, "/password-request")]);
  for (const end of ["/leave", "/delete", "/data"]) expect(html).not.toContain(`href="${page(guest, end)}"`);
  expect(formsOf((await atHome.open(page(home))).html)).toContain(page(home, "/password"));
});

test.each(["/apps", "/sign-in", "/school?how=quit"])("the guest's page %s opens", async (end) => {
  const { html, status } = await atGuest.open(page(guest, end));
  expect(status).toBe(200);
  expect(html).not.toContain(username);
});

test("lists and the page of a member call a guest a guest", async () => {
  const list = await atGuest.open(`/admin/schools/${guest}/people`);
  expect(list.html).toMatch(/Dana Zwei<\/a> <span class="badge calm">Gast/);
  const member = await atGuest.open(`/admin/schools/${guest}/classes/${group}/members/${dana}`);
  expect(member.html).toContain("Gast an Ihrer Schule");
  expect(member.html).not.toContain(username);
});

test("the guest school asks for a new password, and the home school finds it today and dismisses it", async () => {
  const asked = await atGuest.submit(await atGuest.open(page(guest)), "/password-request");
  expect(asked.html).toContain("Die Stammschule findet Ihre Bitte");
  const today = await atHome.open(`/admin/schools/${home}/today`);
  expect(today.html).toContain("Dana Zwei (Gesamtschule Nord)");
  await atHome.submit(today, "/password-request/dismiss");
  expect((await atHome.open(`/admin/schools/${home}/today`)).html).not.toContain("Gesamtschule Nord");
});
