import { createLocalJWKSet, decodeJwt, jwtVerify, type JSONWebKeySet, type JWTPayload } from "jose";
import { beforeAll, expect } from "vitest";
import { checkCalledUri } from "../../../src/access/index.ts";
import { makeBrowser, type Browser } from "../../support/browser.ts";
import { answer, startReceiver, type Receiver } from "../../support/receiver.ts";
import { askFor, getUserTokens, postToken, type TestApp, type TokenBody } from "../../support/token.ts";
import { startRuleWorld, tryRules } from "./world.ts";

const world = startRuleWorld({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" });
const backUri = "http://127.0.0.1:4999/bye";
const logoutPath = "/oauth2/sessions/logout";

let receiver: Receiver;
let app: TestApp;
beforeAll(async () => {
  receiver = await startReceiver();
  const backchannelLogoutUri = await checkCalledUri(`${receiver.url}/logout`, { allowPrivateAddresses: true });
  const addresses = { postLogoutRedirectUris: [backUri], backchannelLogoutUri };
  app = await world.makeApp({ ...addresses, idTokenAlgorithm: "ES256" });
});

type SignedIn = TokenBody & { browser: Browser };
type Params = Record<string, string>;
const signIn = (scopes: readonly ("openid" | "offline_access")[] = ["openid"]): Promise<SignedIn> =>
  getUserTokens(world.service, app, world.login, { scopes });
const at = (params: Params) => `${world.service.url}${logoutPath}?${new URLSearchParams(params).toString()}`;
const logOut = async ({ browser }: SignedIn, params: Params) =>
  browser.submit(await browser.open(at(params)), "/confirm", { logout: "yes" });
const isSignedIn = async ({ browser }: SignedIn) =>
  new URL((await browser.open(askFor(world.service, app).address)).url).searchParams.has("code");
const isGood = async (token: string) => (await world.read("/oauth2/userinfo", token)).status === 200;

const tellLogouts = () => world.service.runJob("sign-on.tellLogouts");

/** The logout tokens that the app was sent since. */
async function told(work: () => unknown): Promise<{ token: string; payload: JWTPayload }[]> {
  await tellLogouts();
  receiver.received.length = 0;
  await work();
  await tellLogouts();
  return receiver.received.map(({ body }) => {
    const token = new URLSearchParams(body).get("logout_token")!;
    return { token, payload: decodeJwt(token) };
  });
}

tryRules({
  "RP-Initiated Logout 2: a person who stays is signed in as before, and so is one whose form has no token":
    async () => {
      const who = await signIn();
      await who.browser.submit(await who.browser.open(at({ id_token_hint: who.id_token! })), "/confirm");
      expect(await isSignedIn(who)).toBe(true);
      const forged = { logout: "yes", xsrf: "forged", csrf: "forged" };
      const refused = await who.browser.submit(await who.browser.open(at({})), "/confirm", forged);
      expect([refused.status >= 400, await isSignedIn(who)]).toEqual([true, true]);
    },
  "RP-Initiated Logout 2 and 6: the page is in the language of ui_locales, and shown in no frame": async () => {
    const { html, headers } = await (await signIn()).browser.open(at({ ui_locales: "en" }));
    expect(html).toContain('<html lang="en"');
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  },
  "RP-Initiated Logout 2 and 3: the browser goes to the registered address, with the state": async () => {
    const params = { client_id: app.clientId, post_logout_redirect_uri: backUri, state: "a b&c" };
    const back = `${backUri}?state=a+b%26c`;
    expect((await logOut(await signIn(), params)).url).toBe(back);
    // Without a session at once, with no form that needs a script.
    expect((await makeBrowser(world.service.url).open(at(params))).url).toBe(back);
  },
  "RP-Initiated Logout 2: a hint that is posted is in no address, and names the app as one in the query does":
    async () => {
      const { browser, id_token } = await signIn();
      const post = (fields: Params) => browser.once(logoutPath, { method: "POST", body: new URLSearchParams(fields) });
      const fields = { post_logout_redirect_uri: backUri, state: "s1" };
      const asked = await post({ ...fields, id_token_hint: id_token! });
      expect(asked.status).toBe(303);
      const location = new URL(asked.headers.get("location")!, world.service.url);
      expect(Object.fromEntries(location.searchParams)).toEqual({ ...fields, client_id: app.clientId });
      expect((await browser.open(location.href)).html).toContain("/confirm");
      const wrong: Params[] = [
        { id_token_hint: `${id_token!.slice(0, -4)}AAAA` },
        { id_token_hint: "x" },
        { id_token_hint: id_token!, client_id: world.app.clientId },
      ];
      for (const hint of wrong) {
        const refused = await post({ ...fields, ...hint });
        expect([refused.status, refused.headers.get("location")]).toEqual([400, null]);
      }
    },
  "RP-Initiated Logout 3: an address that is not registered exactly, or of another app, is never called": async () => {
    const { browser, id_token } = await signIn();
    const evil = "https://evil.example/";
    const wrong: Params[] = [
      { id_token_hint: id_token!, client_id: world.app.clientId },
      { client_id: world.app.clientId, post_logout_redirect_uri: backUri },
      ...[`${backUri}/`, evil, "javascript:alert(1)"].map((uri) => ({
        id_token_hint: id_token!,
        post_logout_redirect_uri: uri,
      })),
    ];
    for (const params of wrong) {
      const page = await browser.open(at(params));
      expect([params, page.status, page.headers.get("location")]).toEqual([params, 400, null]);
    }
    const left = await makeBrowser(world.service.url).open(at({ post_logout_redirect_uri: evil }));
    expect([left.status, new URL(left.url).origin]).toEqual([200, world.service.url]);
  },
  "Back-Channel Logout 2.4 and 4: each logout token is the app's own, for two minutes, and good for nothing else":
    async () => {
      const who = await signIn();
      const [notice, ...others] = await told(() => logOut(who, {}));
      const [next] = await told(async () => logOut(await signIn(), {}));
      expect([others, next!.payload.jti === notice!.payload.jti]).toEqual([[], false]);
      const keys = (await (await fetch(`${world.service.url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
      const { payload, protectedHeader } = await jwtVerify(notice!.token, createLocalJWKSet(keys), {
        issuer: world.service.url,
        audience: app.clientId,
        currentDate: world.service.clock(),
      });
      expect(protectedHeader).toMatchObject({ typ: "logout+jwt", alg: "ES256" });
      const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
      expect(payload).toMatchObject({ sub: world.pupil, sid: decodeJwt(who.id_token!)["sid"], events });
      expect(payload).not.toHaveProperty("nonce");
      expect([payload.exp! > payload.iat!, payload.exp! <= payload.iat! + 120]).toEqual([true, true]);
      // 2.5: the request carries no credentials of anybody.
      const { headers } = receiver.received[0]!;
      expect([headers.authorization, headers.cookie]).toEqual([undefined, undefined]);
      expect(await isGood(notice!.token)).toBe(false);
      const { browser } = await signIn();
      const hinted = askFor(world.service, app, { params: { prompt: "none", id_token_hint: notice!.token } });
      expect(new URL((await browser.open(hinted.address)).url).searchParams.has("code")).toBe(false);
    },
  "Back-Channel Logout 2.5: an app that does not answer with 2xx is told again": async () => {
    const where = { where: { action: "logged_out" as const, personId: world.pupil } };
    const before = await world.service.db.prisma.audit.count(where);
    const statuses = [500, 302, 200];
    let first = true;
    for (const status of statuses) {
      const work = async () => {
        receiver.script(answer(status, status === 302 ? { location: "/elsewhere" } : {}));
        await (first ? logOut(await signIn(), {}) : world.service.clock.forwardSeconds(61));
      };
      expect([status, await told(work)]).toMatchObject([status, [{}]]);
      first = false;
    }
    expect(await told(() => world.service.clock.forwardSeconds(61))).toEqual([]);
    expect(await world.service.db.prisma.audit.count(where)).toBe(before + 1);
  },
  "Back-Channel Logout 2.7 and 4: tokens of the session end, offline access and other browsers live on": async () => {
    const [who, elsewhere] = [await signIn(["openid", "offline_access"]), await signIn()];
    await logOut(who, {});
    expect(await isGood(who.access_token)).toBe(false);
    const fields = { grant_type: "refresh_token", refresh_token: who.refresh_token! };
    expect((await postToken(world.service, app, fields)).status).toBe(200);
    expect([await isGood(elsewhere.access_token), await isSignedIn(elsewhere)]).toEqual([true, true]);
    // Who is not signed in logs nobody out.
    expect(await told(() => makeBrowser(world.service.url).open(at({ client_id: app.clientId })))).toEqual([]);
    expect(await isSignedIn(elsewhere)).toBe(true);
  },
});
