import { expect, test } from "vitest";
import { demoLogin, startDemo } from "../support/api.ts";
import { makeBrowser } from "../support/browser.ts";

const service = await startDemo();

async function signIn(person: number) {
  const browser = makeBrowser(service.url, { "accept-language": "en" });
  const tiles = await browser.submit(await browser.open("/sign-in"), "/sign-in", demoLogin(person));
  return { browser, tiles };
}

const linksOf = (html: string) =>
  [...html.matchAll(/<a class="tile" href="([^"]+)"[^>]*>([^<]+)</g)].map(([, href, name]) => ({
    name,
    url: new URL(href!.replaceAll("&amp;", "&")),
  }));

test("nobody signed in: the start page offers to sign in, in the language of the browser or the one picked", async () => {
  const browser = makeBrowser(service.url, { "accept-language": "en" });
  expect((await browser.open("/")).html).toContain('href="/sign-in">Sign in</a>');
  expect((await browser.open("/?lang=de")).html).toContain("Anmelden");
});

test("a pupil sees by name the apps that their school opened for them", async () => {
  const { tiles } = await signIn(2);
  expect(tiles.html).toContain("Signed in as Bo Muster");
  expect(linksOf(tiles.html).map(({ name }) => name)).toEqual(["Altapp", "Browserapp", "Lernapp", "Mathewelt"]);
});

test("a tile opens the app's login address in a new tab, with issuer and a hint that does not show who it is", async () => {
  const { tiles } = await signIn(2);
  expect(tiles.html).toMatch(/target="_blank" rel="noopener"/);
  const lernapp = linksOf(tiles.html).find(({ name }) => name === "Lernapp")!.url;
  expect(lernapp.origin + lernapp.pathname).toBe("http://127.0.0.1:4000/login");
  expect(lernapp.searchParams.get("iss")).toBe(service.url);
  expect(lernapp.searchParams.get("login_hint")).toMatch(/^[A-Za-z0-9_-]{20,}$/);
  expect(lernapp.href).not.toMatch(/c0000000|student\.goethe/);
});

test("someone whose school opened one app sees that one", async () => {
  expect(linksOf((await signIn(9)).tiles.html).map(({ name }) => name)).toEqual(["Mathewelt"]);
});

test("behind a proxy that speaks https the session's cookie is for https only, and the tiles name the https issuer", async () => {
  const secure = await startDemo({ env: { ISSUER_URL: "https://login.example.org" } });
  const browser = makeBrowser(secure.url);
  const form = await browser.open("/sign-in");
  const body = new URLSearchParams({ csrf: /name="csrf" value="([^"]+)"/.exec(form.html)![1]!, ...demoLogin(2) });
  const answer = await browser.once("/sign-in", { method: "POST", body });
  const cookies = answer.headers.getSetCookie();
  expect(cookies.length).toBeGreaterThan(0);
  for (const cookie of cookies) expect(cookie).toMatch(/; secure/i);
  const [first] = linksOf((await browser.open("/")).html);
  expect(first?.url.searchParams.get("iss")).toBe("https://login.example.org");
});

test("a deleted person cannot sign in to the platform", async () => {
  const { tiles } = await signIn(5);
  expect(tiles.url).toContain("/sign-in");
  expect(linksOf(tiles.html)).toEqual([]);
});

test("the button on the tiles page signs out", async () => {
  const { browser, tiles } = await signIn(2);
  const action = /<form method="get" action="([^"]+)"/.exec(tiles.html)![1]!;
  const confirm = await browser.open(action);
  const done = await browser.submit(confirm, "/confirm", { logout: "yes" });
  expect(done.status).toBe(200);
  expect((await browser.open("/")).html).toContain("/sign-in");
});
