import { createHmac, randomUUID } from "node:crypto";
import { decodeJwt, exportJWK, generateKeyPair, SignJWT, type JWTPayload } from "jose";
import { expect } from "vitest";
import type { NewConnection } from "../../../../src/upstream/index.ts";
import { signInThere } from "../../../support/upstream-browser.ts";
import {
  clientId,
  clientSecret,
  startUpstreamProvider,
  type UpstreamProvider,
} from "../../../support/upstream-provider.ts";
import { type AttackedSchool, type AttackWorld, reasonOn } from "../../upstream-world.ts";
import { unsigned } from "./conditions.ts";
import { notApplicable, type Module } from "./flow.ts";

type Body = Record<string, unknown>;
type After = NonNullable<UpstreamProvider["after"]>;
type Played = { provider: UpstreamProvider; school: AttackedSchool; outcome: string };
type Wishes = Partial<NewConnection> & { after?: After; authMethod?: "client_secret_basic" | "client_secret_post" };

/** Changes the ID token that the provider gives. */
const withIdToken =
  (make: (claims: JWTPayload, provider: UpstreamProvider) => Promise<string> | string) =>
  (provider: UpstreamProvider): After =>
  async (path, body) =>
    path === "/token" ? { ...body, id_token: await make(decodeJwt(String(body["id_token"])), provider) } : body;
const withClaims = (claims: object) => withIdToken((own, provider) => provider.sign({ ...own, ...claims }));

