import { createLocalJWKSet, decodeJwt, jwtVerify, type JSONWebKeySet, type JWTPayload } from "jose";
import { beforeAll, expect } from "vitest";
import { checkCalledUri } from "../../../src/access/index.ts";
import { makeBrowser, type Browser, type Shown } from "../../support/browser.ts";
import { answer, startReceiver, type Receiver } from "../../support/receiver.ts";
import { askFor, getUserTokens, postToken, type TestApp, type TokenBody } from "../../support/token.ts";
import { startRuleWorld, tryRules } from "./world.ts";

const world = startRuleWorld({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" });
const backUri = "http://127.0.0.1:4999/bye";

let receiver: Receiver;
let app: TestApp;
beforeAll(async () => {
  receiver = await startReceiver();
  const backchannelLogoutUri = await checkCalledUri(`${receiver.url}/logout`, {
    allowPrivateAddresses: true,
  });
  app = await world.makeApp({ postLogoutRedirectUris: [backUri], backchannelLogoutUri });
});

type SignedIn = TokenBody & { browser: Browser };
const signIn = (scopes: readonly ("openid" | "offline_access")[] = ["openid"]): Promise<SignedIn> =>
  getUserTokens(world.service, app, world.login, { scopes });
const at = (params: Record<string, string>) =>
  `${world.service.url}/oauth2/sessions/logout?${new URLSearchParams(params).toString()}`;
const confirm = (browser: Browser, page: Shown) => browser.submit(page, "/confirm", { logout: "yes" });
const logOut = async ({ browser }: SignedIn, params: Record<string, string>) =>
  confirm(browser, await browser.open(at(params)));
const isSignedIn = async ({ browser }: SignedIn) =>
  new URL((await browser.open(askFor(world.service, app).address)).url).searchParams.has("code");
const isGood = async (token: string) => (await world.read("/oauth2/userinfo", token)).status === 200;

const tellLogouts = () => world.service.runJob("sign-on.tellLogouts");

/** The logout tokens that the app was sent since. */
async function told(work: () => Promise<unknown>): Promise<{ token: string; payload: JWTPayload }[]> {
  await tellLogouts();
  receiver.received.length = 0;
  await work();
  await tellLogouts();
  return receiver.received.map(({ body }) => {
    const token = new URLSearchParams(body).get("logout_token")!;
    return { token, payload: decodeJwt(token) };
  });
}

let notice: { token: string; payload: JWTPayload };
let loggedOut: SignedIn;
let livesOn: boolean[];
beforeAll(async () => {
  loggedOut = await signIn(["openid", "offline_access"]);
  const elsewhere = await signIn();
  [notice] = (await told(() => logOut(loggedOut, {}))) as [typeof notice];
  livesOn = [await isGood(elsewhere.access_token), await isSignedIn(elsewhere)];
});

tryRules({
  "RP-Initiated Logout 2: the endpoint answers POST": async () => {
    const { browser, id_token } = await signIn();
    const body = new URLSearchParams({ id_token_hint: id_token! });
    const sent = await browser.once("/oauth2/sessions/logout", { method: "POST", body });
    expect(sent.status).toBe(303);
    expect((await browser.open(sent.headers.get("location")!)).status).toBe(200);
  },
  "RP-Initiated Logout 2: a person who stays is signed in as before": async () => {
    const who = await signIn();
    await who.browser.submit(await who.browser.open(at({ id_token_hint: who.id_token! })), "/confirm");
    expect(await isSignedIn(who)).toBe(true);
  },
  "RP-Initiated Logout 2: an expired ID token is taken as a hint": async () => {
    const who = await signIn();
    world.service.clock.forwardSeconds(4000);
    expect((await who.browser.open(at({ id_token_hint: who.id_token! }))).status).toBe(200);
  },
  "RP-Initiated Logout 2: client_id and a hint of another app do not fit": async () => {
    const { browser, id_token } = await signIn();
    const page = await browser.open(at({ id_token_hint: id_token!, client_id: world.app.clientId }));
    expect(page.status).toBe(400);
  },
  "RP-Initiated Logout 2: the state comes back": async () => {
    const who = await signIn();
    const params = { id_token_hint: who.id_token!, post_logout_redirect_uri: backUri, state: "a b&c" };
    expect((await logOut(who, params)).url).toBe(`${backUri}?state=a+b%26c`);
  },
  "RP-Initiated Logout 2: ui_locales chooses the language of the page": async () => {
    const { browser } = await signIn();
    expect((await browser.open(at({ ui_locales: "en" }))).html).toContain('<html lang="en"');
  },
  "RP-Initiated Logout 2: the form of the logout is refused without its token": async () => {
    const who = await signIn();
    const page = await who.browser.open(at({}));
    const refused = await who.browser.submit(page, "/confirm", { logout: "yes", xsrf: "forged", csrf: "forged" });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(await isSignedIn(who)).toBe(true);
  },
  "RP-Initiated Logout 3: after a logout the browser goes to the registered address": async () => {
    const who = await signIn();
    const left = await logOut(who, { client_id: app.clientId, post_logout_redirect_uri: backUri });
    expect(left.url).toBe(backUri);
  },
  "RP-Initiated Logout 3: an address that is not registered exactly is never called": async () => {
    const { browser, id_token } = await signIn();
    for (const uri of [`${backUri}/`, `${backUri}?x=1`, "https://evil.example/", "javascript:alert(1)"]) {
      const page = await browser.open(at({ id_token_hint: id_token!, post_logout_redirect_uri: uri }));
      expect([uri, page.status, page.headers.get("location")]).toEqual([uri, 400, null]);
    }
  },
  "RP-Initiated Logout 3: without a session an address without its app is never called either": async () => {
    const left = await makeBrowser(world.service.url).open(at({ post_logout_redirect_uri: "https://evil.example/" }));
    expect([left.status, new URL(left.url).origin]).toEqual([200, world.service.url]);
  },
  "RP-Initiated Logout 3: an address of another app is never called": async () => {
    const { browser } = await signIn();
    const page = await browser.open(at({ client_id: world.app.clientId, post_logout_redirect_uri: backUri }));
    expect(page.status).toBe(400);
  },
  "RP-Initiated Logout 3.1: an address that runs script cannot be registered": () =>
    expect(world.makeApp({ postLogoutRedirectUris: ["javascript:alert(1)"] })).rejects.toMatchObject({
      code: "uri_refused",
    }),
  "RP-Initiated Logout 4: a fault is a page of the service": async () => {
    const browser = makeBrowser(world.service.url, { accept: "text/html" });
    const page = await browser.open(at({ id_token_hint: "x" }));
    expect([page.status, page.headers.get("content-type")]).toEqual([400, "text/html; charset=utf-8"]);
  },
  "RP-Initiated Logout 6: the page of the logout is shown in no frame": async () => {
    const { headers } = await (await signIn()).browser.open(at({}));
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  },
  "Back-Channel Logout 2.2: an address with a fragment cannot be registered": () =>
    expect(world.makeApp({ backchannelLogoutUri: `${receiver.url}/x#y` as never })).rejects.toMatchObject({
      code: "uri_refused",
    }),
  "Back-Channel Logout 2.4: a logout token verifies with the published keys, for this issuer and app": async () => {
    const keys = (await (await fetch(`${world.service.url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
    const verified = jwtVerify(notice.token, createLocalJWKSet(keys), {
      issuer: world.service.url,
      audience: app.clientId,
      currentDate: new Date(notice.payload.iat! * 1000),
    });
    await expect(verified).resolves.toMatchObject({ protectedHeader: { typ: "logout+jwt", alg: "RS256" } });
  },
  "Back-Channel Logout 2.4: each logout token has an id of its own": async () => {
    const who = await signIn();
    const [other] = await told(() => logOut(who, {}));
    expect(notice.payload.jti).toBeTypeOf("string");
    expect(other!.payload.jti).not.toBe(notice.payload.jti);
  },
  "Back-Channel Logout 2.4: a logout token expires within two minutes": () => {
    expect(notice.payload.exp! - notice.payload.iat!).toBeGreaterThan(0);
    expect(notice.payload.exp! - notice.payload.iat!).toBeLessThanOrEqual(120);
  },
  "Back-Channel Logout 2.5: the request carries no credentials of anybody": async () => {
    const who = await signIn();
    await told(() => logOut(who, {}));
    const { headers } = receiver.received[0]!;
    expect([headers.authorization, headers.cookie]).toEqual([undefined, undefined]);
  },
  "Back-Channel Logout 2.5: an app that does not answer is told again": async () => {
    const who = await signIn();
    receiver.script(answer(500));
    expect(await told(() => logOut(who, {}))).toHaveLength(1);
    receiver.script(answer(200));
    expect(await told(() => Promise.resolve(world.service.clock.forwardSeconds(61)))).toHaveLength(1);
  },
  "Back-Channel Logout 2.5: only apps that the session signed in to are told": async () => {
    const other = await getUserTokens(world.service, world.app, world.login);
    expect(await told(() => logOut(other, {}))).toEqual([]);
  },
  "Back-Channel Logout 2.7: tokens of the session end with it": async () => {
    const who = await signIn();
    await logOut(who, {});
    expect(await isGood(who.access_token)).toBe(false);
  },
  "Back-Channel Logout 2.7: refresh tokens with offline_access live on": async () => {
    const fields = { grant_type: "refresh_token", refresh_token: loggedOut.refresh_token! };
    expect((await postToken(world.service, app, fields)).status).toBe(200);
  },
  "Back-Channel Logout 4: the session of another browser lives on": () => expect(livesOn).toEqual([true, true]),
  "Back-Channel Logout 4: a logout token is no ID token and no access token": async () => {
    expect(await isGood(notice.token)).toBe(false);
    const { browser } = await signIn();
    const hinted = askFor(world.service, app, { params: { prompt: "none", id_token_hint: notice.token } });
    expect(new URL((await browser.open(hinted.address)).url).searchParams.has("code")).toBe(false);
  },
  "Back-Channel Logout 4: who is not signed in logs nobody out": async () =>
    expect(await told(() => makeBrowser(world.service.url).open(at({ client_id: app.clientId })))).toEqual([]),
});
