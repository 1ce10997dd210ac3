import { expect, test } from "vitest";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, passPages, readCallback } from "../../support/token.ts";
import { discover, peopleRead, startRuleWorld, type Params } from "./world.ts";

const world = startRuleWorld();
const callback = "http://127.0.0.1:4999/callback";

/** A fault that is told to the person on a page of the service, and to no address of the request. */
async function expectPage(params: Params): Promise<void> {
  const { status, to, headers } = await world.authorize(params);
  expect([status, to, headers.get("content-type")]).toEqual([400, null, "text/html; charset=utf-8"]);
}

async function expectError(params: Params, error: string): Promise<void> {
  const answer = await world.authorize(params);
  expect([answer.status, answer.error, answer.code, answer.to?.searchParams.get("state")]).toEqual([
    302,
    error,
    null,
    params["state"] === null ? null : answer.state,
  ]);
  expect(answer.to?.href.startsWith(`${callback}?`)).toBe(true);
}

async function expectCode(params: Params, scope?: string): Promise<URL> {
  const { code, to } = await world.authorize(params, scope === undefined ? {} : { scope });
  expect(code, to?.href).not.toBeNull();
  return to!;
}

test("RFC 6749 3.1: the authorization endpoint answers GET", async () => {
  await expectCode({});
});

test("RFC 6749 3.1: the authorization endpoint answers POST", async () => {
  const { pathname, searchParams } = new URL(askFor(world.service, world.app).address);
  const sent = await world.browser.once(pathname, { method: "POST", body: searchParams });
  const answer = await world.browser.once(new URL(sent.headers.get("location")!, world.service.url).href);
  expect(new URL(answer.headers.get("location")!).searchParams.has("code")).toBe(true);
});

test("RFC 6749 3.1: a parameter without a value counts as omitted", async () => {
  await expectError({ response_type: "" }, "invalid_request");
  const back = await expectCode({ state: "" });
  expect(back.searchParams.has("state")).toBe(false);
});

test("RFC 6749 3.1: a parameter that nobody knows is ignored", async () => {
  await expectCode({ extra: "foobar" });
});

test("RFC 6749 3.1: a repeated parameter is an invalid request", async () => {
  for (const name of ["client_id", "redirect_uri", "response_type", "scope", "state", "nonce"]) {
    const url = new URL(askFor(world.service, world.app).address);
    url.searchParams.append(name, url.searchParams.get(name)!);
    const { status, headers } = await world.browser.once(url.href);
    const location = headers.get("location");
    if (location === null) expect([name, status]).toEqual([name, 400]);
    else expect([name, new URL(location).searchParams.get("error")]).toEqual([name, "invalid_request"]);
  }
});

test("RFC 6749 3.1.1: a request without a response type is an invalid request", async () => {
  await expectError({ response_type: null }, "invalid_request");
});

test("RFC 6749 3.1.2: a redirect URI with a fragment cannot be registered", async () => {
  await expect(world.makeApp({ redirectUris: [`${callback}#part`] })).rejects.toMatchObject({ code: "uri_refused" });
});

test("RFC 6749 3.1.2: a redirect URI that is not absolute cannot be registered", async () => {
  await expect(world.makeApp({ redirectUris: ["/callback"] })).rejects.toMatchObject({ code: "uri_refused" });
});

test("RFC 6749 3.1.2: the query of a registered redirect URI is kept in the answer", async () => {
  const redirectUri = `${callback}?tenant=a%20b&x=`;
  const app = await world.makeApp({ redirectUris: [redirectUri] });
  const { to } = await world.authorize({ prompt: "none" }, { app });
  expect([to!.searchParams.get("tenant"), to!.searchParams.get("x"), to!.searchParams.get("error")]).toEqual([
    "a b",
    "",
    "consent_required",
  ]);
});

test("RFC 6749 3.1.2.3: a request names its redirect URI, also where only one is registered", async () => {
  await expectPage({ redirect_uri: null });
});

test("RFC 6749 3.1.2.4: an unregistered redirect URI is told to the person and gets no redirect", async () => {
  await expectPage({ redirect_uri: "https://evil.example/callback" });
});

