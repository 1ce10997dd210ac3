import pg from "pg";
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import { makeBrowser, readForm, type Browser, type Shown } from "../../support/browser.ts";
import {
  askFor,
  exchange,
  getUserTokens,
  giveLogin,
  readCallback,
  type Login,
  type TestApp,
} from "../../support/token.ts";
import { setSignInSettings } from "../../support/sign-ins.ts";
import { startWorld } from "./world.ts";

const world = startWorld({ SESSION_SECONDS: "7200" });

async function readSession(): Promise<{ expires_at: Date; version: string }> {
  const { rows } = await world.service.db.pool.query<{ expires_at: Date; version: string }>(
    "SELECT expires_at, xmin::text AS version FROM oidc_artifact WHERE kind = 'Session' AND person_id = $1",
    [world.pupil],
  );
  return rows[0]!;
}

test("a session is written when something about it changes, and lives on while it is used", async () => {
  const { service, login } = world;
  const [app, other] = [await world.app(), await world.app()];
  const { browser } = await getUserTokens(service, app, login);
  const first = await readSession();
  await browser.open(askFor(service, app).address);
  expect(await readSession()).toEqual(first);

  await getUserTokens(service, other, login, { browser });
  const second = await readSession();
  expect(second.version).not.toBe(first.version);

  service.clock.forwardSeconds(6000);
  expect((await browser.open(askFor(service, app).address)).url).toContain("code=");
  service.clock.forwardSeconds(6000);
  expect((await browser.open(askFor(service, app).address)).url).toContain("code=");
  service.clock.forwardSeconds(7201);
  expect((await browser.open(askFor(service, app).address)).html).toContain("/login");
});

test("what was read for the person of the session is asked again for the person who signs in instead", async () => {
  const { service, make, school, login } = world;
  const app = await world.app();
  const { browser } = await getUserTokens(service, app, login);
  const other = await make.person({ school });
  const { id_token } = await getUserTokens(service, app, await giveLogin(service.db, other), {
    browser,
    params: { prompt: "login" },
  });
  expect(JSON.parse(Buffer.from(id_token!.split(".")[1]!, "base64url").toString())).toMatchObject({ sub: other });
});

/** Ends the session right before the request that `run` makes writes what it wants written. */
async function endSessionBeforeWrite<T>(run: () => Promise<T>): Promise<T> {
  const { query } = pg.Client.prototype;
  const { pool } = world.service.db;
  let hasEnded = false;
  const spy = vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const { name = "" } = args[0] as { name?: string };
    const go = () => (query as (...given: unknown[]) => unknown).apply(this, args);
    if (hasEnded || !name.startsWith("sign-on.write.")) return go();
    hasEnded = true;
    return pool.query("DELETE FROM oidc_artifact WHERE kind = 'Session'").then(go);
  } as never);
  try {
    return await run();
  } finally {
    spy.mockRestore();
    expect(hasEnded).toBe(true);
  }
}

test.each(["query", "form_post"])(
  "a session that ends while the person's answer is on its way gives the app an error in the mode %s instead of a code that is worth nothing",
  async (mode) => {
    const { service, login } = world;
    const app = await world.app();
    const browser = makeBrowser(service.url);
    const asked = askFor(service, app, { params: { response_mode: mode } });
    const consent = await browser.submit(await browser.open(asked.address), "/login", login);
    const csrf = /name="csrf"[^>]*value="([^"]+)"/.exec(consent.html)![1]!;
    const body = new URLSearchParams({ csrf, shown: "openid" });
    const resumed = await endSessionBeforeWrite(() => browser.once(`${consent.url}/consent`, { method: "POST", body }));
    const [url, html] = [resumed.headers.get("location") ?? resumed.url, await resumed.text()];
    const { params: back } = readCallback(service, { url, html })!;
    expect([back.get("error"), back.get("state"), back.get("iss"), back.get("code")]).toEqual([
      "login_required",
      asked.state,
      service.url,
      null,
    ]);
    const { rowCount } = await service.db.pool.query(
      "SELECT FROM oidc_artifact WHERE $1 IN (client_id, payload->'params'->>'client_id')",
      [app.clientId],
    );
    expect(rowCount).toBe(0);
    expect((await browser.open(askFor(service, app).address)).html).toContain("/login");
  },
);

test("a session that ends while a silent request runs is a request without a session", async () => {
  const { service, login } = world;
  const [app, another] = [await world.app(), await world.app()];
  await getUserTokens(service, another, login);
  const { browser } = await getUserTokens(service, app, login);
  const shown = await endSessionBeforeWrite(() =>
    browser.open(askFor(service, another, { params: { prompt: "none" } }).address),
  );
  expect(new URL(shown.url).searchParams.get("error")).toBe("login_required");
});

