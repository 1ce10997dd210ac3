import { beforeAll, beforeEach, expect, test } from "vitest";
import { makeBrowser, type Browser, type Shown } from "../../support/browser.ts";
import { withoutChallenge } from "../../support/challenge.ts";
import { askFor, giveLogin, signOn, type Login, type TestApp } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld({ TRUSTED_PROXIES: "127.0.0.1,::1" });
let app: TestApp;
let login: Login;

beforeAll(async () => {
  app = await world.app({ name: "App & <Sons>" });
});
beforeEach(async () => {
  login = await giveLogin(world.service.db, await world.make.person({ school: world.school }));
});

const browserAt = (address: string, headers: Record<string, string> = {}): Browser =>
  makeBrowser(world.service.url, { "x-forwarded-for": address, ...headers });

async function openLogin(browser: Browser, params: Record<string, string> = {}): Promise<Shown> {
  return browser.open(askFor(world.service, app, { params }).address);
}

async function guess(browser: Browser, times: number, username = login.username): Promise<Shown> {
  let shown = await openLogin(browser);
  for (let index = 0; index < times; index += 1)
    shown = await browser.submit(shown, "/login", { username, password: `wrong ${index}` });
  return shown;
}

const textOf = ({ html }: Shown): string =>
  html
    .replace(/<(style|title)[\s\S]*?<\/\1>/g, "")
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ");

test("a wrong password and an unknown user name get the same page, byte for byte but for the name and the form's token", async () => {
  const plain = (shown: Shown, username: string) =>
    withoutChallenge(shown.html)
      .replaceAll(username, "NAME")
      .replace(/name="csrf" value="[^"]*"/g, "CSRF")
      .replace(/(\/|%2F)interaction(\/|%2F)[^/"?]+/g, "HERE");
  const wrong = await guess(browserAt("192.0.2.1"), 1);
  const unknown = await guess(browserAt("192.0.2.1"), 1, "nobody.at.all");
  expect(wrong.status).toBe(422);
  expect(unknown.status).toBe(422);
  expect(plain(unknown, "nobody.at.all")).toBe(plain(wrong, login.username));
});

test("guessing is answered 429 with the time to wait, in a header and in words", async () => {
  const slowed = await guess(browserAt("192.0.2.2"), 6);
  expect(slowed.status).toBe(429);
  expect(slowed.headers.get("retry-after")).toBe("10");
  expect(textOf(slowed)).toContain("Warte 10 Sekunden");
});

test.each([
  ["an IPv4 address with a port", (n: number) => `203.0.113.71:${50_000 + n}`],
  ["an IPv6 address with a port", (n: number) => `[2001:db8:71::71]:${50_000 + n}`],
  ["addresses of one IPv6 network", (n: number) => `"[2001:db8:72::${n}]:${50_000 + n}"`],
  ["what is no address", (n: number) => `_hidden${n}`],
])("guessing at a person is slowed behind a proxy that forwards %s", async (_, forwarded) => {
  const statuses = new Set<number>();
  for (let n = 1; n <= 6; n += 1) statuses.add((await guess(browserAt(forwarded(n)), 1)).status);
  expect([...statuses]).toEqual([422, 429]);
});

test("behind a trusted proxy the address is the pupil's own: a stranger elsewhere slows nobody", async () => {
  await guess(browserAt("192.0.2.3"), 6);
  const { back } = await signOn(world.service, app, login, { browser: browserAt("198.51.100.3") });
  expect(back.searchParams.has("code")).toBe(true);
});

test("a browser that signed in before goes on while somebody at the same address guesses", async () => {
  const own = browserAt("192.0.2.4");
  await signOn(world.service, app, login, { browser: own });
  expect((await guess(browserAt("192.0.2.4"), 6)).status).toBe(429);
  const { back } = await signOn(world.service, app, login, { browser: own, params: { prompt: "login" } });
  expect(back.searchParams.has("code")).toBe(true);
});

test("the password is never written back into the page, the user name only escaped", async () => {
  const browser = browserAt("192.0.2.5");
  const username = `"><script>alert(1)</script>`;
  const shown = await browser.submit(await openLogin(browser), "/login", { username, password: "my secret" });
  expect(shown.html).not.toContain("my secret");
  expect(shown.html).not.toContain("<script>");
  expect(shown.html).toContain("&quot;&gt;&lt;script&gt;");
});

test("a form without its token, or with that of another browser, signs nobody in", async () => {
  const [browser, other] = [browserAt("192.0.2.6"), browserAt("192.0.2.6")];
  const [page, foreign] = [await openLogin(browser), await openLogin(other)];
  const csrf = /name="csrf" value="([^"]*)"/.exec(foreign.html)?.[1] ?? "";
  for (const forged of [{ csrf: "" }, { csrf }]) {
    const answer = await browser.submit(page, "/login", { ...login, ...forged });
    expect(answer.status).toBe(422);
    expect(textOf(answer)).toContain("noch einmal an");
  }
});

