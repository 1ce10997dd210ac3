// @module-tag slow
import { beforeAll, expect, test } from "vitest";
import demo from "../../demo/demo.json" with { type: "json" };
import { loadFirstLook } from "../../demo/first-look.ts";
import firstLook from "../../demo/first-look.json" with { type: "json" };
import { loadDemoWorld } from "../../demo/load.ts";
import { setPasswordHash } from "../../src/accounts/index.ts";
import { staffRoleNames } from "../../src/staff/index.ts";
import { makeBrowser } from "../support/browser.ts";
import { testDatabase } from "../support/database.ts";
import { signIn } from "../support/portal.ts";
import { hashQuickly } from "../support/quick-hash.ts";
import { makeTestClock, startService, type TestService } from "../support/service.ts";
import { postToken, type TestApp } from "../support/token.ts";

const now = new Date("2026-02-03T08:00:00Z");
const options = { now, production: false, restoreWindowDays: 30 };
const [wald, lernapp] = [firstLook.school.id, "demo-lernapp"];

let service: TestService;
beforeAll(async () => {
  const db = await testDatabase();
  await loadDemoWorld(db, { ...options, hashPassword: hashQuickly, setPasswordHash });
  await loadFirstLook(db, options);
  service = await startService({ db, clock: makeTestClock(now) });
});

const accounts = [...demo.staff, ...firstLook.staff];

/** The pages that each kind of staff sees first. */
const pagesOf: Record<string, string[]> = {
  OPERATOR: ["/admin", "/admin/schools", "/admin/apps", "/admin/staff", "/admin/figures", "/admin/keys"],
  DISTRICT: ["/admin"],
  SCHOOL_ADMIN: ["today", "people", "classes", "apps", "imports", "audit", "staff", "settings"],
  SECRETARY: ["today", "people", "classes", "imports"],
  CLASS_TEACHER: ["today", "classes"],
  PARTNER: ["", "/registration", "/schools", "/scopes", "/webhooks", "/sign-ons", "/requests", "/log"],
  SUPPORT: ["today", "people", "classes", "apps", "audit"],
};

const addressOf = (role: string, page: string): string =>
  role === "PARTNER"
    ? `/partner/apps/${lernapp}${page}`
    : page.startsWith("/")
      ? page
      : `/admin/schools/${wald}/${page}`;

test("every kind of staff has an account with a name, and finds something on each page of a first look", async () => {
  expect(new Set(accounts.map(({ may }) => may))).toEqual(new Set(staffRoleNames));
  const [atWald] = [accounts.filter(({ username }) => !/goethe|park$/.test(username))];
  const empty: string[] = [];
  for (const { username, password, may } of atWald) {
    const browser = makeBrowser(service.url, { "accept-language": "en" });
    await signIn(browser, { username, password });
    expect((await browser.open("/account")).html, username).toMatch(/<p class="lead"><strong>\S+ \S+<\/strong>/);
    for (const page of pagesOf[may]!) {
      const shown = await browser.open(addressOf(may, page));
      expect([username, page, shown.status]).toEqual([username, page, 200]);
      if (shown.html.includes('class="empty"')) empty.push(`${username} ${page}`);
    }
  }
  expect(empty).toEqual([]);
  await signIn(makeBrowser(service.url), { username: "ben.fischer", password: firstLook.pupilPassword });
});

test("the first sign-in of each person is the first one in the audit log", async () => {
  const lines = await service.db.prisma.audit.groupBy({
    by: ["personId"],
    where: { action: "signed_in", clientId: lernapp },
    _min: { at: true },
  });
  const kept = await service.db.prisma.signIn.findMany({ where: { clientId: lernapp } });
  const firstOf = new Map(kept.map(({ personId, firstSignInAt }) => [personId, firstSignInAt]));
  expect(lines.length).toBeGreaterThan(0);
  for (const { personId, _min } of lines) expect(firstOf.get(personId!)).toEqual(_min.at);
});

test("the apps see what they see without it", async () => {
  const read = async (clientId: string, path: string) => {
    const app = demo.apps.find((one) => one.clientId === clientId)!;
    const scope = app.scopes.filter((name) => name.startsWith("urn:")).join(" ");
    const { body } = await postToken(service, { ...app, redirectUri: "" } as unknown as TestApp, {
      grant_type: "client_credentials",
      scope,
    });
    const headers = { authorization: `Bearer ${body.access_token}` };
    const answer = (await (await fetch(`${service.url}/idm/${path}`, { headers })).json()) as unknown;
    return (Array.isArray(answer) ? answer : [answer]).map((one) => {
      const { id, pid, status } = one as { id?: string; pid?: string; status: unknown };
      return (id ?? pid)?.slice(-2) ?? status;
    });
  };
  const goethe = demo.schools[0]!.id;
  expect((await read(lernapp, "ep/v1/schools")).sort()).toEqual(["01", "04"]);
  expect(await read("demo-mathe", "ep/v1/schools")).toEqual(["03"]);
  expect((await read(lernapp, `ep/v1/schools/${goethe}/users`)).sort()).toEqual(["01", "02", "03", "04", "06", "07"]);
  expect((await read(lernapp, `ep/v1/schools/${goethe}/people`)).sort()).toEqual(["01", "02", "03", "07"]);
  expect(await read(lernapp, `ep/v1/schools/${wald}`)).toEqual([404]);
  expect(await read(lernapp, "schulconnex/v1/personen-info")).toHaveLength(5);
});

test("production refuses it", async () => {
  await expect(loadFirstLook(service.db, { ...options, production: true })).rejects.toThrow(
    "never loaded in production",
  );
});
