import { expect, test } from "vitest";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, exchange, getUserTokens, postToken, signOn } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();
const refusing = startWorld({ SIGN_ON_WITHOUT_PKCE: "refused" });
const longAgo = startWorld({
  SIGN_ON_WITHOUT_PKCE_DEPRECATED: "2001-01-01T00:00:00Z",
  SIGN_ON_WITHOUT_PKCE_SUNSET: "2002-01-01T00:00:00Z",
});

const marksOf = ({ headers }: { headers: Headers }) =>
  ["deprecation", "sunset", "link"].map((name) => headers.get(name));
const unmarked = [null, null, null];
const marked = (issuer: string) => [
  "@1796083200",
  "Tue, 01 Aug 2028 00:00:00 GMT",
  `<${issuer}/docs/sign-on-without-pkce>; rel="deprecation"; type="text/html", ` +
    `<${issuer}/docs/sign-on-without-pkce>; rel="sunset"; type="text/html"`,
];

test("every answer of a sign-on without PKCE says when it ends and where to read how to leave it", async () => {
  const { service, login } = world;
  const app = await world.app({ pkceRequired: false });
  const signedOn = await signOn(service, app, login, { pkce: false });
  const tokens = await exchange(service, app, signedOn);
  expect([tokens.status, marksOf(tokens)]).toEqual([200, marked(service.url)]);

  const { address } = askFor(service, app, { pkce: false });
  const toPages = await makeBrowser(service.url).once(address);
  expect([toPages.status, toPages.headers.get("location"), marksOf(toPages)]).toEqual([
    302,
    expect.stringContaining("/interaction/"),
    marked(service.url),
  ]);
  const back = await signedOn.browser.once(address);
  expect([back.status, back.headers.get("location"), marksOf(back)]).toEqual([
    302,
    expect.stringContaining("code="),
    marked(service.url),
  ]);
  const page = await fetch(`${service.url}/docs/sign-on-without-pkce`);
  expect(page.status).toBe(200);
});

test("the same app with PKCE, and its other tokens, are not marked", async () => {
  const { service, login } = world;
  const app = await world.app({ pkceRequired: false, scopes: ["openid", "people:read"] });
  const signedOn = await signOn(service, app, login);
  expect(marksOf(await exchange(service, app, signedOn))).toEqual(unmarked);
  expect(marksOf(await signedOn.browser.once(askFor(service, app).address))).toEqual(unmarked);
  const own = await postToken(service, app, { grant_type: "client_credentials" });
  expect([own.status, marksOf(own)]).toEqual([200, unmarked]);
});

test("an app that must use PKCE reads what to send, and no dates, because it never had the other way", async () => {
  const { service } = world;
  const shown = await makeBrowser(service.url).once(askFor(service, await world.app(), { pkce: false }).address);
  const back = new URL(shown.headers.get("location")!).searchParams;
  expect([back.get("error"), back.get("error_description")]).toEqual([
    "invalid_request",
    expect.stringMatching(/S256/),
  ]);
  expect(marksOf(shown)).toEqual(unmarked);
});

test("once the operator ends it, every app reads what to send, and signs on with it", async () => {
  const { service, login } = refusing;
  const app = await refusing.app({ pkceRequired: false });
  const refused = await makeBrowser(service.url).once(askFor(service, app, { pkce: false }).address);
  const back = new URL(refused.headers.get("location")!).searchParams;
  expect([back.get("error"), back.get("error_description")]).toEqual([
    "invalid_request",
    "PKCE is required: send code_challenge, the SHA-256 of a code_verifier in base64url, and code_challenge_method=S256",
  ]);
  expect(marksOf(refused)).toEqual(marked(service.url));
  expect((await exchange(service, app, await signOn(service, app, login))).status).toBe(200);
  expect((await getUserTokens(service, app, login)).token_type).toBe("bearer");
});

test("the dates alone refuse nothing", async () => {
  const { service, login } = longAgo;
  const app = await longAgo.app({ pkceRequired: false });
  expect((await getUserTokens(service, app, login, { pkce: false })).token_type).toBe("bearer");
});
