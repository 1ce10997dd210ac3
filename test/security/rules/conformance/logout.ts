import { randomBytes } from "node:crypto";
import { decodeJwt, generateKeyPair, SignJWT } from "jose";
import { expect } from "vitest";
import { makeBrowser, type Shown } from "../../../support/browser.ts";
import type { Receiver } from "../../../support/receiver.ts";
import type { TestApp } from "../../../support/token.ts";
import { unsigned } from "./conditions.ts";
import type { Flow, Module, Suite } from "./flow.ts";
import { expectAddresses } from "./others.ts";

export const backUri = "http://127.0.0.1:4999/post_logout_redirect";
const newState = () => randomBytes(64).toString("hex");

type LogoutApp = () => TestApp;
type Params = Record<string, string>;

async function signIn({ world, complete }: Suite, app: TestApp): Promise<Flow> {
  return complete({}, { app, browser: makeBrowser(world.service.url) });
}

const open = ({ browser }: Flow, params: Params) =>
  browser.open(`/oauth2/sessions/logout?${new URLSearchParams(params).toString()}`);
const logOut = async (flow: Flow, params: Params) =>
  flow.browser.submit(await open(flow, params), "/confirm", { logout: "yes" });

async function expectLoggedOut(suite: Suite, app: TestApp, { browser }: Flow): Promise<void> {
  const authorized = await suite.authorize({ prompt: "none", state: newState() }, { app, browser });
  expect(suite.errorOf(authorized)).toBe("login_required");
}

const expectOwnPage = ({ world }: Suite, { url, status }: Shown, wanted: number) =>
  expect([new URL(url).origin, status]).toEqual([world.service.url, wanted]);

/** The person sees a page of the service, is signed out, and the app's address is not called. */
const endsHere =
  (app: LogoutApp, paramsOf: (flow: Flow) => Params): Module =>
  async (suite) => {
    const flow = await signIn(suite, app());
    expectOwnPage(suite, await logOut(flow, paramsOf(flow)), 200);
    await expectLoggedOut(suite, app(), flow);
  };

/** The person sees an error, and the app's address is not called. */
const isRefused =
  (app: LogoutApp, paramsOf: (flow: Flow) => Params | Promise<Params>): Module =>
  async (suite) => {
    const flow = await signIn(suite, app());
    expectOwnPage(suite, await open(flow, { state: newState(), ...(await paramsOf(flow)) }), 400);
  };

async function forgeIdToken({ claims }: Flow): Promise<string> {
  const { privateKey } = await generateKeyPair("RS256");
  return new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "forged" }).sign(privateKey);
}

export const makeLogout = (app: LogoutApp): Record<string, Module> => ({
  "oidcc-rp-initiated-logout-discovery-endpoint-verification": async (suite) => {
    expect(await expectAddresses(suite)).toHaveProperty("end_session_endpoint");
  },
  "oidcc-rp-initiated-logout": async (suite) => {
    const flow = await signIn(suite, app());
    const state = newState();
    const id_token_hint = flow.tokens.id_token!;
    const left = await logOut(flow, { id_token_hint, post_logout_redirect_uri: backUri, state });
    expect(left.url).toBe(`${backUri}?state=${state}`);
    await expectLoggedOut(suite, app(), flow);
  },
  "oidcc-rp-initiated-logout-bad-post-logout-redirect-uri": isRefused(app, ({ tokens }) => ({
    id_token_hint: tokens.id_token!,
    post_logout_redirect_uri: `${backUri}/bad`,
  })),
  "oidcc-rp-initiated-logout-modified-id-token-hint": isRefused(app, ({ claims }) => ({
    id_token_hint: unsigned(claims),
    post_logout_redirect_uri: backUri,
  })),
  "oidcc-rp-initiated-logout-no-id-token-hint": endsHere(app, () => ({
    post_logout_redirect_uri: backUri,
    state: newState(),
  })),
  "oidcc-rp-initiated-logout-no-params": endsHere(app, () => ({})),
  "oidcc-rp-initiated-logout-no-post-logout-redirect-uri": endsHere(app, ({ tokens }) => ({
    id_token_hint: tokens.id_token!,
    state: newState(),
  })),
  "oidcc-rp-initiated-logout-no-state": async (suite) => {
    const flow = await signIn(suite, app());
    const params = { id_token_hint: flow.tokens.id_token!, post_logout_redirect_uri: backUri };
    expect((await logOut(flow, params)).url).toBe(backUri);
    await expectLoggedOut(suite, app(), flow);
  },
  "oidcc-rp-initiated-logout-only-state": endsHere(app, () => ({ state: newState() })),
  "oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri": isRefused(app, ({ tokens }) => ({
    id_token_hint: tokens.id_token!,
    post_logout_redirect_uri: `${backUri}?foo=bar`,
  })),
  "oidcc-rp-initiated-logout-bad-id-token-hint": isRefused(app, async (flow) => ({
    id_token_hint: await forgeIdToken(flow),
    post_logout_redirect_uri: backUri,
  })),
});

export const makeBackchannel = (app: LogoutApp, receiver: () => Receiver): Record<string, Module> => ({
  "oidcc-backchannel-logout-discovery-endpoint-verification": async (suite) => {
    const document = await expectAddresses(suite);
    expect(document).toMatchObject({ backchannel_logout_supported: true, backchannel_logout_session_supported: true });
    expect(document).toHaveProperty("end_session_endpoint");
  },
  "oidcc-backchannel-rp-initiated-logout": async (suite) => {
    const { runJob, url } = suite.world.service;
    const tell = () => runJob("sign-on.tellLogouts");
    const flow = await signIn(suite, app());
    await tell();
    receiver().received.length = 0;
    const state = newState();
    const id_token_hint = flow.tokens.id_token!;
    const left = await logOut(flow, { id_token_hint, post_logout_redirect_uri: backUri, state });
    await tell();
    const [notice, ...others] = receiver().received;
    expect(others).toEqual([]);
    expect(notice!.headers["content-type"]).toMatch(/^application\/x-www-form-urlencoded/);
    const form = new URLSearchParams(notice!.body);
    expect([...form.keys()]).toEqual(["logout_token"]);
    const token = form.get("logout_token")!;
    await suite.verify(token);
    const claims = decodeJwt(token);
    expect(claims).toMatchObject({ iss: url, sub: flow.claims.sub, sid: flow.claims["sid"] });
    expect([claims.aud].flat()).toContain(app().clientId);
    expect([typeof claims.iat, typeof claims.jti, "nonce" in claims]).toEqual(["number", "string", false]);
    expect(claims["events"]).toEqual({ "http://schemas.openid.net/event/backchannel-logout": {} });
    expect(left.url).toBe(`${backUri}?state=${state}`);
    await expectLoggedOut(suite, app(), flow);
  },
});
