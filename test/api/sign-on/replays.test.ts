import { createHash } from "node:crypto";
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from "jose";
import { expect, test } from "vitest";
import { replays } from "../../compatibility/replays.ts";
import { makeBrowser } from "../../support/browser.ts";
import { basic, passPages, readCallback, type TokenBody } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();
const home = "http://localhost:4999";

/** Decodes what a client does that knows one type of JSON. */
async function readJson<Body>(response: Response): Promise<Body> {
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
  return (await response.json()) as Body;
}

test.each(replays)("the calls of $name are answered as it expects", async (replay) => {
  const { service, login, pupil } = world;
  const redirectUri = home + replay.callback;
  const postLogoutRedirectUris = [`${home}/`];
  const app = await world.app({ redirectUris: [redirectUri], postLogoutRedirectUris, ...replay.registration });
  const discovery = await readJson<Record<string, string>>(
    await fetch(`${service.url}/.well-known/openid-configuration`),
  );

  const verifier = "aB3".repeat(43).slice(0, 128);
  const pkce = {
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  };
  const asked = new URLSearchParams({
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: redirectUri,
    state: "the-state",
    ...replay.authorization,
    ...(replay.sendsNonce && { nonce: "the-nonce" }),
    ...(replay.usesPkce && pkce),
  });
  const browser = makeBrowser(service.url);
  const shown = await passPages(
    browser,
    await browser.open(`${discovery["authorization_endpoint"]!}?${asked.toString()}`),
    login,
  );
  const callback = readCallback(service, shown)!;
  expect([callback.address, callback.params.get("state"), callback.params.get("error")]).toEqual([
    redirectUri,
    "the-state",
    null,
  ]);

  const post = async (fields: Record<string, string>) => {
    const credentials = { client_id: app.clientId, client_secret: app.clientSecret! };
    const body = new URLSearchParams({ ...fields, ...(replay.secretIn === "form" && credentials) });
    const headers = replay.secretIn === "header" ? basic(app) : {};
    return readJson<TokenBody>(await fetch(discovery["token_endpoint"]!, { method: "POST", headers, body }));
  };
  const tokens = await post({
    grant_type: "authorization_code",
    code: callback.params.get("code")!,
    redirect_uri: redirectUri,
    ...(replay.usesPkce && { code_verifier: verifier }),
  });
  const keys = createLocalJWKSet(await readJson<JSONWebKeySet>(await fetch(discovery["jwks_uri"]!)));
  const { payload, protectedHeader } = await jwtVerify(tokens.id_token!, keys, {
    issuer: discovery["issuer"]!,
    audience: app.clientId,
    currentDate: service.clock(),
  });
  expect([protectedHeader.alg, payload.sub, payload["nonce"]]).toEqual([
    "RS256",
    pupil,
    replay.sendsNonce ? "the-nonce" : undefined,
  ]);

  if (replay.offers.includes("userinfo")) {
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    const userinfo = await readJson<{ sub: string }>(await fetch(discovery["userinfo_endpoint"]!, { headers }));
    expect(userinfo.sub).toBe(pupil);
  }
  if (replay.offers.includes("refresh"))
    await post({ grant_type: "refresh_token", refresh_token: tokens.refresh_token! });
  if (replay.offers.includes("logout")) {
    const end = `${discovery["end_session_endpoint"]!}?post_logout_redirect_uri=${home}/&client_id=${app.clientId}`;
    const left = await browser.submit(await browser.open(end), "/confirm", { logout: "yes" });
    expect(left.url).toBe(`${home}/`);
  }
});