test("the page of another browser's sign-on cannot be opened or answered", async () => {
  const page = await openLogin(browserAt("192.0.2.7"));
  const stranger = browserAt("192.0.2.7");
  expect((await stranger.open(page.url)).status).toBe(400);
  expect((await stranger.submit(page, "/login", login)).status).toBe(400);
});

test("the language is the app's wish before the browser's, and a pick is kept", async () => {
  const browser = browserAt("192.0.2.8", { "accept-language": "en" });
  expect((await openLogin(browser)).html).toContain('<html lang="en">');
  const german = await openLogin(browser, { ui_locales: "de" });
  expect(german.html).toContain('<html lang="de">');
  await browser.open(`${german.url}?lang=en`);
  expect((await openLogin(browser, { ui_locales: "de" })).html).toContain('<html lang="en">');
});

test("every page is strict about what it loads, where its form goes, who frames and keeps it", async () => {
  const shown = await openLogin(browserAt("192.0.2.9"));
  expect(shown.headers.get("content-security-policy")).toBe(
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self' https: http:; frame-ancestors 'none'; base-uri 'none'",
  );
  expect(shown.headers.get("cache-control")).toBe("no-store");
  expect(shown.headers.get("x-content-type-options")).toBe("nosniff");
  expect(shown.headers.get("referrer-policy")).toBe("same-origin");
  expect(shown.html).toContain("App &amp; &lt;Sons&gt;");
  expect(shown.html).not.toMatch(/<script(?! src="\/assets\/)|<style| style="| on\w+="/);
});

test("a form may lead to the own scheme of an app whose callback on the web opens it, and to no other", async () => {
  const redirectUris = ["https://app.example/callback", "org.example.app:/callback"];
  const onPhone = await world.app({ type: "PUBLIC", redirectUris, postLogoutRedirectUris: ["org.example.bye:/"] });
  const shown = await browserAt("192.0.2.11").open(askFor(world.service, onPhone).address);
  expect(shown.headers.get("content-security-policy")).toContain(
    "form-action 'self' https: http: org.example.app: org.example.bye:; frame-ancestors",
  );
});

test("the stylesheet and the logo come from our own origin, with a name that changes with them", async () => {
  const { html } = await openLogin(browserAt("192.0.2.10"));
  const paths = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
  const names = paths.map((path) => path.replace(/-[0-9a-f]{16}/, ""));
  const scripts = ["/assets/password.js", "/assets/index.umd.min.js", "/assets/passkey.js"];
  expect(new Set(names)).toEqual(new Set(["/assets/logo.svg", "/assets/pages.css", ...scripts]));
  for (const path of paths) {
    expect(path).toMatch(/-[0-9a-f]{16}\.(css|js|svg)$/);
    const answer = await fetch(`${world.service.url}${path}`);
    expect(answer.headers.get("cache-control")).toContain("immutable");
    // The library of passkeys names its own documentation in a warning.
    expect(await answer.text()).not.toMatch(/https?:\/\/(?!www\.w3\.org\/2000\/svg|simplewebauthn\.dev\/docs)/);
  }
});