test("RFC 6749 3.1.2.5: the pages of a sign-on load no script of others", async () => {
  const page = await makeBrowser(world.service.url).open(askFor(world.service, world.app).address);
  for (const [, source] of page.html.matchAll(/<(?:script|link|img)[^>]+(?:src|href)="([^"]+)"/g))
    expect(new URL(source!, world.service.url).origin).toBe(world.service.url);
  expect(page.headers.get("content-security-policy")).toMatch(/(default|script)-src 'self'/);
});

test("RFC 6749 3.3: the order of scopes does not matter", async () => {
  await expectCode({}, `${peopleRead} profile openid`);
  await expectCode({}, `openid profile ${peopleRead}`);
});

test("RFC 6749 3.3: scopes are case-sensitive", async () => {
  await expectError({ scope: "OpenID" }, "invalid_scope");
});

test("RFC 6749 4.1.1: an unknown client is told to the person", async () => {
  await expectPage({ client_id: "nobody" });
});

test("RFC 6749 4.1.1: a request without a client id is told to the person", async () => {
  await expectPage({ client_id: null });
});

test("RFC 6749 4.1.1: the state comes back unchanged", async () => {
  for (const state of ["plain", 'a b+c%20&"\\/é', "?#&=/+", "%41%00", "€😀", "<script>alert(1)</script>"])
    expect((await expectCode({ state })).searchParams.get("state")).toBe(state);
});

test("RFC 6749 4.1.2: code and state come back in the query", async () => {
  const back = await expectCode({});
  expect([back.hash, back.searchParams.has("code"), back.searchParams.has("state")]).toEqual(["", true, true]);
});

test("RFC 6749 4.1.2: an answer to a request without state has none", async () => {
  expect((await expectCode({ state: null })).searchParams.has("state")).toBe(false);
});

test("RFC 6749 4.1.2.1: an error carries the state of the request", async () => {
  await expectError({ scope: "nonsense" }, "invalid_scope");
});

test("RFC 6749 4.1.2.1: an unknown response type is unsupported_response_type", async () => {
  await expectError({ response_type: "nonsense" }, "unsupported_response_type");
});

test("RFC 6749 4.1.2.1: a scope that the client was not given is invalid_scope", async () => {
  await expectError({ scope: "openid urn:schultor:admin:v1:write" }, "invalid_scope");
});

test("RFC 6749 4.1.2.1: a person who refuses is access_denied", async () => {
  const { service, login } = world;
  const browser = makeBrowser(service.url);
  const page = await browser.open(askFor(service, await world.makeApp()).address);
  const denied = await browser.submit(await browser.submit(page, "/login", login), "/cancel");
  expect(new URL(denied.url).searchParams.get("error")).toBe("access_denied");
});

test("RFC 6749 4.1.2.1: descriptions of errors hold printable ASCII without quote and backslash", async () => {
  for (const params of [
    { scope: 'no"such\\scope' },
    { prompt: "grün" },
    { response_type: "\u0000" },
    { max_age: "☃" },
  ]) {
    const { to, status } = await world.authorize(params);
    expect(status).toBe(302);
    expect(to!.searchParams.get("error")).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    expect(to!.searchParams.get("error_description") ?? "").toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/);
  }
});

test("RFC 6749 4.2: the implicit grant is not offered", async () => {
  await expectError({ response_type: "token" }, "unsupported_response_type");
});

test("RFC 6749 10.5: a code is long and never the same", async () => {
  const codes = await Promise.all(Array.from({ length: 5 }, async () => (await world.authorize()).code!));
  expect(new Set(codes).size).toBe(5);
  for (const code of codes) expect(code).toMatch(/^[\w-]{43,}$/);
});

test("RFC 6749 10.12: the sign-in form of a sign-on is refused without its token", async () => {
  const browser = makeBrowser(world.service.url);
  const page = await browser.open(askFor(world.service, world.app).address);
  expect((await browser.submit(page, "/login", { ...world.login, csrf: "forged" })).status).toBe(422);
});

