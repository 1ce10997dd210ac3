import { request } from "node:http";
import { expect, test } from "vitest";
import { makeLog } from "../../src/platform/telemetry/log.ts";
import { makeBrowser, type Browser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, signIn } from "../support/portal.ts";
import { makeTestClock, startService, type TestService } from "../support/service.ts";
import { askFor, getUserTokens, giveLogin, passPages } from "../support/token.ts";
import { serve } from "../support/serve.ts";
import { makeStaff } from "../support/admin.ts";
import { setUpTotp } from "../support/second-factor.ts";

const lines: string[] = [];
const log = makeLog({ level: "warn", format: "json", to: { write: (line: string) => void lines.push(line) } });
const clock = makeTestClock();
const service = await startService({ clock, log });
const make = makeMakers(service.db);
const school = await make.school();
const app = await make.app({ scopes: ["openid"] });
await make.grant({ app: app.clientId, school });

const firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:142.0) Gecko/20100101 Firefox/142.0";
const laterFirefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0";
const chrome =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36";
const linuxFirefox = "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0";

const pages = ["/admin/schools", "/partner", "/account", "/sign-in/password", "/sign-in/second-factor"];

/** Somebody who is signed in with Firefox. */
async function makeVictim() {
  const user = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const browser = makeBrowser(service.url, { "user-agent": firefox });
  await signIn(browser, user);
  return { ...user, browser };
}

/** Where a request with these cookies ends. Shape: the path to which it is sent; null where it is answered. */
async function sentTo(path: string, cookies: ReturnType<Browser["cookies"]>, userAgent: string) {
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const headers = { cookie, "user-agent": userAgent };
  const location = (await fetch(new URL(path, service.url), { headers, redirect: "manual" })).headers.get("location");
  return location === null ? null : new URL(location, service.url).pathname;
}

const linesOf = (personId: string) =>
  service.db.prisma.audit.findMany({ where: { action: "session_refused", personId }, orderBy: { id: "asc" } });

test("a stolen cookie from another browser gets nowhere", async () => {
  const { browser, personId } = await makeVictim();
  lines.length = 0;
  const stolen = browser.cookies().filter(({ name }) => /^_session(\.sig)?$/.test(name));
  expect(stolen).toHaveLength(2);
  for (const path of pages) expect([path, await sentTo(path, stolen, firefox)]).toEqual([path, "/sign-in"]);
  // The person goes on working.
  expect((await browser.open("/admin/schools")).status).toBe(200);
  const [line, ...more] = await linesOf(personId);
  expect(more).toEqual([]);
  const { homeSchoolId } = await service.db.prisma.person.findUniqueOrThrow({ where: { id: personId } });
  expect(line).toMatchObject({ schoolId: homeSchoolId, detail: {} });
  expect(lines.filter((text) => text.includes("another browser"))).toHaveLength(1);
  expect(lines.join("")).not.toContain(personId);
});

test("all cookies in another kind of browser, or on another system, get nowhere", async () => {
  const { browser } = await makeVictim();
  for (const other of [chrome, linuxFirefox, "curl/8.5.0", ""])
    for (const path of pages)
      expect([other, await sentTo(path, browser.cookies(), other)]).toEqual([other, "/sign-in"]);
  expect(await sentTo("/admin/schools", browser.cookies(), firefox)).toBeNull();
});

test("an update of the browser signs nobody out", async () => {
  const { browser } = await makeVictim();
  expect(await sentTo("/admin/schools", browser.cookies(), laterFirefox)).toBeNull();
});

test("a cookie of somebody else's sign-in does not help", async () => {
  const [victim, thief] = [await makeVictim(), await makeVictim()];
  const cookies = [
    ...victim.browser.cookies().filter(({ name }) => name.startsWith("_session")),
    ...thief.browser.cookies().filter(({ name }) => !name.startsWith("_session")),
  ];
  expect(await sentTo("/admin/schools", cookies, firefox)).toBe("/sign-in");
});

