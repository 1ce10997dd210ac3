import { decodeJwt } from "jose";
import { beforeAll, expect, test } from "vitest";
import { checkCalledUri } from "../../src/access/index.ts";
import { readConfig } from "../../src/config/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import { loadSharedSecrets } from "../../src/sign-on/protocol/keys/shared-secrets.ts";
import { makeLoginHint } from "../../src/sign-on/protocol/login-hint.ts";
import { startWorld } from "../api/sign-on/world.ts";
import { type Browser, makeBrowser, type Shown } from "../support/browser.ts";
import { withoutChallenge } from "../support/challenge.ts";
import {
  askFor,
  exchange,
  getUserTokens,
  giveLogin,
  type Login,
  passPages,
  signOn,
  type TestApp,
} from "../support/token.ts";

const world = startWorld();
let other: PersonId;
let otherLogin: Login;
let key: Buffer;

beforeAll(async () => {
  const { make, school, service } = world;
  other = await make.person({ school });
  otherLogin = await giveLogin(service.db, other);
  key = (await loadSharedSecrets(service.db, readConfig({ NODE_ENV: "test" }).encryptionKeys, new Date())).loginHint;
});

const ask = (app: TestApp, params: Record<string, string>) => askFor(world.service, app, { params });

/**
 * Everything that a silent request answers, but for what is random: status, parameters and the names of the cookies
 * that are set.
 */
async function askSilently(browser: Browser, app: TestApp, params: Record<string, string>) {
  const answer = await browser.once(ask(app, { prompt: "none", ...params }).address, {});
  const back = new URL(answer.headers.get("location")!);
  const said = Object.fromEntries([...back.searchParams].filter(([name]) => name !== "state"));
  return {
    status: answer.status,
    ...said,
    cookies: answer.headers.getSetCookie().map((line) => line.replace(/=.*?(;|$)/, "$1")),
  };
}