test("a session that ends while its person asks to log out is logged out", async () => {
  const { service, login } = world;
  const { browser } = await getUserTokens(service, await world.app(), login);
  const shown = await endSessionBeforeWrite(() => browser.open(`${service.url}/oauth2/sessions/logout`));
  expect([shown.status, new URL(shown.url).pathname]).toEqual([200, "/oauth2/sessions/logout/success"]);
});

let app: TestApp;
let bo: Login;
let ada: Login;

beforeAll(async () => {
  app = await world.app({ name: "Lernapp" });
});

beforeEach(async () => {
  const { service, make, school } = world;
  const person = async (firstCall: string) =>
    giveLogin(service.db, await make.person({ school, name: { firstFull: firstCall, firstCall, last: "Muster" } }));
  // Too long to be in a random value by chance.
  [bo, ada] = [await person("Bonifatius"), await person("Adalgunde")];
});

const newBrowser = (): Browser => makeBrowser(world.service.url, { "accept-language": "de" });
const headingOf = ({ html }: Shown): string | undefined => /<h1>([^<]*)<\/h1>/.exec(html)?.[1];
const asksForApp = (browser: Browser) =>
  browser.open(askFor(world.service, app, { params: { prompt: "login" } }).address);

async function signInAt(browser: Browser, login: Login, fields: Record<string, string> = {}): Promise<Shown> {
  return browser.submit(await browser.open("/sign-in?again&other"), "/sign-in", { ...login, ...fields });
}

const sessionOf = async (login: Login) => {
  const { rows } = await world.service.db.pool.query<{ acr: string | null; seconds: number }>(
    `SELECT a.payload->>'acr' AS acr, extract(epoch FROM a.expires_at - $2)::int AS seconds
     FROM oidc_artifact a JOIN credential c USING (person_id)
     WHERE a.kind = 'Session' AND c.username = $1 ORDER BY a.expires_at DESC`,
    [login.username, world.service.clock()],
  );
  return rows[0];
};

test("on a device of one's own the page greets who signed in before, asks only the password, and forgets on request", async () => {
  const browser = newBrowser();
  expect(headingOf(await browser.open("/sign-in"))).toBe("Anmelden");
  await signInAt(browser, bo);
  for (const page of [await browser.open("/sign-in?again"), await asksForApp(browser)]) {
    expect(headingOf(page)).toBe("Weiter als Bonifatius");
    expect(page.html).not.toContain('id="username"');
    const step = page.url.includes("/interaction/") ? "/login" : "/sign-in";
    const wrong = await browser.submit(page, step, { username: bo.username, password: "wrong" });
    expect(headingOf(wrong)).toBe("Weiter als Bonifatius");
    const other = /<a class="secondary" href="([^"]*other[^"]*)"/.exec(page.html)?.[1]?.replaceAll("&amp;", "&") ?? "";
    expect((await browser.open(other)).html).toContain('id="username"');
  }
  const page = await asksForApp(browser);
  const right = await browser.submit(page, "/login", bo);
  expect(new URL(right.url).searchParams.has("code") || right.html.includes("/consent")).toBe(true);

  const kept = browser.cookies().find(({ name }) => name === "_last_sign_in")!;
  const bytes = Buffer.from(kept.value, "base64url").toString("latin1");
  expect(`${kept.value} ${bytes}`).not.toMatch(new RegExp(`Bonifatius|${bo.username}|personId`));

  const forgotten = await browser.submit(await asksForApp(browser), "/login", { username: bo.username, forget: "yes" });
  expect(headingOf(forgotten)).toBe("Anmelden");
  expect(forgotten.html).not.toContain(bo.username);
});

test("who says that they are somebody else is not greeted as the person before, and can sign in", async () => {
  const browser = newBrowser();
  await signInAt(browser, bo);
  const consent = await browser.open(askFor(world.service, app, { params: { prompt: "consent" } }).address);
  const login = await browser.submit(consent, "/switch");
  expect(headingOf(login)).toBe("Anmelden");
  expect(login.html).not.toMatch(new RegExp(`Bonifatius|${bo.username}`));
  expect(login.html).toMatch(/name="shared"[^>]* checked/);
  const asked = await browser.submit(login, "/login", ada);
  expect(new URL(asked.url).searchParams.has("code") || asked.html.includes("/consent")).toBe(true);
});

