import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import { makeBrowser, readForm, type Browser, type Shown } from "../../support/browser.ts";
import { startService, type TestService } from "../../support/service.ts";
import { askFor, giveLogin, passPages, type Login, type TestApp } from "../../support/token.ts";
import { PasswordQueue } from "../../../src/accounts/login/password-queue.ts";
import { startWorld } from "./world.ts";

const { waitMs } = PasswordQueue.prototype;
const busy = { tries: 0, turnsMs: [] as number[] };

const run = vi.spyOn(PasswordQueue.prototype, "run");
const world = startWorld();
let second: TestService;
let app: TestApp;
let login: Login;
let browser: Browser;

beforeAll(async () => {
  vi.spyOn(PasswordQueue.prototype, "waitMs").mockImplementation(function (this: PasswordQueue) {
    return busy.tries > 0 ? Infinity : waitMs.call(this);
  });
  vi.spyOn(PasswordQueue.prototype, "giveTurnMs").mockImplementation(() => {
    busy.tries -= 1;
    return busy.turnsMs.shift() ?? 5000;
  });
  second = await startService({ clock: world.service.clock, db: world.service.db });
  app = await world.app({ name: "App & <Sons>" });
});
beforeEach(async () => {
  login = await giveLogin(world.service.db, await world.make.person({ school: world.school }));
  browser = makeBrowser(world.service.url);
  Object.assign(busy, { tries: 1, turnsMs: [] });
  run.mockClear();
});

const later = (seconds: number) => world.service.clock.forwardSeconds(seconds);
const ticketOf = ({ html }: Shown): string => /name="waiting" value="([^"]+)"/.exec(html)![1]!;

async function beTurnedAway(typed = login): Promise<Shown> {
  const form = await browser.open(askFor(world.service, app, {}).address);
  return browser.submit(form, "/login", { ...typed, shared: "yes" });
}

test("who is turned away is told for how long, and gets in at their turn without typing again", async () => {
  busy.turnsMs = [7200];
  const waiting = await beTurnedAway();
  expect([waiting.status, waiting.headers.get("retry-after")]).toEqual([503, "8"]);
  expect(waiting.html).toMatch(/Noch etwa so viele Sekunden:\s*<strong[^>]*>8</);
  expect(waiting.html).toContain("App &amp; &lt;Sons&gt;");
  later(8);
  const { url } = await passPages(browser, await browser.submit(waiting, "/login"), login);
  expect(new URL(url).searchParams.has("code")).toBe(true);
  expect(run.mock.calls.map(([, longestMs]) => longestMs)).toEqual([15_000]);
});

test("coming before the turn keeps it, and is let in only where a newcomer would be", async () => {
  busy.tries = 2;
  busy.turnsMs = [8000, 30_000];
  const first = await beTurnedAway();
  later(3);
  const second = await browser.submit(first, "/login");
  expect([second.status, second.headers.get("retry-after")]).toEqual([503, "5"]);
  busy.tries = 0;
  const { url } = await passPages(browser, await browser.submit(second, "/login"), login);
  expect(new URL(url).searchParams.has("code")).toBe(true);
  expect(run.mock.calls.map(([, longestMs]) => longestMs)).toEqual([5000]);
});

test("who comes at their turn and is turned away once more gets another", async () => {
  busy.tries = 2;
  busy.turnsMs = [4000, 6000];
  const first = await beTurnedAway();
  later(4);
  expect((await browser.submit(first, "/login")).headers.get("retry-after")).toBe("6");
});

test("the page of those who wait holds nothing that can be read, however long what was typed is", async () => {
  const waiting = await beTurnedAway();
  expect(waiting.html).not.toContain(login.password);
  expect(waiting.html).not.toContain(login.username);
  const bytes = Buffer.from(ticketOf(waiting), "base64url").toString("latin1");
  expect(bytes).not.toContain(login.password);
  expect(waiting.headers.get("cache-control")).toBe("no-store");
  busy.tries = 1;
  const long = await beTurnedAway({ username: login.username, password: "ä".repeat(2000) });
  later(5);
  expect((await browser.submit(long, "/login")).status).toBe(422);
});

test("what one browser was given is of no use to another, and none after some minutes", async () => {
  const waiting = ticketOf(await beTurnedAway());
  const other = makeBrowser(world.service.url);
  const form = await other.open(askFor(world.service, app, {}).address);
  const stolen = await other.submit(form, "/login", { waiting });
  expect(stolen.status).toBe(422);
  expect(stolen.html).toContain("Diese Seite gilt nicht mehr");
  later(181);
  const late = await browser.submit(await browser.open(askFor(world.service, app, {}).address), "/login", { waiting });
  expect(late.status).toBe(422);
  expect(run.mock.calls.map(([, longestMs]) => longestMs)).toEqual([]);
});

test("at the sign-in to the platform it is the same", async () => {
  const form = await browser.open("/sign-in?return=%2Faccount");
  const waiting = await browser.submit(form, "/sign-in", login);
  expect([waiting.status, waiting.headers.get("retry-after")]).toEqual([503, "5"]);
  later(5);
  const shown = await browser.submit(waiting, "/sign-in");
  expect([shown.status, new URL(shown.url).pathname]).toEqual([200, "/account"]);
});

async function waitAtThePlatform(): Promise<Shown> {
  const waiting = await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  expect(waiting.status).toBe(503);
  later(60);
  return waiting;
}
const send = (to: { url: string }, page: Shown, change: Record<string, string> = {}) => {
  const { action, fields } = readForm(page, "/sign-in");
  return browser.once(to.url + action, { method: "POST", body: new URLSearchParams({ ...fields, ...change }) });
};

test("of two uses of a ticket at the same time, in two processes, one signs in", async () => {
  const waiting = await waitAtThePlatform();
  const answers = await Promise.all([send(world.service, waiting), send(second, waiting)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 422]);
  const refused = answers.find(({ status }) => status === 422)!;
  expect(await refused.text()).toContain("Diese Seite gilt nicht mehr");
});

test("a ticket that signed in does so no more, however it is spelled, though browser, cookies and form are the same", async () => {
  const waiting = await waitAtThePlatform();
  const ticket = ticketOf(waiting);
  expect((await send(world.service, waiting)).status).toBe(303);
  for (const spelling of [ticket, `${ticket}=`, `${ticket.slice(0, 8)}\n${ticket.slice(8)}`])
    for (const to of [world.service, second]) expect((await send(to, waiting, { waiting: spelling })).status).toBe(422);
});

test("a ticket of an app's sign-on is good once too, also where its password was wrong", async () => {
  const waiting = await beTurnedAway({ ...login, password: "wrong" });
  later(60);
  const first = await browser.submit(waiting, "/login");
  expect([first.status, first.html.includes("stimmen nicht")]).toEqual([422, true]);
  expect(first.html).toContain(`value="${login.username}"`);
  const again = await browser.submit(waiting, "/login");
  expect([again.status, again.html.includes("Diese Seite gilt nicht mehr")]).toEqual([422, true]);
});
