import { expect, test } from "vitest";
import { makeBrowser, readForm, type Browser, type Shown } from "../../support/browser.ts";
import { askFor, exchange, getUserTokens, giveLogin, type TestApp } from "../../support/token.ts";
import { untilWaiting } from "../../support/waiting.ts";
import { startWorld } from "./world.ts";

const world = startWorld();

type Post = { page: Shown; step: string; fields?: Record<string, string> };

/** Posts forms that all have their reply checked before one of them is written; returns where each leads. */
async function postAtOnce(browser: Browser, posts: readonly Post[], held: string): Promise<Response[]> {
  const { db } = world.service;
  const holder = await db.pool.connect();
  try {
    await holder.query("BEGIN");
    await holder.query(`SELECT FROM oidc_artifact WHERE kind = $1 FOR UPDATE`, [held]);
    const sent = posts.map(({ page, step, fields = {} }) => {
      const form = readForm(page, step);
      const body = new URLSearchParams({ ...form.fields, ...fields });
      return browser.once(new URL(form.action, page.url).href, { method: "POST", body });
    });
    await untilWaiting(db, posts.length, { starting: "WITH (removal|session_change)" });
    await holder.query("COMMIT");
    return await Promise.all(sent);
  } finally {
    holder.release(true);
  }
}

const locationOf = (response: Response): URL => new URL(response.headers.get("location")!, world.service.url);
const isToApp = (app: TestApp) => (response: Response) => locationOf(response).href.startsWith(app.redirectUri);

const countStored = async (kind: string, clientId: string | null): Promise<number | null> => {
  const text = "SELECT FROM oidc_artifact WHERE kind = $1 AND client_id IS NOT DISTINCT FROM $2";
  return (await world.service.db.pool.query(text, [kind, clientId])).rowCount;
};

test("of two posts of one login form at once one signs in, the other is led to the page that says so", async () => {
  const { service } = world;
  const app = await world.app();
  const login = await giveLogin(service.db, await world.make.person({ school: world.school }));
  await getUserTokens(service, app, login);
  const browser = makeBrowser(service.url, { "accept-language": "de" });
  const asked = askFor(service, app);
  const page = await browser.open(asked.address);
  const [sessions, codes] = [await countStored("Session", null), await countStored("AuthorizationCode", app.clientId)];
  const post = { page, step: "/login", fields: login };
  const answers = await postAtOnce(browser, [post, post], "Interaction");
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  const [won, ...more] = answers.filter(isToApp(app));
  const [lost] = answers.filter((answer) => !isToApp(app)(answer));
  expect(more).toEqual([]);
  expect(lost!.headers.getSetCookie()).toEqual([]);
  expect(locationOf(lost!).pathname).toBe(new URL(page.url).pathname);
  expect(await countStored("Session", null)).toBe(sessions! + 1);
  expect(await countStored("AuthorizationCode", app.clientId)).toBe(codes! + 1);
  const over = await browser.open(locationOf(lost!).href);
  expect([over.status, over.html.includes("Du bist schon angemeldet")]).toEqual([200, true]);
  expect((await exchange(service, app, { browser, asked, back: locationOf(won!) })).status).toBe(200);
});

test("of a consent and a cancellation at once the app gets one", async () => {
  const { service, login } = world;
  const app = await world.app();
  const { browser } = await getUserTokens(service, await world.app(), login);
  const page = await browser.open(askFor(service, app).address);
  const posts = ["/consent", "/cancel"].map((step) => ({ page, step }));
  const answers = await postAtOnce(browser, posts, "Interaction");
  const [won, ...more] = answers.filter(isToApp(app));
  expect(more).toEqual([]);
  const code = locationOf(won!).searchParams.get("code");
  expect(await countStored("AuthorizationCode", app.clientId)).toBe(code === null ? 0 : 1);
});

test("consents to two apps at once in one browser both get their codes", async () => {
  const { service, login } = world;
  const { browser } = await getUserTokens(service, await world.app(), login);
  const apps = [await world.app(), await world.app()];
  const pages = [];
  for (const app of apps) pages.push(await browser.open(askFor(service, app).address));
  const posts = pages.map((page) => ({ page, step: "/consent" }));
  const answers = await postAtOnce(browser, posts, "Session");
  expect(answers.map((answer, index) => isToApp(apps[index]!)(answer))).toEqual([true, true]);
  for (const answer of answers) expect(locationOf(answer).searchParams.get("code")).toEqual(expect.any(String));
});
