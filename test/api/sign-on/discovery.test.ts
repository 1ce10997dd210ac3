import http from "node:http";
import { expect, test } from "vitest";
import { askFor, basic, getUserTokens, postToken } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();

test("discovery names what the service does, at addresses built from ISSUER_URL", async () => {
  const { url } = world.service;
  const document = (await (await fetch(`${url}/.well-known/openid-configuration`)).json()) as Record<string, unknown>;
  expect(document).toMatchObject({
    issuer: url,
    authorization_endpoint: `${url}/oauth2/auth`,
    token_endpoint: `${url}/oauth2/token`,
    userinfo_endpoint: `${url}/oauth2/userinfo`,
    jwks_uri: `${url}/.well-known/jwks.json`,
    end_session_endpoint: `${url}/oauth2/sessions/logout`,
    revocation_endpoint: `${url}/oauth2/revoke`,
    introspection_endpoint: `${url}/oauth2/introspect`,
    response_types_supported: ["code"],
    response_modes_supported: ["query", "fragment", "form_post"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"],
    authorization_response_iss_parameter_supported: true,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
  });
  expect((document["grant_types_supported"] as string[]).sort()).toEqual([
    "authorization_code",
    "client_credentials",
    "refresh_token",
  ]);
  expect((document["id_token_signing_alg_values_supported"] as string[]).sort()).toEqual(["ES256", "EdDSA", "RS256"]);
  expect(document["scopes_supported"]).toContain("urn:schultor:idm:v1:people:read");
});

function getRaw(
  url: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ headers: http.IncomingHttpHeaders; text: string }> {
  return new Promise((resolve, reject) => {
    const request = http.get(new URL(path, url), { headers }, (response) => {
      const chunks: Buffer[] = [];
      response
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("end", () => resolve({ headers: response.headers, text: Buffer.concat(chunks).toString() }));
    });
    request.on("error", reject);
  });
}

test("forged Host and X-Forwarded headers change nothing", async () => {
  const { service } = world;
  const forged = {
    host: "evil.example",
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "https",
    "x-forwarded-port": "1",
    forwarded: "host=evil.example",
  };
  const honest = await getRaw(service.url, "/.well-known/openid-configuration", {});
  expect((await getRaw(service.url, "/.well-known/openid-configuration", forged)).text).toBe(honest.text);
  const app = await world.app();
  const { pathname, search } = new URL(askFor(service, app).address);
  const answer = await getRaw(service.url, pathname + search, forged);
  expect(JSON.stringify(answer)).not.toContain("evil.example");
  expect(String(answer.headers["set-cookie"])).not.toContain("secure");
});

test("the keys are public halves only: two of each algorithm in use, first those that sign, and RS256 before others", async () => {
  for (const idTokenAlgorithm of ["EdDSA", "ES256"] as const) await world.app({ idTokenAlgorithm });
  const { keys } = (await (await fetch(`${world.service.url}/.well-known/jwks.json`)).json()) as {
    keys: Record<string, string>[];
  };
  const inOrder = ["RS256", "ES256", "EdDSA"];
  expect(keys.map(({ alg }) => alg)).toEqual([...inOrder, ...inOrder]);
  const active = await world.service.db.prisma.signingKey.findMany({ where: { state: "ACTIVE" } });
  expect(
    keys
      .slice(0, 3)
      .map(({ kid }) => kid)
      .sort(),
  ).toEqual(active.map(({ kid }) => kid).sort());
  for (const key of keys) expect(Object.keys(key)).not.toEqual(expect.arrayContaining(["d"]));
});

test("pages of a public app may call from the origin of its redirect URI, others may not", async () => {
  const { service } = world;
  const app = await world.app({ type: "PUBLIC", redirectUris: ["http://127.0.0.1:4002/callback"] });
  const preflight = await fetch(`${service.url}/oauth2/token`, {
    method: "OPTIONS",
    headers: {
      origin: "http://127.0.0.1:4002",
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type",
    },
  });
  expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([
    204,
    "http://127.0.0.1:4002",
  ]);

  const post = (origin: string) =>
    fetch(`${service.url}/oauth2/token`, {
      method: "POST",
      headers: { origin },
      body: new URLSearchParams({
        client_id: app.clientId,
        grant_type: "authorization_code",
        code: "x",
        redirect_uri: app.redirectUri,
        code_verifier: "x",
      }),
    });
  const [own, foreign] = [await post("http://127.0.0.1:4002"), await post("http://evil.example")];
  expect([own.headers.get("access-control-allow-origin"), ((await own.json()) as { error: string }).error]).toEqual([
    "http://127.0.0.1:4002",
    "invalid_grant",
  ]);
  expect([foreign.status, foreign.headers.get("access-control-allow-origin")]).toEqual([400, null]);
});

test("pages that send credentials may read what they may read without them, and nothing else", async () => {
  const { service, login } = world;
  const app = await world.app({ type: "PUBLIC", redirectUris: ["http://127.0.0.1:4002/callback"] });
  const { access_token } = await getUserTokens(service, app, login);
  const allowed = async (path: string, origin: string, init: RequestInit = {}) => {
    const given = { origin, ...(init.headers as Record<string, string>) };
    const { headers } = await fetch(service.url + path, { ...init, headers: given });
    const origins = headers.get("access-control-allow-origin");
    return origins === null ? null : [origins, headers.get("access-control-allow-credentials")];
  };
  const [own, hostile] = ["http://127.0.0.1:4002", "http://evil.example"];
  const userinfo = { headers: { authorization: `Bearer ${access_token}` } };
  const body = new URLSearchParams({ client_id: app.clientId, grant_type: "refresh_token", refresh_token: "x" });
  const preflight = { method: "OPTIONS", headers: { "access-control-request-method": "POST" } };
  for (const origin of [own, hostile]) {
    for (const path of ["openid-configuration", "jwks.json"])
      expect(await allowed(`/.well-known/${path}`, origin)).toEqual([origin, "true"]);
    const ofApp = origin === own ? [own, "true"] : null;
    expect(await allowed("/oauth2/userinfo", origin, userinfo)).toEqual(ofApp);
    expect(await allowed("/oauth2/token", origin, { method: "POST", body })).toEqual(ofApp);
    expect(await allowed("/oauth2/auth?client_id=x", origin, { redirect: "manual" })).toBeNull();
  }
  expect(await allowed("/oauth2/token", own, preflight)).toEqual([own, "true"]);
});

test("an app can look into and revoke its own tokens, nobody else's", async () => {
  const { service, login } = world;
  const [app, other] = [await world.app(), await world.app()];
  const { access_token, refresh_token } = await getUserTokens(service, app, login, {
    scopes: ["openid", "offline_access"],
  });
  const call = (path: string, by: typeof app, token: string) =>
    fetch(`${service.url}/oauth2/${path}`, {
      method: "POST",
      headers: basic(by),
      body: new URLSearchParams({ token }),
    });
  expect(await (await call("introspect", app, access_token)).json()).toMatchObject({
    active: true,
    client_id: app.clientId,
    sub: world.pupil,
  });
  expect(await (await call("introspect", other, access_token)).json()).toEqual({ active: false });
  expect(await (await call("introspect", app, "x".repeat(43))).json()).toEqual({ active: false });

  expect((await call("revoke", other, refresh_token!)).status).toBe(200);
  expect((await postToken(service, app, { grant_type: "refresh_token", refresh_token: refresh_token! })).status).toBe(
    200,
  );
  expect((await call("revoke", app, access_token)).status).toBe(200);
  expect(await (await call("introspect", app, access_token)).json()).toEqual({ active: false });
});