test("RFC 6749 10.12: the consent form of a sign-on is refused without its token", async () => {
  const browser = makeBrowser(world.service.url);
  const page = await browser.open(askFor(world.service, await world.makeApp()).address);
  const consent = await browser.submit(page, "/login", world.login);
  const refused = await browser.submit(consent, "/consent", { csrf: "forged" });
  expect([refused.status, refused.url.includes("code=")]).toEqual([403, false]);
});

test("RFC 6749 10.12: an interaction of one browser is nothing in another", async () => {
  const page = await makeBrowser(world.service.url).open(askFor(world.service, world.app).address);
  const other = await makeBrowser(world.service.url).open(page.url);
  expect(other.status).toBeGreaterThanOrEqual(400);
  expect(other.html).not.toContain('type="password"');
});

test("RFC 6749 10.13: the pages of a sign-on are shown in no frame", async () => {
  const { headers } = await makeBrowser(world.service.url).open(askFor(world.service, world.app).address);
  expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});

test("RFC 6749 10.14: no parameter becomes markup of a page", async () => {
  const evil = `"><script>alert(1)</script>`;
  for (const params of [{ login_hint: evil }, { client_id: evil }, { ui_locales: evil }, { redirect_uri: evil }]) {
    const url = new URL(askFor(world.service, world.app, { params }).address);
    expect((await makeBrowser(world.service.url).open(url.href)).html).not.toContain("<script>alert");
  }
});

test("RFC 6749 10.15: an unregistered address is never redirected to, whatever else is wrong", async () => {
  for (const params of [{ scope: "x" }, { response_type: "x" }, { prompt: "none" }, { client_id: "nobody" }]) {
    const { to, status } = await world.authorize({ redirect_uri: "https://evil.example/", ...params });
    expect([status, to]).toEqual([400, null]);
  }
});

const almost: [how: string, uri: string][] = [
  ["RFC 9700 2.1: a redirect URI with something behind it is refused", `${callback}/more`],
  ["RFC 9700 2.1: a redirect URI with a slash behind it is refused", `${callback}/`],
  ["RFC 9700 2.1: a redirect URI with a query added is refused", `${callback}?x=1`],
  ["RFC 9700 2.1: a redirect URI with a fragment added is refused", `${callback}#x`],
  ["RFC 9700 2.1: a redirect URI in other letters is refused", "http://127.0.0.1:4999/CALLBACK"],
  ["RFC 9700 2.1: a redirect URI with another scheme is refused", "https://127.0.0.1:4999/callback"],
  ["RFC 9700 2.1: a redirect URI with another port is refused", "http://127.0.0.1:5000/callback"],
  ["RFC 9700 2.1: a redirect URI with credentials added is refused", "http://a:b@127.0.0.1:4999/callback"],
  ["RFC 9700 2.1: a redirect URI that another spelling leads to is refused", "http://127.0.0.1:4999/./callback"],
  ["RFC 9700 2.1: a redirect URI with an escaped letter is refused", "http://127.0.0.1:4999/%63allback"],
  ["RFC 9700 2.1: a redirect URI with a space around it is refused", ` ${callback}`],
  [
    "RFC 9700 4.1.1: a redirect URI whose host begins like the registered one is refused",
    "http://127.0.0.1:4999.evil.example/callback",
  ],
  [
    "RFC 9700 4.1.1: a redirect URI whose credentials look like the host is refused",
    "http://127.0.0.1:4999@evil.example/callback",
  ],
  [
    "RFC 9700 4.1.1: a redirect URI with a backslash in place of a slash is refused",
    "http://127.0.0.1:4999\\@evil.example/callback",
  ],
  ["RFC 9700 4.1.1: a redirect URI that climbs out of its folder is refused", "http://127.0.0.1:4999/callback/../evil"],
  ["RFC 9700 4.1.3: a javascript URI is refused", "javascript:alert(document.domain)"],
];
test.each(almost)("%s", async (_name, uri) => {
  await expectPage({ redirect_uri: uri });
});

test("RFC 9700 2.1: a redirect URI of another client is refused", async () => {
  const other = await world.makeApp({ redirectUris: ["https://other.example/callback"] });
  await expectPage({ redirect_uri: other.redirectUri });
});

