// @module-tag slow
import { subscribe } from "node:diagnostics_channel";
import pg from "pg";
import { beforeAll, expect, test, vi } from "vitest";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, type PortalUser } from "../support/portal.ts";
import { startService } from "../support/service.ts";

// The calls of the pages to the admin API.
const calls: string[] = [];
subscribe("schultor.inner-calls", (message) => {
  const { method, url: path } = message as { method: string; url: string };
  calls.push(`${method} ${path.split("?")[0]!}`);
});

const query = vi.spyOn(pg.Client.prototype, "query");

const service = await startService();
const make = makeMakers(service.db);
const [people, classes, mostBytes, mostCalls, mostStatements] = [2000, 80, 60_000, 7, 30];

let admin: PortalUser;
let pages: Record<string, string>;

beforeAll(async () => {
  const school = await make.school();
  const groups = [];
  for (let n = 0; n < classes; n += 1) groups.push(await make.group({ school, name: `Klasse ${String(n)}a` }));
  const ids = await make.people({ school, count: people, groups, groupsEach: 1 });
  admin = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const base = `/admin/schools/${school}`;
  const group = `${base}/classes/${groups[0]!}`;
  pages = {
    people: `${base}/people`,
    sorted: `${base}/people?sort=-lastSignIn`,
    person: `${base}/people/${ids[0]!}`,
    classes: `${base}/classes`,
    class: group,
    member: `${group}/members/${ids[0]!}`,
    logins: `${group}/logins`,
  };
});

const describe = (asked: unknown): string =>
  typeof asked === "string" ? asked : (asked as { text: string }).text.replace(/\s+/g, " ").slice(0, 200);

test("forms with hundreds of choices are small, find them by search, and keep what they do not show", async () => {
  const school = await make.school({ name: "Schule am Deich" });
  const groups = [];
  for (let n = 0; n < 400; n += 1)
    groups.push(await make.group({ school, name: `Kurs ${String(n).padStart(3, "0")}` }));
  const { clientId } = await make.app();
  await make.grant({ app: clientId, school, groups, signOn: "NOBODY" });
  const { browser } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const form = await browser.open(`/admin/schools/${school}/apps/${clientId}/change`);
  const found = await browser.submit(form, "/change", { step: "search", "search-syncedGroup": "kurs 399" });
  expect(found.html).toContain("Kurs 399");
  expect(found.html).toMatch(new RegExp(`name="syncedGroup" value="${groups[399]!}" checked`));
  const preview = await browser.submit(found, "/change", { step: "preview", signOn: "EVERYBODY", sync: "on" });
  for (const { html } of [form, found, preview]) expect(Buffer.byteLength(html)).toBeLessThan(mostBytes);
  await browser.submit(preview, "/change", { step: "confirm" });
  // Without the 40 boxes of the form and the one of the search, which were sent unticked.
  expect(await service.db.prisma.syncedGroup.count({ where: { clientId } })).toBe(359);

  for (let n = 0; n < 300; n += 1) await make.school({ name: `Grundschule ${n}` });
  for (let n = 0; n < 300; n += 1) await make.app({ name: `App ${n}` });
  const { browser: operator, personId } = await makePortalUser(service, "OPERATOR");
  for (const [address, action] of [
    [`/admin/staff/new?person=${personId}`, "/staff/new"],
    ["/admin/staff/accounts/new", "/staff/accounts"],
  ] as const) {
    const role = await operator.open(address);
    const searched = await operator.submit(role, action, {
      step: "search",
      "search-school": "am deich",
      reason: "Neu",
    });
    expect(searched.html).toContain("Schule am Deich");
    expect(searched.html).toContain('value="Neu"');
    const next = await operator.submit(searched, action, { step: "search", school, "search-school": "Grundschule 7" });
    expect(next.html).toContain(`name="kept-school" value="${school}"`);
    for (const { html } of [role, searched, next]) expect(Buffer.byteLength(html)).toBeLessThan(mostBytes);
  }
});

test.each(["people", "sorted", "person", "classes", "class", "member", "logins"])(
  "the page %s of a large school is small, sends few statements, and asks the admin API a few times only, beside who the reader is",
  async (name) => {
    calls.length = 0;
    query.mockClear();
    const { html, status } = await admin.browser.open(pages[name]!);
    // A busy machine may open more connections for it.
    const statements = query.mock.calls.map(([asked]) => describe(asked)).filter((text) => !text.startsWith("SET "));
    expect(status).toBe(200);
    expect(statements.length, statements.join("\n")).toBeLessThanOrEqual(mostStatements);
    expect(Buffer.byteLength(html)).toBeLessThan(mostBytes);
    const asked = calls.filter((call) => call !== "GET /admin/v1/me");
    expect(calls.length).toBeGreaterThan(asked.length);
    expect(asked.length, asked.join("\n")).toBeLessThanOrEqual(mostCalls);
  },
);
