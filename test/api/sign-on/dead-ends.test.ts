import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { shortCodeOf } from "../../../src/platform/crypto/ids.ts";
import { makeBrowser, readForm, type Shown } from "../../support/browser.ts";
import { askFor, passPages, signOn, type TestApp } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();
let app: TestApp;
let tiled: TestApp;

beforeAll(async () => {
  app = await world.app({ name: "Lernapp" });
  tiled = await world.app({ name: "Kachelapp", loginUrl: "https://app.example/login?from=tile" });
});

const german = { "accept-language": "de" };
const linksOf = ({ html }: Shown): string[] =>
  [...html.matchAll(/<a class="(?:primary|secondary)" href="([^"]*)"/g)].map(([, href]) =>
    (href ?? "").replaceAll("&amp;", "&"),
  );

test("Back after signing in shows that one is signed in, and the way on to the app", async () => {
  for (const [asked, expected] of [
    [app, /^http:\/\/127\.0\.0\.1:4999\/$/],
    [tiled, /^https:\/\/app\.example\/login\?from=tile&iss=http%3A%2F%2F[^&]+&login_hint=[\w-]+$/],
  ] as const) {
    const browser = makeBrowser(world.service.url, german);
    const login = await browser.open(askFor(world.service, asked).address);
    await passPages(browser, login, world.login);
    const back = await browser.open(login.url);
    expect(back.status).toBe(200);
    expect(back.html).toContain("<h1>Du bist schon angemeldet</h1>");
    const [toApp, ...others] = linksOf(back);
    expect(toApp).toMatch(expected);
    expect(others).toEqual(["/", "/oauth2/sessions/logout"]);
    expect((await browser.submit(login, "/login", world.login)).status).toBe(409);
  }
});

test("a sign-on that is over and signed nobody in has ended, and leads back to its app", async () => {
  const browser = makeBrowser(world.service.url, german);
  const login = await browser.open(askFor(world.service, app).address);
  await browser.submit(login, "/cancel");
  const back = await browser.open(login.url);
  expect(back.status).toBe(400);
  expect(back.html).toContain("Diese Anmeldung geht hier nicht weiter");
  expect(back.html).toContain('href="/sign-in/school"');
  expect(back.html).not.toMatch(/zu lange|abgelaufen/);
  expect(linksOf(back)).toEqual(["http://127.0.0.1:4999/", "/"]);
});

test("a sign-on that was begun an hour ago has ended", async () => {
  const browser = makeBrowser(world.service.url, german);
  const login = await browser.open(askFor(world.service, app).address);
  world.service.clock.forwardSeconds(3600);
  const late = await browser.submit(login, "/login", world.login);
  expect(late.status).toBe(400);
  expect(late.html).toContain("Diese Anmeldung geht hier nicht weiter");
});

test("a browser that keeps no cookies is told so, and how to allow them", async () => {
  const open = (address: string, init: RequestInit = {}) =>
    fetch(new URL(address, world.service.url), { redirect: "manual", headers: german, ...init });
  const start = await open(askFor(world.service, app).address);
  const asked = await open(start.headers.get("location") ?? "");
  const shown = await open(asked.headers.get("location") ?? "");
  const html = await shown.text();
  expect(shown.status).toBe(400);
  expect(html).toContain("Dein Browser nimmt keine Cookies an");
  expect(html).toContain("Erlaube Cookies für diese Seite");
  const form = new URLSearchParams(world.login as Record<string, string>);
  const sent = await open(`${start.headers.get("location")}/login`, { method: "POST", body: form });
  const posted = await open(sent.headers.get("location") ?? "");
  expect(await posted.text()).toContain("Dein Browser nimmt keine Cookies an");
  const platform = await open("/sign-in", { method: "POST", body: form });
  expect(posted.status).toBe(400);
  expect(platform.status).toBe(422);
  expect(await platform.text()).toContain("Dein Browser hat kein Cookie mitgeschickt");
});

test("a browser whose cookies were deleted takes new ones, and is not told that it takes none", async () => {
  const { address } = askFor(world.service, app);
  const browser = makeBrowser(world.service.url, german);
  const login = await browser.open(address);
  const uid = new URL(login.url).pathname.split("/").at(-1)!;
  for (const path of [`/interaction/${uid}`, `/oauth2/auth/${uid}`]) {
    const later = makeBrowser(world.service.url, german);
    const shown = await later.open(path);
    expect([shown.status, shown.html.includes("Diese Anmeldung geht hier nicht weiter")], path).toEqual([400, true]);
    expect(shown.html).not.toMatch(/nimmt keine Cookies|zu lange/);
  }
  const emptied = await fetch(`${world.service.url}/interaction/${uid}/login`, {
    method: "POST",
    body: new URLSearchParams(world.login as Record<string, string>),
    redirect: "manual",
    headers: german,
  });
  const headers = { ...german, cookie: emptied.headers.get("set-cookie")!.split(";")[0]! };
  const shown = await fetch(new URL(emptied.headers.get("location")!, world.service.url), { headers });
  expect(await shown.text()).toContain("Diese Anmeldung geht hier nicht weiter");
});