test("RFC 9700 4.1.3: a pattern cannot be registered as a redirect URI", async () => {
  for (const uri of ["https://*.example.org/callback", "https://example.org/*"])
    await expect(world.makeApp({ redirectUris: [uri] })).rejects.toMatchObject({ code: "uri_refused" });
});

test("RFC 9700 4.1.3: an address that runs script cannot be registered as a redirect URI", async () => {
  for (const uri of ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "blob:https://a.example/1"])
    for (const type of ["PUBLIC", "CONFIDENTIAL"] as const)
      await expect(world.makeApp({ type, redirectUris: [uri] })).rejects.toMatchObject({ code: "uri_refused" });
});

test("RFC 9700 2.1.2: no response type gives tokens at the authorization endpoint", async () => {
  for (const type of ["token", "id_token", "id_token token", "code token", "code id_token", "code id_token token"])
    await expectError({ response_type: type }, "unsupported_response_type");
});

test("RFC 9700 2.1.2: no response mode puts a token into the answer", async () => {
  for (const mode of ["query", "fragment", "form_post"]) {
    const { to, text } = await world.authorize({ response_mode: mode, scope: "openid offline_access" });
    const { params } = readCallback(world.service, { url: to?.href ?? world.service.url, html: text })!;
    expect([mode, [...params.keys()].sort()]).toEqual([mode, ["code", "iss", "state"]]);
  }
});

test("RFC 9700 2.6: discovery names the response types and methods that exist", async () => {
  expect(await discover(world)).toMatchObject({
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    response_modes_supported: ["query", "fragment", "form_post"],
  });
});

test("RFC 9700 4.2.4: the pages of a sign-on send no referrer", async () => {
  const { headers } = await makeBrowser(world.service.url).open(askFor(world.service, world.app).address);
  expect(headers.get("referrer-policy")).toMatch(/^(no-referrer|same-origin)$/);
});

test("RFC 9700 4.3.2: no access token stands in an address", async () => {
  const { to } = await world.authorize();
  expect([...to!.searchParams.keys()].sort()).toEqual(["code", "iss", "state"]);
});

test("RFC 9700 4.4.2: each answer says which issuer it is from", async () => {
  const [good, bad] = [await world.authorize(), await world.authorize({ scope: "x" })];
  for (const { to } of [good, bad]) expect(to!.searchParams.get("iss")).toBe(world.service.url);
});

test("RFC 9700 4.11.2: a request that cannot be trusted is answered by a page without a link to that address", async () => {
  const { text } = await world.authorize({ redirect_uri: "https://evil.example/" });
  expect(text).not.toMatch(/(href|src|action|content)="[^"/]*(https?:)?\/\/evil/);
});

test("RFC 9700 4.11.2: with prompt=none an unregistered address gets nothing", async () => {
  await expectPage({ prompt: "none", redirect_uri: "https://evil.example/" });
});

test("RFC 9700 4.12: what was typed is not sent on to the app by the redirect after a form", async () => {
  const browser = makeBrowser(world.service.url);
  const page = await browser.open(askFor(world.service, world.app).address);
  const csrf = /name="csrf"[^>]*value="([^"]+)"|value="([^"]+)"[^>]*name="csrf"/.exec(page.html)!;
  const body = new URLSearchParams({ ...world.login, csrf: csrf[1] ?? csrf[2]! });
  const posted = await browser.once(`${page.url}/login`, { method: "POST", body });
  expect(posted.status).toBe(303);
});

