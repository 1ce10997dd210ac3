import { request } from "node:http";
import { expect, test } from "vitest";
import { serve } from "../support/serve.ts";
import { makeBrowser } from "../support/browser.ts";
import { makeStaff } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { startService, type TestService } from "../support/service.ts";
import { askFor, getUserTokens, giveLogin, passPages } from "../support/token.ts";
import { signIn } from "../support/portal.ts";
import { setUpTotp } from "../support/second-factor.ts";

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

const service = await startService({ env: { ISSUER_URL: issuer } });
const front = await startFront(service);
const make = makeMakers(service.db);
const school = await make.school();
const login = await giveLogin(service.db, await make.person({ school }));
const app = await make.app();
await make.grant({ app: app.clientId, school });

/** The cookies of every page that sets one. */
async function visitEverything(): Promise<void> {
  const browser = makeBrowser(front.url);
  await browser.open("/?lang=en");
  await browser.open(askFor(front, app, { params: { login_hint: login.username } }).address);
  expect((await getUserTokens(front, app, login, { browser })).access_token).toBeTruthy();
  expect((await browser.open("/account")).status).toBe(200);
  const staff = makeBrowser(front.url);
  await signIn(staff, login);
  await setUpTotp(staff, service.clock);
  const later = makeBrowser(front.url);
  await signIn(later, login);
  await later.open(`/card/${"a".repeat(24)}`);
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
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
