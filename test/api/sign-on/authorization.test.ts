import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, exchange, getUserTokens, giveLogin, passPages, postToken, signOn } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();

const errorOf = (address: string) => new URL(address).searchParams.get("error");

test("success and denial answer 302, the form itself 303", async () => {
  const { service, login } = world;
  const app = await world.app();
  const browser = makeBrowser(service.url);
  const { address } = askFor(service, app);
  const first = await browser.once(address, {});
  expect(first.status).toBe(302);
  const page = await browser.submit(await browser.open(first.headers.get("location")!), "/login", login);
  expect(new URL(page.url).pathname).toMatch(/^\/interaction\//);
  const csrf =
    /name="csrf"[^>]*value="([^"]+)"/.exec(page.html)?.[1] ?? /value="([^"]+)"[^>]*name="csrf"/.exec(page.html)![1]!;
  const body = new URLSearchParams({ csrf, shown: "openid" });
  const posted = await browser.once(`${page.url}/consent`, { method: "POST", body });
  expect(posted.status).toBe(303);
  const resumed = await browser.once(posted.headers.get("location")!, {});
  expect(resumed.status).toBe(302);
  expect(resumed.headers.get("location")).toContain(`${app.redirectUri}?code=`);
});

test("a denial goes back as access_denied with the state, and is not remembered", async () => {
  const { service, login } = world;
  const app = await world.app();
  const browser = makeBrowser(service.url);
  const asked = askFor(service, app);
  const consent = await browser.submit(await browser.open(asked.address), "/login", login);
  const denied = await browser.submit(consent, "/cancel");
  const back = new URL(denied.url).searchParams;
  expect([denied.status, back.get("error"), back.get("state"), back.get("iss")]).toEqual([
    302,
    "access_denied",
    asked.state,
    service.url,
  ]);
  expect((await browser.open(askFor(service, app).address)).html).toContain("/consent");
});

test.each([
  ["an unknown app", { client_id: "nobody" }],
  ["a redirect URI that is not registered", { redirect_uri: "http://127.0.0.1:4999/callback/" }],
  ["a redirect URI with another query", { redirect_uri: "http://127.0.0.1:4999/callback?x=1" }],
  ["a redirect URI with another port", { redirect_uri: "http://127.0.0.1:5000/callback" }],
])("%s is an error page, never a redirect", async (_what, params) => {
  const app = await world.app();
  const shown = await makeBrowser(world.service.url).open(askFor(world.service, app, { params }).address);
  expect([shown.status, shown.headers.get("location"), shown.headers.get("content-type")]).toEqual([
    400,
    null,
    "text/html; charset=utf-8",
  ]);
});

test("a missing redirect URI is an error page though only one is registered", async () => {
  const app = await world.app();
  const address = new URL(askFor(world.service, app).address);
  address.searchParams.delete("redirect_uri");
  expect((await makeBrowser(world.service.url).open(address.href)).status).toBe(400);
});

test.each([
  ["a scope that the app was not granted", { scope: "openid urn:schultor:idm:v1:people:read" }, "invalid_scope"],
  ["a scope that nobody knows", { scope: "openid e-mail" }, "invalid_scope"],
  ["offline_access for an app without it", { scope: "openid offline_access" }, "invalid_scope"],
  ["another response mode", { response_mode: "web_message" }, "unsupported_response_mode"],
  ["another response type", { response_type: "token" }, "unsupported_response_type"],
  ["an unknown prompt", { prompt: "select_account" }, "invalid_request"],
  ["prompt none with another", { prompt: "none login" }, "invalid_request"],
  ["plain PKCE", { code_challenge_method: "plain" }, "invalid_request"],
  ["a NUL character", { nonce: "a\0b" }, "invalid_request"],
  ["a negative max_age", { max_age: "-1" }, "invalid_request"],
  ["a request object", { request: "eyJ" }, "request_not_supported"],
])("%s goes back to the app as an error", async (_what, params, error) => {
  const app = await world.app({ scopes: ["openid", "profile"] });
  const asked = askFor(world.service, app, { params });
  const shown = await makeBrowser(world.service.url).open(asked.address);
  const back = new URL(shown.url).searchParams;
  expect([shown.status, back.get("error"), back.get("state"), back.get("iss")]).toEqual([
    302,
    error,
    asked.state,
    world.service.url,
  ]);
});

test("PKCE is required unless a confidential app is allowed to go without", async () => {
  const { service, login } = world;
  const [strict, lax, spa] = [
    await world.app(),
    await world.app({ pkceRequired: false }),
    await world.app({ type: "PUBLIC" }),
  ];
  for (const app of [strict, spa]) {
    const shown = await makeBrowser(service.url).open(askFor(service, app, { pkce: false }).address);
    expect(errorOf(shown.url)).toBe("invalid_request");
  }
  expect((await getUserTokens(service, lax, login, { pkce: false })).token_type).toBe("bearer");
  expect((await getUserTokens(service, spa, login)).token_type).toBe("bearer");
});

test("a wrong verifier or redirect URI gives no tokens", async () => {
  const { service, login } = world;
  const app = await world.app();
  const signedOn = await signOn(service, app, login);
  const wrong = { ...signedOn, asked: { ...signedOn.asked, verifier: "x".repeat(43) } };
  expect((await exchange(service, app, wrong)).body.error).toBe("invalid_grant");
  expect((await exchange(service, { ...app, redirectUri: "http://127.0.0.1:4999/other" }, signedOn)).body.error).toBe(
    "invalid_grant",
  );
});

test("prompt=none tells whether somebody is signed in and has agreed", async () => {
  const { service, login } = world;
  const [app, other] = [await world.app(), await world.app()];
  const none = { params: { prompt: "none" } };
  expect(errorOf((await makeBrowser(service.url).open(askFor(service, app, none).address)).url)).toBe("login_required");
  const { browser } = await getUserTokens(service, app, login);
  expect(errorOf((await browser.open(askFor(service, other, none).address)).url)).toBe("consent_required");
  expect(new URL((await browser.open(askFor(service, app, none).address)).url).searchParams.get("code")).toBeTruthy();
});

test("prompt=login asks for the password again, prompt=consent for agreement", async () => {
  const { service, login } = world;
  const app = await world.app();
  const { browser } = await getUserTokens(service, app, login);
  const again = await browser.open(askFor(service, app, { params: { prompt: "login" } }).address);
  expect(again.html).toContain("/login");
  expect(new URL((await browser.submit(again, "/login", login)).url).searchParams.get("code")).toBeTruthy();
  const consent = await browser.open(askFor(service, app, { params: { prompt: "consent" } }).address);
  expect(consent.html).toContain("/consent");
  expect(new URL((await browser.submit(consent, "/consent")).url).searchParams.get("code")).toBeTruthy();
});

test("max_age=0 asks for the password again", async () => {
  const { service, login } = world;
  const app = await world.app();
  const { browser } = await getUserTokens(service, app, login);
  expect((await browser.open(askFor(service, app, { params: { max_age: "0" } }).address)).html).toContain("/login");
  expect(
    new URL((await browser.open(askFor(service, app, { params: { max_age: "1000" } }).address)).url).searchParams.get(
      "code",
    ),
  ).toBeTruthy();
});

test("id_token_hint with prompt=none asks about that very user", async () => {
  const { service, login, make, school } = world;
  const app = await world.app();
  const other = await giveLogin(service.db, await make.person({ school }));
  const [one, two] = [await getUserTokens(service, app, login), await getUserTokens(service, app, other)];
  const ask = (hint: string) => askFor(service, app, { params: { prompt: "none", id_token_hint: hint } }).address;
  expect(new URL((await one.browser.open(ask(one.id_token!))).url).searchParams.get("code")).toBeTruthy();
  expect(errorOf((await one.browser.open(ask(two.id_token!))).url)).toBe("login_required");
  expect(errorOf((await one.browser.open(ask(`${one.id_token!.slice(0, -8)}AAAAAAAA`))).url)).toBe("invalid_request");
});

test("offline_access needs no prompt=consent, and rat and sid stay on refresh", async () => {
  const { service, login } = world;
  const app = await world.app();
  const first = await getUserTokens(service, app, login, { scopes: ["openid", "offline_access"] });
  expect(first.scope.split(" ").sort()).toEqual(["offline_access", "openid"]);
  const again = await getUserTokens(service, app, login, {
    scopes: ["openid", "offline_access"],
    browser: first.browser,
  });
  expect(again.refresh_token).toBeTruthy();
  const refreshed = await postToken(service, app, { grant_type: "refresh_token", refresh_token: first.refresh_token! });
  const [before, after] = [decodeJwt(first.id_token!), decodeJwt(refreshed.body.id_token!)];
  expect({ rat: after["rat"], sid: after["sid"], auth_time: after["auth_time"] }).toEqual({
    rat: before["rat"],
    sid: before["sid"],
    auth_time: before["auth_time"],
  });
  expect(after.jti).not.toBe(before.jti);
});

test("an app that did not ask for offline_access gets no refresh token", async () => {
  const app = await world.app();
  expect((await getUserTokens(world.service, app, world.login)).refresh_token).toBeUndefined();
});

test("a request by POST is answered like one by GET", async () => {
  const { service } = world;
  const app = await world.app();
  const url = new URL(askFor(service, app).address);
  const browser = makeBrowser(service.url);
  const response = await browser.once(url.pathname, { method: "POST", body: url.searchParams });
  expect(response.status).toBe(303);
  expect((await browser.open(response.headers.get("location")!)).html).toContain("/login");
});

test("forms without their token are refused", async () => {
  const { service, login } = world;
  const app = await world.app();
  const browser = makeBrowser(service.url);
  const page = await browser.open(askFor(service, app).address);
  const refused = await browser.submit(page, "/login", { ...login, csrf: "x" });
  expect(refused.status).toBe(422);
  expect((await passPages(browser, refused, login)).url).toContain("code=");
});

test("two tabs at the login page both come through, also when another person signs in at the second", async () => {
  const { service, login, make, school } = world;
  const [app, second] = [await world.app(), await world.app()];
  const other = await giveLogin(service.db, await make.person({ school }));
  for (const next of [login, other]) {
    const browser = makeBrowser(service.url);
    const tabs = [
      await browser.open(askFor(service, app).address),
      await browser.open(askFor(service, second).address),
    ] as const;
    expect((await passPages(browser, tabs[0], login)).url).toContain("code=");
    expect((await passPages(browser, tabs[1], next)).url).toContain("code=");
  }
});