test("a stolen cookie gives an app no code, and the person's own browser does", async () => {
  const login = await giveLogin(service.db, await make.person({ school }));
  const browser = makeBrowser(service.url, { "user-agent": firefox });
  const { address } = askFor(service, app);
  const back = await passPages(browser, await browser.open(address), login);
  expect(new URL(back.url).searchParams.has("code")).toBe(true);
  const again = await browser.once(askFor(service, app).address);
  expect(new URL(again.headers.get("location")!).searchParams.has("code")).toBe(true);
  const stolen = browser.cookies().filter(({ name }) => name.startsWith("_session"));
  expect(await sentTo(askFor(service, app).address, stolen, firefox)).toMatch(/^\/interaction\//);
  const silent = askFor(service, app, { params: { prompt: "none" } }).address;
  const answer = await fetch(silent, {
    headers: { cookie: stolen.map(({ name, value }) => `${name}=${value}`).join("; "), "user-agent": firefox },
    redirect: "manual",
  });
  expect(new URL(answer.headers.get("location")!).searchParams.get("error")).toBe("login_required");
});

const issuer = "https://login.example.org";

/** What ends TLS in front of the service. Shape: `set` are the cookies that its answers set. */
async function startFront(service: TestService): Promise<{ url: string; set: string[] }> {
  const set: string[] = [];
  const url = await serve((req, res) => {
    const headers = { ...req.headers, "x-forwarded-proto": "https" };
    const ask = request(service.url + req.url!, { method: req.method!, headers }, (answer) => {
      set.push(...(answer.headers["set-cookie"] ?? []));
      const { location } = answer.headers;
      res.writeHead(answer.statusCode!, {
        ...answer.headers,
        ...(location?.startsWith(issuer) && { location: location.replace(issuer, url) }),
      });
      answer.pipe(res);
    });
    req.pipe(ask);
  }, "localhost");
  return { url, set };
}

const behindTls = await startService({ db: service.db, clock, env: { ISSUER_URL: issuer } });
const front = await startFront(behindTls);
const login = await giveLogin(service.db, await make.person({ school }));

/** The cookies of every page that sets one. */
async function visitEverything(): Promise<void> {
  const browser = makeBrowser(front.url);
  await browser.open("/?lang=en");
  await browser.open(askFor(front, app, { params: { login_hint: login.username } }).address);
  expect((await getUserTokens(front, app, login, { browser })).access_token).toBeTruthy();
  expect((await browser.open("/account")).status).toBe(200);
  const staff = makeBrowser(front.url);
  await signIn(staff, login);
  await setUpTotp(staff, clock);
  const later = makeBrowser(front.url);
  await signIn(later, login);
  await later.open(`/card/${"a".repeat(24)}`);
  const { call } = await makeStaff(behindTls, "SCHOOL_ADMIN", { schoolIds: [school] });
  expect((await call("GET", "/schools")).status).toBe(200);
}

test("with https no other host and no plain connection can write a cookie of the service, and everything works", async () => {
  await visitEverything();
  const names = new Set<string>();
  for (const cookie of front.set) {
    const [pair = "", ...attributes] = cookie.split(/; */);
    const name = pair.slice(0, pair.indexOf("="));
    names.add(name.replace(/\.sig$/, ""));
    const lower = attributes.map((attribute) => attribute.toLowerCase());
    expect(lower, cookie).toContain("secure");
    if (/session|interaction|sign_in|browser/.test(name))
      expect(lower, cookie).toEqual(expect.arrayContaining(["httponly", "samesite=lax"]));
    expect(lower.filter((attribute) => attribute.startsWith("domain"))).toEqual([]);
    // A browser drops a cookie of this name with any other path.
    if (name.startsWith("__Host-")) expect(lower, cookie).toContain("path=/");
    else expect([name.startsWith("__Secure-"), lower.includes("path=/")], cookie).toEqual([true, false]);
  }
  expect([...names].sort()).toEqual([
    "__Host-_browser",
    "__Host-_card",
    "__Host-_device",
    "__Host-_lang",
    "__Host-_last_sign_in",
    "__Host-_portal",
    "__Host-_session",
    "__Host-_sign_in",
    "__Host-_sign_in_confirmed",
    "__Host-_sign_in_pending",
    "__Host-_waiting_app",
    "__Secure-_app",
    "__Secure-_interaction",
    "__Secure-_interaction_resume",
    "__Secure-_login_hint",
  ]);
});

test("behind a proxy that ends TLS every address that discovery names has the origin of the issuer", async () => {
  const document = (await (await fetch(`${front.url}/.well-known/openid-configuration`)).json()) as object;
  const addresses = Object.entries(document).filter(([name]) => /_endpoint$|^jwks_uri$/.test(name));
  expect(addresses.length).toBeGreaterThan(6);
  for (const [name, value] of addresses) expect([name, new URL(String(value)).origin]).toEqual([name, issuer]);
});

test("a cookie without its prefix, as another host of the domain could set it, is none", async () => {
  const { browser: signedIn } = await getUserTokens(front, app, login);
  const cookies = signedIn.cookies();
  const silent = async (rename: (name: string) => string) => {
    const cookie = cookies.map(({ name, value }) => `${rename(name)}=${value}`).join("; ");
    const { address } = askFor(front, app, { params: { prompt: "none" } });
    const { headers } = await fetch(address, { headers: { cookie }, redirect: "manual" });
    return new URL(headers.get("location")!).searchParams.get("error");
  };
  expect(await silent((name) => name)).toBeNull();
  for (const prefix of ["", "__Secure-", "__host-", "X__Host-"])
    expect([prefix, await silent((name) => name.replace(/^__(Host|Secure)-/, prefix))]).toEqual([
      prefix,
      "login_required",
    ]);
});

test("without https, on this machine, the names have no prefix", async () => {
  const plain = await startService({ db: service.db });
  const browser = makeBrowser(plain.url);
  await passPages(browser, await browser.open(askFor(plain, app).address), login);
  expect(browser.cookies().filter(({ name }) => name.startsWith("__"))).toEqual([]);
});
