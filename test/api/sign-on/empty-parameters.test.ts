import { expect, test } from "vitest";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, basic, exchange, getUserTokens, passPages, postToken } from "../../support/token.ts";
import { startWorld } from "./world.ts";

// RFC 6749 sections 3.1 and 3.2: a parameter without a value counts as omitted.

const world = startWorld();
const empty = (...names: string[]) => Object.fromEntries(names.map((name) => [name, ""]));

test("the authorization endpoint passes over every parameter without a value", async () => {
  const { service, login } = world;
  const app = await world.app();
  const others = [
    "response_mode",
    "prompt",
    "max_age",
    "login_hint",
    "id_token_hint",
    "ui_locales",
    "display",
    "claims",
  ];
  const odd = ["acr_values", "request", "request_uri", "registration", "resource", "dpop_jkt", "rat", "hinted", "lang"];
  const params = empty(...others, ...odd, "state", "nonce");
  const asked = askFor(service, app, { params });
  const repeated = `${asked.address}&scope=&client_id=&state=`;
  const browser = makeBrowser(service.url);
  const { url } = await passPages(browser, await browser.open(repeated), login);
  const back = new URL(url);
  expect([back.searchParams.get("error"), back.searchParams.has("state")]).toEqual([null, false]);
  expect((await exchange(service, app, { browser, asked, back })).status).toBe(200);
});

test("an empty code challenge is none, so an app that must use PKCE is refused, and one that need not is not", async () => {
  const { service } = world;
  const params = empty("code_challenge", "code_challenge_method");
  const ask = async (pkceRequired: boolean) => {
    const { address } = askFor(service, await world.app({ pkceRequired }), { params });
    return (await fetch(address, { redirect: "manual" })).headers.get("location")!;
  };
  expect(await ask(true)).toContain("error=invalid_request");
  expect(await ask(false)).toContain("/interaction/");
});

test("the token endpoint passes over every parameter without a value, a secret beside Basic too", async () => {
  const { service } = world;
  const app = await world.app();
  const beside = ["client_secret", "client_id", "client_assertion", "client_assertion_type", "scope", "resource"];
  const more = ["code", "redirect_uri", "code_verifier", "refresh_token", "authorization_details"];
  const fields = { grant_type: "client_credentials", ...empty(...beside, ...more) };
  const { status, body } = await postToken(service, app, fields);
  expect([status, body.scope]).toEqual([200, ""]);
  const tokens = await getUserTokens(service, app, world.login, { scopes: ["openid", "offline_access"] });
  const refresh = {
    grant_type: "refresh_token",
    refresh_token: tokens.refresh_token!,
    ...empty("client_secret", "scope"),
  };
  expect((await postToken(service, app, refresh)).status).toBe(200);
});

test("introspection and revocation do too", async () => {
  const { service } = world;
  const app = await world.app();
  const { body } = await postToken(service, app, { grant_type: "client_credentials" });
  const fields = { token: body.access_token, ...empty("client_secret", "client_id", "token_type_hint") };
  const post = (path: string) =>
    fetch(`${service.url}${path}`, { method: "POST", headers: basic(app), body: new URLSearchParams(fields) });
  expect(await (await post("/oauth2/introspect")).json()).toMatchObject({ active: true });
  expect((await post("/oauth2/revoke")).status).toBe(200);
  expect(await (await post("/oauth2/introspect")).json()).toEqual({ active: false });
});

test("the logout endpoint does too, by address and by form", async () => {
  const { service, login } = world;
  const backUri = "http://127.0.0.1:4999/";
  const app = await world.app({ postLogoutRedirectUris: [backUri] });
  for (const method of ["GET", "POST"]) {
    const { browser, id_token: hint } = await getUserTokens(service, app, login);
    const params = {
      id_token_hint: hint!,
      post_logout_redirect_uri: backUri,
      ...empty("client_id", "state", "logout_hint"),
    };
    const address = `${service.url}/oauth2/sessions/logout`;
    const fields = new URLSearchParams(params);
    const to =
      method === "GET"
        ? `${address}?${fields.toString()}`
        : new URL((await browser.once(address, { method, body: fields })).headers.get("location")!, address).href;
    const page = await browser.open(to);
    expect(page.status, method).toBe(200);
    expect((await browser.submit(page, "/confirm", { logout: "yes" })).url).toBe(backUri);
  }
});