test("RFC 9700 4.13: forwarding headers of a stranger change no address", async () => {
  const { address } = askFor(world.service, world.app, { params: { prompt: "none" } });
  const { headers } = await fetch(address, {
    redirect: "manual",
    headers: { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https", forwarded: "host=evil.example" },
  });
  expect(headers.get("location")).not.toContain("evil");
  expect(new URL(headers.get("location")!).searchParams.get("iss")).toBe(world.service.url);
});

test("RFC 9700 4.16: an old browser reads too that no frame may show the page", async () => {
  const { headers } = await makeBrowser(world.service.url).open(askFor(world.service, world.app).address);
  expect([headers.get("x-frame-options") ?? "DENY", headers.get("content-security-policy")]).toEqual([
    "DENY",
    expect.stringContaining("frame-ancestors 'none'"),
  ]);
});

test("RFC 9700 4.17.2: an answer is never posted to another window", async () => {
  const { to, code } = await world.authorize({ response_mode: "web_message" });
  expect([code, to?.searchParams.get("error")]).toEqual([null, "unsupported_response_mode"]);
});

test("RFC 9207 2: a code comes with the issuer", async () => {
  expect((await expectCode({})).searchParams.getAll("iss")).toEqual([world.service.url]);
});

test("RFC 9207 2: an error comes with the issuer", async () => {
  const { to } = await world.authorize({ prompt: "none" }, { browser: makeBrowser(world.service.url) });
  expect([to!.searchParams.get("error"), to!.searchParams.getAll("iss")]).toEqual([
    "login_required",
    [world.service.url],
  ]);
});

test("RFC 9207 2: a person's refusal comes with the issuer", async () => {
  const browser = makeBrowser(world.service.url);
  const page = await browser.open(askFor(world.service, world.app).address);
  const denied = await browser.submit(page, "/cancel");
  expect(new URL(denied.url).searchParams.getAll("iss")).toEqual([world.service.url]);
});

test("RFC 9207 2: the issuer is the one of discovery, without query and fragment", async () => {
  const iss = (await expectCode({})).searchParams.get("iss")!;
  expect(iss).toBe((await discover(world))["issuer"]);
  expect([new URL(iss).search, new URL(iss).hash]).toEqual(["", ""]);
});

test("RFC 9207 3: discovery says that answers carry the issuer", async () => {
  expect((await discover(world))["authorization_response_iss_parameter_supported"]).toBe(true);
});

test("RFC 9207 2.4: a request cannot choose the issuer of its answer", async () => {
  const back = await expectCode({ iss: "https://evil.example" });
  expect(back.searchParams.getAll("iss")).toEqual([world.service.url]);
});

test("RFC 8252 7.1: a scheme of the app's own is a reversed domain name", async () => {
  const native = await world.makeApp({ type: "PUBLIC", redirectUris: ["com.example.app:/callback"] });
  const browser = makeBrowser(world.service.url);
  const shown = await passPages(browser, await browser.open(askFor(world.service, native).address), world.login);
  expect(shown.url).toMatch(/^com\.example\.app:\/callback\?/);
  await expect(world.makeApp({ type: "PUBLIC", redirectUris: ["app:/callback"] })).rejects.toMatchObject({
    code: "uri_refused",
  });
});

test("RFC 8252 7.2: an https address of the app is taken, and only as registered", async () => {
  const native = await world.makeApp({ type: "PUBLIC", redirectUris: ["https://app.example/callback"] });
  const { to, status } = await world.authorize({ redirect_uri: "https://app.example/other" }, { app: native });
  expect([status, to]).toEqual([400, null]);
});

test("RFC 8252 8.4: an app with a scheme of its own registers the whole address", async () => {
  const native = await world.makeApp({ type: "PUBLIC", redirectUris: ["com.example.app:/callback"] });
  const { status, to } = await world.authorize({ redirect_uri: "com.example.app:/other" }, { app: native });
  expect([status, to]).toEqual([400, null]);
});

test("RFC 8252 8.1: an app without a secret needs PKCE", async () => {
  const params = { code_challenge: null, code_challenge_method: null };
  expect((await world.authorize(params, { app: world.spa })).error).toBe("invalid_request");
});

test("RFC 8252 8.4: a confidential app gets no scheme of its own", async () => {
  await expect(world.makeApp({ redirectUris: ["com.example.app:/callback"] })).rejects.toMatchObject({
    code: "uri_refused",
  });
});

test("RFC 8252 8.6: who has not agreed to an app without a secret is asked", async () => {
  const native = await world.makeApp({ type: "PUBLIC", redirectUris: ["com.example.app:/callback"] });
  expect((await world.authorize({}, { app: native })).to!.pathname).toMatch(/^\/interaction\//);
});
