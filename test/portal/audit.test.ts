import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { SchoolId } from "../../src/directory/index.ts";
import { recordAudit, type AuditLine } from "../../src/events/index.ts";
import { makeStaff } from "../support/admin.ts";
import { makeBrowser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { giveRoleTo, makePortalUser, signIn } from "../support/portal.ts";
import { confirmPath, readRecoveryCodes, setUpPath, setUpTotp } from "../support/second-factor.ts";
import { makeTestClock, startService } from "../support/service.ts";

const clock = makeTestClock();
const service = await startService({ clock });
const make = makeMakers(service.db);

const { browser, personId: admin } = await makePortalUser(service, null);

async function makeWorld() {
  const school = await make.school();
  await giveRoleTo(service, admin, "SCHOOL_ADMIN", { schoolIds: [school] });
  return { school, address: `/admin/schools/${school}/audit` };
}

const record = (schoolId: SchoolId, line: Omit<AuditLine, "at">, at = service.clock()) =>
  recordAudit(service.db, { at, schoolId, ...line });

test("a change stands there with who did it, in which role, to whom, before and after in words", async () => {
  const { school, address } = await makeWorld();
  const { clientId } = await make.app({ name: "Lernapp" });
  const group = await make.group({ school, name: "5a" });
  const form = await browser.open(`/admin/schools/${school}/apps/${clientId}/change`);
  const chosen = { signOn: "EVERYBODY", sync: "on", syncedGroup: group, step: "confirm" };
  await browser.submit(form, "/change", chosen);
  const { html } = await browser.open(`${address}?app=${clientId}`);
  expect(html).toContain("Schul-Administration");
  expect(html).toContain("Lernapp");
  expect(html).toContain("<dt>Anmelden darf sich</dt><dd>alle an der Schule</dd>");
  expect(html).toContain("<dt>Sichtbare Gruppen</dt><dd>5a</dd>");
});

test("a value such as constructor, which every object has as a property, is shown as any other", async () => {
  const { school, address } = await makeWorld();
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const body = { schoolId: school, profile: "OIDC", name: "constructor", clientId: "toString" };
  expect((await call("POST", "/upstream-connections", { body })).status).toBe(201);
  const shown = await browser.open(address);
  expect([shown.status, shown.html.includes("constructor"), shown.html.includes("toString")]).toEqual([
    200,
    true,
    true,
  ]);
});

test("somebody of another school, whose name the school does not see, is not said to have none, and is no link", async () => {
  const { school, address } = await makeWorld();
  const name = { firstFull: "Ada", firstCall: "Ada", last: "Beispiel" };
  const personId = await make.person({ school: await make.school(), name });
  await record(school, { action: "staff_role_given", actorId: "cli", personId });
  const { html } = await browser.open(address);
  expect(html).toContain("Person, deren Name hier nicht steht");
  expect(html).not.toContain(personId);
  expect((await browser.open(`${address}?person=${personId}`)).status).toBe(404);
});

test("what people do with their own password and second factors stands in the log of their home school", async () => {
  const { school, address } = await makeWorld();
  const teacher = await makePortalUser(service, null, { schoolIds: [school] });
  const codes = readRecoveryCodes((await setUpTotp(teacher.browser, clock)).shown);
  const other = makeBrowser(service.url);
  await signIn(other, teacher);
  await other.submit(await other.open(confirmPath), confirmPath, { code: codes[0]! });
  const list = await other.open(setUpPath);
  await other.submit(list, "/codes");
  await other.submit(list, "/remove");
  const form = await other.open("/sign-in/password");
  const password = "Eine Wiese am See";
  await other.submit(form, "/sign-in/password", { current: teacher.password, password, repeated: password });
  const lines = await service.db.prisma.audit.findMany({
    where: { schoolId: school, personId: teacher.personId },
    orderBy: { id: "asc" },
  });
  expect(lines.map(({ action }) => action)).toEqual(
    expect.arrayContaining([
      ...["second_factor_added", "recovery_code_used", "recovery_codes_renewed"],
      ...["second_factor_removed", "password_changed"],
    ]),
  );
  expect((await browser.open(`${address}?person=${teacher.personId}`)).html).toContain("Eigenes Passwort geändert");
});

test("lines are narrowed by person, action and day, and come in pages", async () => {
  const { school, address } = await makeWorld();
  const person = await make.person({ school, name: { firstFull: "Zoe", firstCall: "Zoe", last: "Probst" } });
  await record(school, { action: "person_blocked", personId: person }, new Date("2026-01-10T12:00:00Z"));
  await service.db.prisma.audit.create({
    data: { id: randomUUID(), at: new Date("2026-01-11T12:00:00Z"), schoolId: school, action: "of_another_release" },
  });
  const ofPerson = await browser.open(`${address}?person=${person}&action=person_blocked`);
  expect(ofPerson.html).toContain("Zoe Probst");
  expect(ofPerson.html).not.toContain("Sonstiger Vorgang");
  const ofDay = await browser.open(`${address}?from=2026-01-11&until=2026-01-11`);
  expect(ofDay.html).toContain("Sonstiger Vorgang");
  expect(ofDay.html).not.toContain("of_another_release");
  expect(ofDay.html).not.toContain("Zoe Probst");
  const lines = Array.from({ length: 60 }, () => ({ id: randomUUID(), at: clock(), schoolId: school }));
  await service.db.prisma.audit.createMany({ data: lines.map((line) => ({ ...line, action: "school_updated" })) });
  const first = await browser.open(`${address}?action=school_updated`);
  const next = /class="pager"><a[^>]*href="([^"]+)"/.exec(first.html)![1]!.replaceAll("&amp;", "&");
  expect(next).toContain("action=school_updated");
  expect((await browser.open(next)).html.match(/<th scope="row">/g)).toHaveLength(10);
  expect((await browser.open(`${address}?from=nonsense`)).status).toBe(200);
});

test("the file has every line, and no formula of anybody's", async () => {
  const { school, address } = await makeWorld();
  const name = { firstFull: "=1+1", firstCall: '=HYPERLINK("http://x")', last: "Muster" };
  const person = await make.person({ school, name });
  await service.db.prisma.audit.createMany({
    data: Array.from({ length: 600 }, (_, index) => ({
      id: `019a1f2e-7c40-7d1a-9b53-${String(index).padStart(12, "0")}`,
      at: service.clock(),
      schoolId: school,
      action: "person_blocked",
      personId: person,
      detail: {},
    })),
  });
  const file = await browser.open(`${address}/file?person=${person}&action=person_blocked`);
  expect(file.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  const lines = file.html.trim().split(/\r?\n/);
  expect(lines).toHaveLength(601);
  expect(lines[1]).toContain(`"'=HYPERLINK(""http://x"") Muster"`);
  expect(file.html).not.toMatch(/(^|[;"])[=+@]/m);
});