/** A page without what is random in it. */
const textOf = ({ html }: Shown): string =>
  withoutChallenge(html)
    .replace(/(\/|%2F)interaction(\/|%2F)[\w-]+/g, "/interaction/…")
    .replace(/(csrf"\s+value=")[^"]*/g, "$1…")
    .replace(/nonce-[\w-]+|requestId[^<]*/g, "…");

const hints = (app: TestApp, mine: { id: PersonId; login: Login }): Record<string, string> => ({
  "my id": mine.id,
  "my user name": mine.login.username,
  "my tile": makeLoginHint(key, mine.id, app.clientId),
  "another's id": other,
  "another's user name": otherLogin.username,
  "another's tile": makeLoginHint(key, other, app.clientId),
  "an id of nobody": "c0ffee00-0000-4000-8000-000000000000",
  "a user name of nobody": "user-nobody",
});

test("an app without consent learns nothing by prompt=none and a hint", async () => {
  const { service, login, pupil } = world;
  const [app, consented] = [await world.app(), await world.app()];
  const { browser } = await getUserTokens(service, consented, login);
  const expected = await askSilently(browser, app, { login_hint: "user-nobody" });
  expect(expected).toMatchObject({ status: 302, error: "login_required" });
  const nobodyThere = await askSilently(makeBrowser(service.url), app, { login_hint: "user-nobody" });
  expect({ ...nobodyThere, cookies: [] }).toEqual({ ...expected, cookies: [] });
  for (const [what, hint] of Object.entries(hints(app, { id: pupil, login }))) {
    expect(await askSilently(browser, app, { login_hint: hint }), what).toEqual(expected);
    expect(await askSilently(makeBrowser(service.url), app, { login_hint: hint }), what).toEqual(nobodyThere);
  }
});

test("an app that may not sign the person in, or has no consent any more, learns no more by the ID token it holds", async () => {
  const { service, login } = world;
  const app = await world.app();
  const mine = await getUserTokens(service, app, login);
  const others = await getUserTokens(service, app, otherLogin);
  const ids = [mine.id_token!, others.id_token!];
  await service.db.pool.query("DELETE FROM consent WHERE client_id = $1", [app.clientId]);
  const answers = [];
  for (const id_token_hint of ids) answers.push(await askSilently(mine.browser, app, { id_token_hint }));
  expect(answers[0]).toEqual(answers[1]);
  expect(answers[0]).toMatchObject({ error: "login_required" });
});

test("with consent, only the hint of the very person gives a code, and all others the same answer", async () => {
  const { service, login, pupil } = world;
  const app = await world.app();
  const { browser } = await getUserTokens(service, app, login);
  const all = hints(app, { id: pupil, login });
  const expected = await askSilently(browser, app, { login_hint: "user-nobody" });
  for (const [what, hint] of Object.entries(all)) {
    const answer = await askSilently(browser, app, { login_hint: hint });
    if (what.startsWith("my")) expect(answer, what).toHaveProperty("code");
    else expect(answer, what).toEqual(expected);
  }
});

test("with a session of one's own, a name that exists and one that does not lead through the same pages", async () => {
  const { service, login } = world;
  const app = await world.app();
  await signOn(service, app, login);
  const walk = async (hint: string, isSignedIn: boolean): Promise<string[]> => {
    const browser = isSignedIn ? (await signOn(service, app, login)).browser : makeBrowser(service.url);
    const pages = [await browser.open(ask(app, { login_hint: hint }).address)];
    if (isSignedIn) pages.push(await browser.submit(pages[0]!, "/switch"));
    pages.push(await browser.submit(pages.at(-1)!, "/login", login));
    if (!isSignedIn) pages.push(await browser.submit(pages.at(-1)!, "/stay"));
    return pages.map((page) =>
      page.url.includes("code=") ? "back with a code" : textOf(page).replaceAll(hint, "[hint]"),
    );
  };
  for (const [isSignedIn, real, unreal] of [
    [true, otherLogin.username, "user-nobody"],
    [false, other, "c0ffee00-0000-4000-8000-000000000000"],
  ] as const) {
    const [one, two] = [await walk(real, isSignedIn), await walk(unreal, isSignedIn)];
    expect(two).toEqual(one);
    expect(one.at(-1)).toBe("back with a code");
    expect(one.at(-2)).not.toContain("code=");
  }
});

test("a tile's hint and an ID token of another person are never passed over", async () => {
  const { service, login } = world;
  const app = await world.app();
  const others = await getUserTokens(service, app, otherLogin);
  for (const params of [{ login_hint: makeLoginHint(key, other, app.clientId) }, { id_token_hint: others.id_token! }]) {
    const { browser } = await signOn(service, app, login);
    let shown = await browser.open(ask(app, params).address);
    for (let round = 0; round < 2; round += 1) {
      expect(shown.html).toContain("/switch");
      expect(shown.html).not.toContain("/stay");
      shown = await browser.submit(await browser.submit(shown, "/switch"), "/login", login);
    }
    expect((await passPages(browser, await browser.submit(shown, "/switch"), otherLogin)).url).toContain("code=");
  }
});

test("the login form shows what the app wrote, whether or not it is somebody's name, and nothing of it is stored", async () => {
  const { service } = world;
  const app = await world.app();
  const shown: string[] = [];
  for (const hint of [otherLogin.username, "user-nobody"]) {
    const page = await makeBrowser(service.url).open(ask(app, { login_hint: hint }).address);
    expect(page.html).toContain(`value="${hint}"`);
    shown.push(textOf(page).replaceAll(hint, "[hint]"));
  }
  expect(shown[1]).toBe(shown[0]);
  const { rows } = await service.db.pool.query<{ text: string }>(
    "SELECT payload::text AS text FROM oidc_artifact WHERE kind = 'Interaction'",
  );
  for (const { text } of rows) expect(text).not.toMatch(new RegExp(`user-nobody|${other}`));
});

test("at the logout those apps are told that got a code, also without a page in between, and no app that only asked", async () => {
  const { service, login } = world;
  const backchannelLogoutUri = await checkCalledUri("http://127.0.0.1:9/logout", {
    allowPrivateAddresses: true,
  });
  const [app, silent, nosy] = await Promise.all([1, 2, 3].map(() => world.app({ backchannelLogoutUri })));
  await signOn(service, silent!, login);
  const { browser } = await signOn(service, app!, login);
  expect((await browser.open(ask(silent!, {}).address)).url).toContain("code=");
  await askSilently(browser, nosy!, {});
  await browser.submit(await browser.open(ask(nosy!, {}).address), "/cancel");
  await browser.submit(await browser.open(`${service.url}/oauth2/sessions/logout`), "/confirm", { logout: "yes" });
  const { rows } = await service.db.pool.query<{ client_id: string }>("SELECT client_id FROM logout_notice");
  expect(rows.map(({ client_id }) => client_id).sort()).toEqual([app!.clientId, silent!.clientId].sort());
});

const asksToSwitch = (shown: Shown): boolean => shown.html.includes("/switch");

test("each hint of another person asks to switch, that of the present person does not", async () => {
  const { service, login } = world;
  const app = await world.app();
  const username = ` ${otherLogin.username.toUpperCase()} `;
  for (const hint of [makeLoginHint(key, other, app.clientId), other.toUpperCase(), otherLogin.username, username]) {
    const { browser } = await getUserTokens(service, app, login);
    const asked = ask(app, { login_hint: hint });
    const shown = await browser.open(asked.address);
    expect(asksToSwitch(shown), hint).toBe(true);
    const back = await passPages(browser, await browser.submit(shown, "/switch"), otherLogin);
    const { body } = await exchange(service, app, { browser, asked, back: new URL(back.url) });
    expect(decodeJwt(body.id_token!).sub).toBe(other);
    expect((await browser.open(ask(app, { login_hint: hint }).address)).url, hint).toContain("code=");
  }
});

test("with nobody signed in, signing in as another than the hinted one ends at the question to switch", async () => {
  const { service, login } = world;
  const app = await world.app();
  const browser = makeBrowser(service.url);
  const shown = await browser.open(ask(app, { login_hint: makeLoginHint(key, other, app.clientId) }).address);
  const wrong = await browser.submit(shown, "/login", login);
  expect(asksToSwitch(wrong)).toBe(true);
  expect((await passPages(browser, await browser.submit(wrong, "/switch"), otherLogin)).url).toContain("code=");
});

test("a hint made for another app, or one that means nobody, asks once and then accepts who signs in", async () => {
  const { service, login } = world;
  const [app, stranger] = [await world.app(), await world.app()];
  for (const hint of [makeLoginHint(key, other, stranger.clientId), "nobody@example.org", "a\u0301", "x".repeat(512)]) {
    const { browser } = await getUserTokens(service, app, login);
    const shown = await browser.open(ask(app, { login_hint: hint }).address);
    expect(asksToSwitch(shown)).toBe(true);
    expect((await passPages(browser, await browser.submit(shown, "/switch"), login)).url).toContain("code=");
  }
});

test("the hint says nothing about the person", () => {
  const [first, second] = [makeLoginHint(key, other, "app"), makeLoginHint(key, other, "app")];
  expect(first).not.toBe(second);
  expect(Buffer.from(first, "base64url").toString("latin1")).not.toContain(other);
});

test("switching ends the other person's session and what hangs on it", async () => {
  const { service, login } = world;
  const app = await world.app();
  const before = await getUserTokens(service, app, login);
  const shown = await before.browser.open(ask(app, { login_hint: other }).address);
  await before.browser.submit(shown, "/switch");
  const response = await fetch(`${service.url}/oauth2/userinfo`, {
    headers: { authorization: `Bearer ${before.access_token}` },
  });
  expect(response.status).toBe(401);
  expect(
    (await signOn(service, app, otherLogin, { browser: before.browser })).back.searchParams.get("code"),
  ).toBeTruthy();
});

test("cancelling the switch keeps the session and tells the app", async () => {
  const { service, login } = world;
  const app = await world.app();
  const { browser } = await getUserTokens(service, app, login);
  const cancelled = await browser.submit(await browser.open(ask(app, { login_hint: other }).address), "/cancel");
  expect(new URL(cancelled.url).searchParams.get("error")).toBe("access_denied");
  expect((await browser.open(askFor(service, app).address)).url).toContain("code=");
});
