import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { PasswordQueue } from "../../src/accounts/login/password-queue.ts";
import { makeBrowser, type Browser, type Shown } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { makeTestClock, startService } from "../support/service.ts";
import { askFor, giveLogin, type Login } from "../support/token.ts";

const clock = makeTestClock();
const service = await startService({ clock });
const other = await startService({ clock, db: service.db });
const make = makeMakers(service.db);
const school = await make.school();
const app = await make.app();
await make.grant({ app: app.clientId, school });

let isBusy = false;
const { waitMs } = PasswordQueue.prototype;
vi.spyOn(PasswordQueue.prototype, "waitMs").mockImplementation(function (this: PasswordQueue) {
  return isBusy ? Infinity : waitMs.call(this);
});
afterAll(() => vi.restoreAllMocks());

let login: Login;
let browser: Browser;
beforeEach(async () => {
  login = await giveLogin(service.db, await make.person({ school }));
  browser = makeBrowser(service.url);
});

async function beTurnedAway(address: string, step: string): Promise<Shown> {
  const form = await browser.open(address);
  isBusy = true;
  const waiting = await browser.submit(form, step, login);
  isBusy = false;
  expect(waiting.status).toBe(503);
  clock.forwardSeconds(60);
  return waiting;
}

const fieldsOf = ({ html }: Shown): Record<string, string> =>
  Object.fromEntries(
    ["csrf", "waiting"].map((name) => [name, new RegExp(`name="${name}" value="([^"]+)"`).exec(html)![1]!]),
  );
const send = (to: { url: string }, page: Shown, change: Record<string, string> = {}) =>
  browser.once(to.url + new URL(page.url).pathname, {
    method: "POST",
    body: new URLSearchParams({ ...fieldsOf(page), ...change }),
  });

test("of two uses of a ticket at the same time, in two processes, one signs in", async () => {
  const waiting = await beTurnedAway("/sign-in", "/sign-in");
  const answers = await Promise.all([send(service, waiting), send(other, waiting)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 422]);
  const refused = answers.find(({ status }) => status === 422)!;
  expect(await refused.text()).toContain("Die Seite war zu lange offen");
});

test("a ticket that signed in does so no more, however it is spelled, though browser, cookies and form are the same", async () => {
  const waiting = await beTurnedAway("/sign-in", "/sign-in");
  const { waiting: ticket } = fieldsOf(waiting);
  expect((await send(service, waiting)).status).toBe(303);
  for (const spelling of [ticket!, `${ticket!}=`, `${ticket!.slice(0, 8)}\n${ticket!.slice(8)}`])
    for (const to of [service, other]) expect((await send(to, waiting, { waiting: spelling })).status).toBe(422);
});

test("a ticket of an app's sign-on is good once too, also where its password was wrong", async () => {
  login = { ...login, password: "wrong" };
  const waiting = await beTurnedAway(askFor(service, app).address, "/login");
  const first = await browser.submit(waiting, "/login");
  expect([first.status, first.html.includes("stimmen nicht")]).toEqual([422, true]);
  const second = await browser.submit(waiting, "/login");
  expect([second.status, second.html.includes("Die Seite war zu lange offen")]).toEqual([422, true]);
});
