import { expect, test } from "vitest";
import { askFor } from "../../support/token.ts";
import { refuseAll, signInThere, spoil } from "../../support/upstream-browser.ts";
import type { Shown } from "../../support/browser.ts";
import { headingOf, placeOf, pressLogin, startUpstreamWorld, type ConnectedSchool } from "./upstream-world.ts";

const world = startUpstreamWorld();

/** A browser at the sign-in page of the school, which presses the button of its login. */
async function arrive({ linkName, ...connected }: ConnectedSchool) {
  const browser = world.openBrowser();
  const page = await browser.open(`/s/${linkName}`);
  return { browser, shown: await pressLogin(browser, page, connected) };
}

const codeOf = ({ html }: Shown) => /reason <code>([A-Z_]+)<\/code>/.exec(html)?.[1];
const linksOf = ({ html }: Shown) =>
  [...html.matchAll(/<a class="(?:primary|secondary)" href="([^"]*)">/g)].map(([, href]) => href);
const sessions = () => world.service.db.prisma.oidcArtifact.count({ where: { kind: "Session" } });

test("each failure has a page with its code, a way to try again and another way; nobody is signed in", async () => {
  const { provider, service } = world;
  const { prisma } = service.db;
  const before = await sessions();
  const school = await world.connect();
  const set = (data: object) => prisma.upstreamConnection.update({ where: { id: school.connectionId }, data });
  const stranger = () => signInThere(provider, { import_id: "of nobody" }, "stranger");
  const cases: [code: string, status: number, change: () => unknown][] = [
    ["NOBODY_MATCHES", 403, stranger],
    ["CLAIM_MISSING", 403, () => signInThere(provider, {}, "nameless")],
    ["CANCELLED", 400, () => refuseAll(provider, "access_denied")],
    ["UPSTREAM_DOWN", 424, () => spoil(provider, { path: "/token", status: 500, body: {} })],
    ["SECRET_REFUSED", 424, () => spoil(provider, { path: "/token", status: 401, body: { error: "invalid_client" } })],
    ["INVALID_RESPONSE", 424, () => spoil(provider, { path: "/token", status: 200, body: { access_token: "x" } })],
  ];
  for (const [code, status, change] of cases) {
    stranger();
    change();
    const { shown } = await arrive(school);
    spoil(provider, null);
    expect([shown.status, codeOf(shown), placeOf(shown)], code).toEqual([
      status,
      code,
      `/upstream/${school.connectionId}/callback`,
    ]);
    expect(linksOf(shown), code).toEqual(["/sign-in", "/sign-in?other"]);
    expect(shown.html, code).toMatch(/short-code">[A-Z0-9-]+</);
  }
  const browser = world.openBrowser();
  const page = await browser.open(`/s/${school.linkName}`);
  await set({ state: "OFF" });
  const off = await pressLogin(browser, page, school);
  expect([off.status, codeOf(off)]).toEqual([403, "CONNECTION_OFF"]);
  const made = await browser.submit(page, "/upstream", { connection: "none" });
  expect(codeOf(made)).toBe("CONNECTION_OFF");
  expect(await sessions()).toBe(before);
  expect(await prisma.upstreamRoundTrip.count()).toBe(0);

  await set({ state: "ON" });
  await world.makePupil({ school: school.school });
  await arrive(school);
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  expect(metrics.match(/^sign_ins_total.*$/gm)?.sort()).toEqual([
    'sign_ins_total{outcome="ok"} 1',
    'sign_ins_total{outcome="upstream_failed"} 3',
    'sign_ins_total{outcome="upstream_refused"} 2',
  ]);
});

test("an account of another school is told where to find its own, and whom to ask if it is this one", async () => {
  const school = await world.connect({ schoolClaim: "school_ids", schoolValue: "DE-1" });
  await world.makePupil(school);
  const { browser, shown } = await arrive(school);
  expect([shown.status, codeOf(shown)]).toEqual([403, "OTHER_SCHOOL"]);
  expect(shown.html).toContain("find it under “Other ways to sign in”");
  expect(shown.html).toContain("If you belong to this school, tell the school office");
  expect((await browser.open("/sign-in?other")).html).toContain("Not your school? Find your school");
});

test("a failure leads back to the app that waits, which can be left there", async () => {
  const { service, make, provider } = world;
  const school = await world.connect();
  const app = await make.app();
  await make.grant({ app: app.clientId, school: school.school });
  signInThere(provider, { import_id: "of nobody" }, "stranger");
  const browser = world.openBrowser();
  await browser.open(`/s/${school.linkName}`);
  const failed = await pressLogin(browser, await browser.open(askFor(service, app).address), school);
  expect(codeOf(failed)).toBe("NOBODY_MATCHES");
  const [again] = linksOf(failed);
  const page = await browser.open(again!);
  const back = await browser.submit(page, "/cancel");
  expect(back.url).toContain("error=access_denied");
});

const leftFor = (response: Response): Shown => ({
  status: response.status,
  url: response.headers.get("location")!,
  html: "",
  headers: response.headers,
});

test("two tabs are two round trips, each of which goes on in its own app", async () => {
  const { service, make } = world;
  const school = await world.connect();
  await world.makePupil(school);
  const apps = [await make.app(), await make.app()];
  for (const app of apps) await make.grant({ app: app.clientId, school: school.school });
  const browser = world.openBrowser();
  await browser.open(`/s/${school.linkName}`);
  const pages = [];
  for (const app of apps) pages.push(await browser.open(askFor(service, app).address));
  // Both are at the provider before one comes back.
  const away = [];
  for (const page of pages) {
    const [, csrf] = /name="csrf" value="([^"]*)"/.exec(page.html)!;
    const body = new URLSearchParams({ csrf: csrf!, connection: school.connectionId });
    away.push(await browser.once(`${new URL(page.url).pathname}/upstream`, { method: "POST", body }));
  }
  for (const [at, response] of away.entries()) {
    const [, name] = /<strong>(App \d+)<\/strong>/.exec(pages[at]!.html)!;
    const consent = await browser.follow(leftFor(response));
    expect(headingOf(consent)).toBe(`May ${name} see your data?`);
    expect(placeOf(consent)).not.toBe(placeOf(pages[at]!));
  }
});
