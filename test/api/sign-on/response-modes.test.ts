import { expect, test } from "vitest";
import { makeBrowser, readForm, type Shown } from "../../support/browser.ts";
import { askFor, getUserTokens, passPages, postToken, readCallback, type TestApp } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();
const modes = ["query", "fragment", "form_post"] as const;
type Mode = (typeof modes)[number];

const ask = (app: TestApp, mode: Mode, params: Record<string, string> = {}) =>
  askFor(world.service, app, { params: { response_mode: mode, ...params } });
const paramsOf = (shown: Shown) => Object.fromEntries(readCallback(world.service, shown)!.params);

/** Where the parameters are: what the address of the redirect has, or the action of the form. */
function placeOf(shown: Shown): "query" | "fragment" | "form" {
  if (shown.url.startsWith(world.service.url)) return "form";
  return new URL(shown.url).hash === "" ? "query" : "fragment";
}
const placeOfMode = { query: "query", fragment: "fragment", form_post: "form" };

test.each(modes)("with response_mode=%s the app gets code, state and iss, and exchanges the code", async (mode) => {
  const { service, login } = world;
  const app = await world.app();
  const browser = makeBrowser(service.url);
  const asked = ask(app, mode);
  const shown = await passPages(browser, await browser.open(asked.address), login);
  const callback = readCallback(service, shown)!;
  const { code = "", ...others } = Object.fromEntries(callback.params);
  expect([placeOf(shown), callback.address, others]).toEqual([
    placeOfMode[mode],
    app.redirectUri,
    { state: asked.state, iss: service.url },
  ]);
  const fields = { code, redirect_uri: app.redirectUri, code_verifier: asked.verifier };
  expect((await postToken(service, app, { grant_type: "authorization_code", ...fields })).status).toBe(200);

  // Signed in and agreed, the person sees no page in between.
  const again = await browser.open(ask(app, mode).address);
  expect([placeOf(again), Object.keys(paramsOf(again)).sort()]).toEqual([placeOfMode[mode], ["code", "iss", "state"]]);
});

test.each<[what: string, params: Record<string, string>, error: string, description: RegExp]>([
  ["a silent request", { prompt: "none" }, "login_required", /authentication is required/],
  ["a silent request with a hint", { prompt: "none", login_hint: "somebody" }, "login_required", /is required/],
  ["a scope without a grant", { scope: "openid urn:schultor:idm:v1:people:read" }, "invalid_scope", /people:read/],
  ["an unknown scope", { scope: "openid nonsense" }, "invalid_scope", /nonsense/],
  ["a wrong prompt", { prompt: "create" }, "invalid_request", /prompt/],
  ["a wrong challenge", { code_challenge_method: "plain" }, "invalid_request", /code_challenge_method/],
])("%s is the same error in every mode", async (_what, params, error, description) => {
  const { service } = world;
  const app = await world.app({ scopes: ["openid", "profile"] });
  const seen = [];
  for (const mode of modes) {
    const shown = await makeBrowser(service.url).open(ask(app, mode, { ...params, state: "the-state" }).address);
    expect([mode, placeOf(shown)]).toEqual([mode, placeOfMode[mode]]);
    seen.push(paramsOf(shown));
  }
  expect(seen[0]).toMatchObject({
    error,
    error_description: expect.stringMatching(description) as string,
    error_uri: `${service.url}/docs/errors/${error}`,
    state: "the-state",
    iss: service.url,
  });
  expect(seen.slice(1)).toEqual([seen[0], seen[0]]);
});

test("a denial reaches the app in every mode, and is not remembered", async () => {
  const { service, login } = world;
  const browser = makeBrowser(service.url);
  const app = await world.app();
  for (const mode of modes) {
    const asked = ask(app, mode, { prompt: "login" });
    const consent = await browser.submit(await browser.open(asked.address), "/login", login);
    const denied = await browser.submit(consent, "/cancel");
    expect([placeOf(denied), paramsOf(denied)]).toMatchObject([
      placeOfMode[mode],
      { error: "access_denied", state: asked.state, iss: service.url },
    ]);
  }
});

test("a hint never learns in any mode whether the person agreed", async () => {
  const { service, login } = world;
  const { browser } = await getUserTokens(service, await world.app(), login);
  const other = await world.app();
  for (const mode of modes) {
    const { address } = ask(other, mode, { prompt: "none", login_hint: login.username });
    expect([mode, paramsOf(await browser.open(address))]).toMatchObject([mode, { error: "login_required" }]);
    expect(await (await browser.once(address)).text(), mode).not.toContain("consent");
  }
});