/** The modules for relying parties. `world` has the service; each module starts a provider, as the suite does. */
export function makeRelyingParty(world: () => AttackWorld): Record<string, Record<string, Module>> {
  async function prepare({ after: _after, authMethod, ...wishes }: Wishes = {}): Promise<Omit<Played, "outcome">> {
    const provider = await startUpstreamProvider(authMethod === undefined ? {} : { authMethod });
    const school = await world().connect(authMethod === undefined ? wishes : { ...wishes, authMethod }, provider);
    await world().makePerson(school, "1");
    return { provider, school };
  }

  /** A sign-in at a provider of its own. */
  async function play(change?: (provider: UpstreamProvider) => After, wishes: Wishes = {}): Promise<Played> {
    const { provider, school } = await prepare(wishes);
    if (change !== undefined) provider.after = change(provider);
    return { provider, school, outcome: await world().outcome(school, { import_id: "1" }, "account") };
  }

  let refused: ReturnType<typeof prepare> | undefined;
  /** All at one provider, because a sign-in that is refused leaves nothing behind. */
  const refuses =
    (change: (provider: UpstreamProvider) => After): Module =>
    async () => {
      const { provider, school } = await (refused ??= prepare());
      provider.after = change(provider);
      expect(await world().outcome(school, { import_id: "1" }, "account")).toBe("INVALID_RESPONSE");
      provider.after = null;
    };
  const withKeys =
    (change: (keys: Body[]) => Body[] | Promise<Body[]>, header: object) => (provider: UpstreamProvider) => {
      const signed = withIdToken((claims) => provider.sign(claims, header))(provider);
      return async (path: string, body: Body): Promise<Body> =>
        path === "/jwks" ? { keys: await change(body["keys"] as Body[]) } : signed(path, body);
    };
  const withoutKid = (keys: Body[]) => keys.map(({ kid: _kid, ...key }) => key);
  const twoKeys = async (keys: Body[]) => {
    const { publicKey } = await generateKeyPair("RS256", { extractable: true });
    return withoutKid([...keys, { ...(await exportJWK(publicKey)), alg: "RS256", use: "sig" }]);
  };
  const sigNone: Module = async (suite) => {
    await refuses(withIdToken((claims) => unsigned(claims)))(suite);
    return notApplicable("Refused: ID tokens must be signed, as the suite permits.");
  };

  const requestsTo = ({ requests }: UpstreamProvider, path: string) => requests.filter((one) => one.path === path);
  /** Both parts are form-encoded (RFC 6749 section 2.3.1). */
  const readBasic = (header = "") =>
    Buffer.from(header.replace(/^Basic /, ""), "base64")
      .toString()
      .split(":")
      .map(decodeURIComponent);

  const basic: Record<string, Module> = {
    "oidcc-client-test": async () => {
      const { provider, outcome, school } = await play((own) => (_path, body) => ((own.inIdToken = false), body));
      expect(outcome).toBe("signed in");
      const [request] = requestsTo(provider, "/auth");
      expect(Object.fromEntries(request!.query)).toMatchObject({
        response_type: "code",
        client_id: clientId,
        redirect_uri: `${world().service.url}/upstream/${school.connectionId}/callback`,
        scope: expect.stringMatching(/(^| )openid( |$)/) as string,
        state: expect.stringMatching(/./) as string,
        nonce: expect.stringMatching(/./) as string,
      });
      expect([requestsTo(provider, "/token").length, requestsTo(provider, "/token")[0]!.method]).toEqual([1, "POST"]);
    },
    "oidcc-client-test-invalid-iss": refuses(withClaims({ iss: "https://another.example" })),
    "oidcc-client-test-missing-sub": refuses(withClaims({ sub: undefined })),
    "oidcc-client-test-invalid-aud": refuses(withClaims({ aud: "another" })),
    "oidcc-client-test-missing-iat": refuses(withClaims({ iat: undefined })),
    "oidcc-client-test-kid-absent-single-jwks": async () => {
      expect((await play(withKeys(withoutKid, { kid: undefined }))).outcome).toBe("signed in");
    },
    "oidcc-client-test-kid-absent-multiple-jwks": async () => {
      expect((await play(withKeys(twoKeys, { kid: undefined }))).outcome).toBe("INVALID_RESPONSE");
    },
    "oidcc-client-test-idtoken-sig-rs256": async () => {
      expect((await play(withClaims({}))).outcome).toBe("signed in");
    },
    "oidcc-client-test-idtoken-sig-none": sigNone,
    "oidcc-client-test-invalid-sig-rs256": refuses(
      withIdToken(async (claims, provider) => {
        const [head, payload, signature] = (await provider.sign(claims)).split(".");
        const bytes = Buffer.from(signature!, "base64url").map((byte) => byte ^ 0x5a);
        return `${head}.${payload}.${Buffer.from(bytes).toString("base64url")}`;
      }),
    ),
    "oidcc-client-test-userinfo-invalid-sub": async () => {
      const { provider, school } = await prepare();
      signInThere(provider, { import_id: "1" }, "account");
      provider.inIdToken = false;
      provider.after = (path, body) => (path === "/me" ? { ...body, sub: "account-invalid" } : body);
      expect(await finish(provider, school)).toBe("INVALID_RESPONSE");
    },
    "oidcc-client-test-nonce-invalid": refuses(withClaims({ nonce: "another" })),
    "oidcc-client-test-scope-userinfo-claims": async () => {
      const { provider, school } = await prepare({ scopes: ["openid", "email"], ruleClaim: "import_id" });
      provider.after = (path, body) => (path === "/me" ? { ...body, import_id: "1" } : body);
      signInThere(provider, {}, "account");
      expect(await finish(provider, school)).toBe("signed in");
      expect(requestsTo(provider, "/auth")[0]!.query.get("scope")).toBe("openid email");
      expect(requestsTo(provider, "/me")).toHaveLength(1);
    },
    "oidcc-client-test-client-secret-basic": async () => {
      const { provider, outcome } = await play(undefined, { authMethod: "client_secret_basic" });
      const sent = readBasic(requestsTo(provider, "/token")[0]!.authorization);
      expect([outcome, sent]).toEqual(["signed in", [clientId, clientSecret]]);
    },
  };

  /** A sign-in whose accounts and answers are prepared. */
  async function finish(provider: UpstreamProvider, school: AttackedSchool): Promise<string> {
    const browser = world().newBrowser();
    const params = await provider.visit(await world().leave(browser, school));
    const shown = await world().comeBack(browser, school.connectionId, params);
    return (await world().isSignedIn(browser)) ? "signed in" : (reasonOn(shown) ?? String(shown.status));
  }

  const config: Record<string, Module> = {
    "oidcc-client-test-discovery-openid-config": async () => {
      const { provider, outcome } = await play();
      expect([outcome, requestsTo(provider, "/.well-known/openid-configuration").length]).toEqual(["signed in", 1]);
    },
    "oidcc-client-test-discovery-jwks-uri-keys": async () => {
      const { provider, outcome } = await play();
      expect([outcome, requestsTo(provider, "/jwks").length]).toEqual(["signed in", 1]);
    },
    "oidcc-client-test-discovery-issuer-mismatch": async () => {
      const { provider, school } = await prepare();
      provider.after = (path, body) =>
        path.startsWith("/.well-known") ? { ...body, issuer: `${provider.issuer}/another` } : body;
      const browser = world().newBrowser();
      await browser.open(`/s/${school.linkName}`);
      const page = await browser.open("/sign-in");
      const shown = await browser.submit(page, "/upstream", { connection: school.connectionId });
      expect([reasonOn(shown), requestsTo(provider, "/auth")]).toEqual(["INVALID_RESPONSE", []]);
    },
    "oidcc-client-test-idtoken-sig-none": sigNone,
    "oidcc-client-test-signing-key-rotation-just-before-signing": async () => {
      const { provider, school } = await prepare();
      const browser = world().newBrowser();
      signInThere(provider, { import_id: "1" }, "account");
      const left = await world().leave(browser, school);
      await provider.changeKey();
      const shown = await world().comeBack(browser, school.connectionId, await provider.visit(left));
      expect([reasonOn(shown), await world().isSignedIn(browser)]).toEqual([undefined, true]);
    },
    "oidcc-client-test-signing-key-rotation": async () => {
      const { provider, school } = await play();
      await provider.changeKey();
      expect(await world().outcome(school, { import_id: "1" }, "account")).toBe("signed in");
    },
  };

  const more: Record<string, Module> = {
    "oidcc-client-test-missing-aud": refuses(withClaims({ aud: undefined })),
    "oidcc-client-test-userinfo-bearer-header": async () => {
      const { provider, school } = await prepare();
      signInThere(provider, { import_id: "1" }, "account");
      provider.inIdToken = false;
      expect(await finish(provider, school)).toBe("signed in");
      const [request] = requestsTo(provider, "/me");
      expect([request!.authorization?.startsWith("Bearer "), request!.query.has("access_token")]).toEqual([
        true,
        false,
      ]);
    },
    "oidcc-client-test-userinfo-bearer-body": async () => notApplicable("The access token is sent in the header."),
    "oidcc-client-test-userinfo-signed": async () => notApplicable("Userinfo is read as JSON."),
    "oidcc-client-test-invalid-sig-hs256": refuses(
      withIdToken((claims) => {
        const text = unsigned(claims)
          .replace(/^[^.]*/, Buffer.from('{"alg":"HS256"}').toString("base64url"))
          .slice(0, -1);
        return `${text}.${createHmac("sha256", "another secret").update(text).digest("base64url")}`;
      }),
    ),
    "oidcc-client-test-invalid-sig-es256": refuses(
      withIdToken(async (claims) => {
        const { privateKey } = await generateKeyPair("ES256");
        return new SignJWT(claims).setProtectedHeader({ alg: "ES256" }).sign(privateKey);
      }),
    ),
    "oidcc-client-test-aggregated-claims": async () => {
      const { outcome } = await play(
        withClaims({ _claim_names: { age: "s" }, _claim_sources: { s: { JWT: "a.b.c" } } }),
      );
      expect(outcome).toBe("signed in");
    },
    "oidcc-client-test-distributed-claims": async () => {
      const called = await startUpstreamProvider();
      const sources = { s: { endpoint: `${called.issuer}/claims`, access_token: "t" } };
      const { outcome } = await play(withClaims({ _claim_names: { import_id: "s" }, _claim_sources: sources }));
      expect([outcome, called.requests]).toEqual(["signed in", []]);
    },
    "oidcc-client-test-refresh-token": async () => notApplicable("No refresh token is asked for or kept."),
    "oidcc-client-test-dynamic-registration": async () =>
      notApplicable("The IT contact of the school registers the service by hand."),
  };

  /** Signs in and out, up to the logout at the provider. */
  async function signOut() {
    const { provider, school } = await prepare({ endsUpstreamSession: true });
    const { browser } = await world().arrive(school, { import_id: "1" }, "account");
    expect(await world().isSignedIn(browser)).toBe(true);
    const there = new URL(
      (await browser.submit(await browser.open("/oauth2/sessions/logout"), "/confirm", { logout: "yes" })).url,
    );
    expect(there.origin + there.pathname).toBe(`${provider.issuer}/session/end`);
    return { provider, school, browser, asked: there.searchParams };
  }

  /** Comes back from there, with a `state` or without; the page is of the service, and the person is signed out. */
  const comesBack =
    (stateOf: (sent: string) => string | null): Module =>
    async () => {
      const { provider, school, browser, asked } = await signOut();
      const address = asked.get("post_logout_redirect_uri")!;
      expect(address).toBe(`${world().service.url}/upstream/${school.connectionId}/signed-out`);
      expect(decodeJwt(asked.get("id_token_hint")!)).toMatchObject({ iss: provider.issuer, sub: "account" });
      const state = stateOf(asked.get("state")!);
      const shown = await browser.open(state === null ? address : `${address}?state=${state}`);
      expect([new URL(shown.url).origin, shown.status]).toEqual([world().service.url, 200]);
      expect(await world().isSignedIn(browser)).toBe(false);
    };

  const event = "http://schemas.openid.net/event/backchannel-logout";
  /** Somebody who signed out in one browser and is signed in in another. */
  const makeSignedOut = async () => {
    const left = await signOut();
    return { ...left, second: await world().arrive(left.school, { import_id: "1" }, "account") };
  };
  let signedOut: ReturnType<typeof makeSignedOut> | undefined;
  const tells =
    (status: 200 | 400, make: (claims: JWTPayload, provider: UpstreamProvider) => Promise<string> | string): Module =>
    async () => {
      // What is refused leaves everything as it was, for the next.
      const { provider, school, browser, asked, second } = await (status === 200
        ? makeSignedOut()
        : (signedOut ??= makeSignedOut()));
      const now = Math.floor(Date.now() / 1000);
      const times = { iat: now, exp: now + 120 };
      const claims = { iss: provider.issuer, aud: clientId, sub: "account", jti: randomUUID(), ...times };
      const logout_token = await make({ ...claims, events: { [event]: {} } }, provider);
      const address = `${world().service.url}/upstream/${school.connectionId}/backchannel-logout`;
      const answer = await fetch(address, { method: "POST", body: new URLSearchParams({ logout_token }) });
      expect([answer.status, answer.headers.get("cache-control")]).toEqual([status, "no-store"]);
      expect(await world().isSignedIn(second.browser)).toBe(status === 400);
      const back = `${asked.get("post_logout_redirect_uri")!}?state=${asked.get("state")!}`;
      expect((await browser.open(back)).status).toBe(200);
    };
  const typ = { typ: "logout+jwt" };
  const changed = (changes: object) => (claims: JWTPayload, provider: UpstreamProvider) =>
    provider.sign({ ...claims, ...changes }, typ);

  const backchannel: Record<string, Module> = {
    "oidcc-client-test-rp-backchannel-rpinitlogout": tells(200, changed({})),
    "oidcc-client-test-rp-backchannel-rpinitlogout-alg-none": tells(400, (claims) => unsigned(claims)),
    "oidcc-client-test-rp-backchannel-rpinitlogout-no-event": tells(400, changed({ events: undefined })),
    "oidcc-client-test-rp-backchannel-rpinitlogout-with-nonce": tells(400, changed({ nonce: "n" })),
    "oidcc-client-test-rp-backchannel-rpinitlogout-wrong-alg": tells(400, (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: "HS256", ...typ }).sign(Buffer.from(clientSecret)),
    ),
    "oidcc-client-test-rp-backchannel-rpinitlogout-wrong-aud": tells(400, changed({ aud: "another" })),
    "oidcc-client-test-rp-backchannel-rpinitlogout-wrong-event": tells(400, changed({ events: { [`${event}x`]: {} } })),
    "oidcc-client-test-rp-backchannel-rpinitlogout-wrong-iss": tells(400, changed({ iss: "https://another.example" })),
  };

  return {
    "Basic RP": basic,
    "Config RP": config,
    "Other modules for relying parties": more,
    "RP-Initiated RP": {
      "oidcc-client-test-rp-init-logout": comesBack((sent) => sent),
      "oidcc-client-test-rp-init-logout-other-state": comesBack(() => "another"),
      "oidcc-client-test-rp-init-logout-no-state": comesBack(() => null),
    },
    "Back-Channel RP": backchannel,
  };
}