test("the cookie of the name is out of reach for scripts and other sites, that of a session ends with the browser", async () => {
  const cookieOf = async (name: string, typed: Record<string, string>) => {
    const browser = newBrowser();
    const { action, fields } = readForm(await browser.open("/sign-in"), "/sign-in");
    const body = new URLSearchParams({ ...fields, ...typed });
    const lines = (await browser.once(action, { method: "POST", body })).headers.getSetCookie();
    return lines.find((line) => line.startsWith(`${name}=`));
  };
  const kept = await cookieOf("_last_sign_in", bo);
  for (const attribute of [/httponly/i, /samesite=lax/i]) expect(kept).toMatch(attribute);
  const session = await cookieOf("_session", { ...ada, shared: "yes" });
  expect(session).not.toMatch(/expires|max-age/i);
});

test("on a shared device no name is kept, the tick stays set, the session lasts an hour, and signing out is in sight", async () => {
  for (const start of ["/sign-in", "app"]) {
    const browser = newBrowser();
    await signInAt(browser, bo);
    const page = start === "app" ? await asksForApp(browser) : await browser.open("/sign-in?again&other");
    await browser.submit(page, start === "app" ? "/login" : "/sign-in", { ...ada, shared: "yes" });
    const tiles = await browser.open("/");
    expect(tiles.html).toContain("Dieses Gerät benutzen auch andere");
    expect(tiles.html).toContain('<button class="primary" type="submit">Abmelden</button>');
    const session = await sessionOf(ada);
    expect(session?.acr).toBe("shared-device");
    expect(session?.seconds).toBeLessThanOrEqual(3600);
    expect(session?.seconds).toBeGreaterThan(3500);
    const again = await browser.open("/sign-in?again");
    expect(headingOf(again)).toBe("Anmelden");
    expect(again.html).toMatch(/name="shared"[^>]* checked/);
    expect(again.html).not.toMatch(/Bonifatius|Adalgunde/);
  }
});

test("a device on which a second person signs in greets neither, and is taken for shared until somebody says otherwise", async () => {
  const browser = newBrowser();
  await signInAt(browser, bo);
  await signInAt(browser, ada);
  expect((await sessionOf(ada))?.acr).toBe("device");
  const page = await browser.open("/sign-in?again");
  expect(headingOf(page)).toBe("Anmelden");
  expect(page.html).toMatch(/name="shared"[^>]* checked/);
  await signInAt(browser, ada);
  expect(headingOf(await browser.open("/sign-in?again"))).toBe("Weiter als Adalgunde");
});

test("an ID token says nothing of the device", async () => {
  const browser = newBrowser();
  const asked = askFor(world.service, app, { params: { acr_values: "shared-device" } });
  let page = await browser.submit(await browser.open(asked.address), "/login", { ...ada, shared: "yes" });
  if (page.html.includes("/consent")) page = await browser.submit(page, "/consent");
  const { body } = await exchange(world.service, app, { browser, asked, back: new URL(page.url) });
  const claims = JSON.parse(Buffer.from(body.id_token!.split(".")[1]!, "base64url").toString()) as object;
  expect(claims).toMatchObject({ acr: "urn:schultor:acr:password" });
});

test("the help of the school is shown where the browser or a hint of our own names the school, and to nobody else", async () => {
  const { service, make } = world;
  const school = await make.school({ name: "Goethe-Gymnasium" });
  const personId = await make.person({ school });
  const login = await giveLogin(service.db, personId);
  await make.grant({ app: app.clientId, school });
  const helpText = "Frag Frau Sommer.\nRaum <12>";
  await setSignInSettings(service.db, { schoolId: school, helpText }, { at: service.clock() });
  const browser = newBrowser();
  const help = "Frag Frau Sommer.\nRaum &lt;12&gt;";
  expect((await browser.open("/sign-in")).html).not.toContain(help);
  await signInAt(browser, login, { shared: "yes" });
  const page = await browser.open("/sign-in?again");
  expect(page.html).toContain(help);
  expect(page.html).toContain("Goethe-Gymnasium");

  const asked = (hint: string) => newBrowser().open(askFor(service, app, { params: { login_hint: hint } }).address);
  for (const hint of [login.username, personId, "nobody"]) expect((await asked(hint)).html).not.toContain("Sommer");
  const tile = /login_hint=([\w-]+)/;
  const tiled = await make.app({ name: "Kachel", loginUrl: "https://app.example/login" });
  await make.grant({ app: tiled.clientId, school });
  const hint = tile.exec((await browser.open("/")).html)?.[1] ?? "";
  const hinted = await newBrowser().open(askFor(service, tiled, { params: { login_hint: hint } }).address);
  expect(hinted.html).toContain(help);
  expect(hinted.html).not.toContain(login.username);
});