test("the text of a redirect has the same address as its header", async () => {
  const app = await world.app();
  for (const accept of ["text/html", "text/plain"]) {
    const response = await fetch(ask(app, "query", { scope: "openid nonsense" }).address, {
      redirect: "manual",
      headers: { accept },
    });
    const address = response.headers.get("location")!;
    const text = (await response.text()).replaceAll("&amp;", "&");
    expect([response.headers.get("content-type"), text]).toEqual([
      `${accept}; charset=utf-8`,
      `Redirecting to ${address}.`,
    ]);
  }
});

const refused = {
  error: "unsupported_response_mode",
  error_description:
    "response_mode must be query, fragment, form_post or missing; form_post needs an http or https redirect URI",
};

test("another response mode is refused in the query, with the ones that there are", async () => {
  const app = await world.app();
  for (const mode of ["web_message", "jwt", "query.jwt", "Fragment", "form_post fragment"]) {
    const shown = await makeBrowser(world.service.url).open(ask(app, mode as Mode).address);
    expect([mode, placeOf(shown), paramsOf(shown)]).toMatchObject([mode, "query", refused]);
  }
});

test("a response mode that is sent twice is refused in the query", async () => {
  const { address } = ask(await world.app(), "fragment");
  const shown = await makeBrowser(world.service.url).open(`${address}&response_mode=form_post`);
  expect([placeOf(shown), paramsOf(shown)["error"]]).toEqual(["query", "invalid_request"]);
});

test("a scheme of an app's own gets no form, which browsers would not send there; loopback gets one", async () => {
  const redirectUris = ["org.example.app:/callback", "http://127.0.0.1/callback", "http://localhost:4321/callback?x=1"];
  const [scheme, ...loopback] = redirectUris as [string, ...string[]];
  const app = await world.app({ type: "PUBLIC", redirectUris });
  const open = async (redirectUri: string, mode: Mode) => {
    const response = await fetch(ask({ ...app, redirectUri }, mode, { prompt: "none" }).address, {
      redirect: "manual",
    });
    return { location: response.headers.get("location"), html: await response.text() };
  };
  const { location } = await open(scheme, "form_post");
  expect(Object.fromEntries(new URL(location!).searchParams)).toMatchObject(refused);
  expect((await open(scheme, "fragment")).location).toMatch(/^org\.example\.app:\/callback#error=login_required/);
  for (const redirectUri of loopback)
    expect(readForm(await open(redirectUri, "form_post"), "")).toMatchObject({ action: redirectUri });
});

test("the page with the form runs one script of ours, posts to the app alone, and is neither kept nor framed", async () => {
  const app = await world.app({ redirectUris: ["https://app.example/callback"] });
  const response = await fetch(ask(app, "form_post", { prompt: "none" }).address);
  const html = await response.text();
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "cache-control": "no-store",
    "content-type": "text/html; charset=utf-8",
    "referrer-policy": "strict-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  });
  expect(response.headers.get("content-security-policy")!.split("; ").sort()).toEqual([
    "base-uri 'none'",
    "connect-src 'self'",
    "default-src 'none'",
    "form-action 'self' https: http:",
    "frame-ancestors 'none'",
    "img-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
  ]);
  const scripts = [...html.matchAll(/<script([^>]*)>([^<]*)/g)].map(([, attributes, content]) => [attributes, content]);
  expect(scripts).toEqual([[expect.stringMatching(/^ src="\/assets\/form-post-[0-9a-f]+\.js" defer$/), ""]]);
  expect(html.match(/<form/g)).toHaveLength(1);
});

test("no value can end its attribute on the page with the form", async () => {
  const app = await world.app({ redirectUris: ["https://app.example/callback?a=1&b='2'"] });
  const state = `"><script>alert(1)</script>&quot;'<`;
  const shown = await makeBrowser(world.service.url).open(ask(app, "form_post", { prompt: "none", state }).address);
  expect(shown.html).not.toContain("<script>alert");
  expect(readForm(shown, "")).toMatchObject({ action: app.redirectUri, fields: { state } });
});

test("the page with the form is in the language of the person", async () => {
  const app = await world.app();
  for (const [language, params, button] of [
    ["de", {}, "Weiter"],
    ["en", {}, "Continue"],
    ["de", { ui_locales: "en" }, "Continue"],
  ] as const) {
    const { address } = ask(app, "form_post", { prompt: "none", ...params });
    const html = await (await fetch(address, { headers: { "accept-language": language } })).text();
    expect(/<button[^>]*>([^<]*)/.exec(html)?.[1]).toBe(button);
  }
});

test("an app without PKCE reads in every mode that this ends", async () => {
  const app = await world.app({ pkceRequired: false });
  for (const mode of modes) {
    const { address } = askFor(world.service, app, { pkce: false, params: { response_mode: mode, prompt: "none" } });
    const { headers } = await fetch(address, { redirect: "manual" });
    expect([mode, headers.has("deprecation"), headers.has("sunset")]).toEqual([mode, true, true]);
  }
});