test("an error page has a short code, which the log has too, a way on, and the other language", async () => {
  const requestId = randomUUID();
  const browser = makeBrowser(world.service.url, { ...german, accept: "text/html", "x-request-id": requestId });
  const wrong = askFor(world.service, app, { params: { redirect_uri: "http://127.0.0.1:1/callback" } }).address;
  const addresses = [wrong, "/interaction/long-ago?cookies", "/nowhere", "/oauth2/sessions/logout?id_token_hint=%00"];
  for (const address of addresses) {
    const shown = await browser.open(address);
    expect(shown.status, address).toBeGreaterThanOrEqual(400);
    if (address !== "/nowhere") expect(shown.html, address).toContain(`>${shortCodeOf(requestId)}</strong>`);
    expect(linksOf(shown), address).toContain("/");
    const other = /<a href="([^"]*)" hreflang="en"/.exec(shown.html)?.[1]?.replaceAll("&amp;", "&") ?? "";
    expect(other, address).toMatch(/^\/(?!\/)/);
    expect((await browser.open(other)).html, address).toContain('<html lang="en">');
    await browser.open("/?lang=de");
  }
});

test("the switch of the language never leads to another host", async () => {
  const browser = makeBrowser(world.service.url, { ...german, accept: "text/html" });
  const { html } = await browser.open(`${world.service.url}//evil.example/x`);
  expect(/<a href="([^"]*)" hreflang="en"/.exec(html)?.[1]).toBe("/evil.example/x?lang=en");
});

test("the pages of signing out keep the switch of the language", async () => {
  const { browser } = await signOn(world.service, app, world.login, {
    browser: makeBrowser(world.service.url, german),
  });
  const asks = await browser.open("/oauth2/sessions/logout?lang=en");
  expect(asks.html).toContain("Do you want to sign out?");
  const out = await browser.submit(asks, "/oauth2/sessions/logout/confirm", { logout: "yes" });
  expect(out.html).toContain("You are signed out");
  const other = /<a href="([^"]*)" hreflang="de"/.exec(out.html)?.[1]?.replaceAll("&amp;", "&") ?? "";
  expect((await browser.open(other)).html).toContain("Du bist abgemeldet");
});

test("spaces around a user name do not count, and spaces alone are nothing", async () => {
  const browser = makeBrowser(world.service.url, german);
  const login = await browser.open(askFor(world.service, app).address);
  const blank = await browser.submit(login, "/login", { username: "  ", password: "x" });
  expect(blank.status).toBe(422);
  expect(blank.html).toContain('aria-describedby="username-hint username-problem" aria-invalid="true" autofocus');
  const { username, password } = world.login;
  const { url } = await passPages(browser, login, { username: `\u00a0 ${username} `, password });
  expect(url).toContain("code=");
});

/** Where somebody is sent who signs in at the platform on the way to this path. */
async function goOnTo(path: string): Promise<string | null> {
  const browser = makeBrowser(world.service.url);
  const form = readForm(await browser.open(`/sign-in?return=${encodeURIComponent(path)}`), "/sign-in");
  const body = new URLSearchParams({ ...form.fields, ...world.login });
  return (await browser.once(form.action, { method: "POST", body })).headers.get("location");
}

test("after signing in a person gets to the page that sent them, also in the other language and after a wrong password", async () => {
  expect(await goOnTo("/admin/people?search=Bo&page=2")).toBe("/admin/people?search=Bo&page=2");
  expect(await goOnTo("//evil.example")).toBe("/");
  const browser = makeBrowser(world.service.url);
  const page = await browser.open("/sign-in?return=%2Fadmin&lang=de");
  expect(page.html).toContain('action="/sign-in?return=%2Fadmin"');
  expect(page.html).toContain('href="/sign-in?return=%2Fadmin&amp;lang=en"');
  const again = await browser.submit(page, "/sign-in", { ...world.login, password: "falsch" });
  expect(again.status).toBe(422);
  expect(again.html).toContain('action="/sign-in?return=%2Fadmin"');
  await browser.submit(again, "/sign-in", world.login);
  expect((await browser.once("/sign-in?return=%2Fadmin")).headers.get("location")).toBe("/admin");
  expect((await browser.once("/sign-in?return=%2F%2Fevil.example")).headers.get("location")).toBe("/");
});
