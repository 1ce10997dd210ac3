import { randomBytes } from "node:crypto";
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  jwtVerify,
  type JSONWebKeySet,
  type JWTPayload,
} from "jose";
import { expect } from "vitest";
import type { Browser, Shown } from "../../../support/browser.ts";
import { passPages, readCallback, type Callback, type TestApp, type TokenBody } from "../../../support/token.ts";
import { discover, type Answer, type Params, type RuleWorld } from "../world.ts";
import { expectIdToken, expectText, isEqualOrAbsent } from "./conditions.ts";

export type Outcome = { result: "pass" | "warning" | "not applicable" | "differs"; why: string };
export type Module = (suite: Suite) => Promise<Outcome> | Promise<void>;

export const warning = (why: string): Outcome => ({ result: "warning", why });
export const notApplicable = (why: string): Outcome => ({ result: "not applicable", why });
export const differs = (why: string): Outcome => ({ result: "differs", why });

export type Authorized = {
  state: string;
  nonce: string | null;
  page: Shown;
  asksPassword: boolean;
  callback: Callback | null;
};
export type Flow = { code: string; fields: Params; tokens: TokenBody; claims: JWTPayload; browser: Browser };
type Options = { app?: TestApp; browser?: Browser; method?: "GET" | "POST"; headers?: Record<string, string> };

/** Plays the suite's client: registered without PKCE, which the suite's requests do not use. */
export function makeSuite(world: RuleWorld, client: TestApp, second: TestApp, mode?: "form_post") {
  const { service } = world;

  async function authorize(changes: Params = {}, options: Options = {}): Promise<Authorized> {
    const { app = client, browser = world.browser, method = "GET" } = options;
    const [state, nonce] = [randomBytes(8).toString("hex"), randomBytes(8).toString("hex")];
    const wanted: Params = {
      client_id: app.clientId,
      redirect_uri: app.redirectUri,
      scope: "openid",
      state,
      nonce,
      response_type: "code",
      response_mode: mode ?? null,
      ...changes,
    };
    const sent = Object.entries(wanted).filter((entry): entry is [string, string] => entry[1] !== null);
    const query = new URLSearchParams(sent);
    const first =
      method === "GET"
        ? await browser.open(`/oauth2/auth?${query.toString()}`)
        : await postRequest(browser, "/oauth2/auth", query);
    const asksPassword = first.html.includes('type="password"');
    const page = await passPages(browser, first, world.login);
    const callback = readCallback(service, page);
    if (callback !== null) expectMode(page, callback);
    return { state: wanted["state"] ?? "", nonce: wanted["nonce"] ?? null, page, asksPassword, callback };
  }

  /** With form_post the suite wants a POST, urlencoded, and neither code nor error in the address. */
  function expectMode({ html }: Shown, { address }: Callback): void {
    const form = /<form [^>]*data-form-post/.exec(html)?.[0] ?? null;
    expect(form === null).toBe(mode === undefined);
    if (form === null) return;
    expect([form.includes(' method="post"'), form.includes("enctype")]).toEqual([true, false]);
    expect(address).not.toMatch(/[?#&](code|error)=/);
  }

  async function postRequest(browser: Browser, path: string, body: URLSearchParams): Promise<Shown> {
    const response = await browser.once(path, { method: "POST", body });
    return browser.open(response.headers.get("location")!);
  }

  /** Authorization, callback, exchange, ID token and userinfo, each with the checks that every module makes. */
  async function complete(changes: Params = {}, options: Options & { fields?: Params } = {}): Promise<Flow> {
    const { app = client, browser = world.browser, headers, fields = {} } = options;
    const authorized = await authorize(changes, options);
    const { params, address } = authorized.callback!;
    const redirectUri = new URL(app.redirectUri);
    expect([params.get("error_description"), params.get("error")]).toEqual([null, null]);
    expect([address, params.get("state")]).toEqual([redirectUri.origin + redirectUri.pathname, authorized.state]);
    expect([null, service.url]).toContain(params.get("iss"));
    const code = params.get("code")!;
    const exchange: Params = { grant_type: "authorization_code", code, redirect_uri: app.redirectUri, ...fields };
    const answer = await world.token(exchange, headers ? { app, headers } : { app });
    const claims = await checkTokens(answer, app, authorized);
    expect((await userinfo(answer.body.access_token)).status).toBe(200);
    return { code, fields: exchange, tokens: answer.body, claims, browser };
  }

  async function checkTokens({ status, body }: Answer, app: TestApp, { nonce }: { nonce: string | null }) {
    expect([status, body.error]).toEqual([200, undefined]);
    expect(body.access_token).toMatch(/^[\x20-\x7e]+$/);
    expect(body.token_type.toLowerCase()).toBe("bearer");
    expect(Number.isInteger(body.expires_in) && body.expires_in > 0).toBe(true);
    await verify(body.id_token!);
    const claims = decodeJwt(body.id_token!);
    expectIdToken(claims, { issuer: service.url, clientId: app.clientId, now: new Date() });
    isEqualOrAbsent(claims["nonce"], nonce);
    return claims;
  }

  const keys = async () => (await (await fetch(`${service.url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;

  /** Checks a signature with the one published key that the token names. */
  async function verify(token: string): Promise<void> {
    const published = await keys();
    const { kid } = decodeProtectedHeader(token);
    expect(published.keys.filter((key) => key.kid === kid)).toHaveLength(1);
    await jwtVerify(token, createLocalJWKSet(published), { currentDate: service.clock(), clockTolerance: 300 });
  }

  const userinfo = (token: string, init: RequestInit = {}) =>
    fetch(`${service.url}/oauth2/userinfo`, { headers: { authorization: `Bearer ${token}` }, ...init });

  async function readUserinfo(response: Response, { claims }: Flow): Promise<Record<string, unknown>> {
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    const info = (await response.json()) as Record<string, unknown>;
    expect(info["sub"]).toBe(claims.sub);
    expectText(info);
    return info;
  }

  /** The checks of an error at the redirect URI; returns the error. */
  function errorOf({ callback, state }: Authorized): string {
    const { params } = callback!;
    expect(params.get("state")).toBe(state);
    expect([null, service.url]).toContain(params.get("iss"));
    expect(params.get("code")).toBeNull();
    const expected = ["error", "error_description", "error_uri", "state", "session_state", "iss"];
    expect([...params.keys()].filter((name) => !expected.includes(name))).toEqual([]);
    expect(params.get("error_description") ?? "").toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/);
    expect(params.get("error_uri") ?? "").toMatch(/^[\x21\x23-\x5b\x5d-\x7e]*$/);
    return params.get("error")!;
  }

  /** The checks of a refused exchange or refresh. */
  function expectInvalidGrant({ status, headers, body }: Answer): void {
    expect([status, body.error]).toEqual([400, "invalid_grant"]);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(body.error_description ?? "").toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/);
  }

  function expectErrorPage({ callback, page }: Authorized): void {
    expect([callback, page.status, page.url.startsWith(service.url)]).toEqual([null, 400, true]);
  }

  const discovery = () => discover(world);
  return {
    world,
    client,
    second,
    authorize,
    complete,
    checkTokens,
    keys,
    verify,
    userinfo,
    readUserinfo,
    errorOf,
    expectInvalidGrant,
    expectErrorPage,
    discovery,
  };
}

export type Suite = ReturnType<typeof makeSuite>;
