import { decodeJwt, decodeProtectedHeader } from "jose";
import { expect, test } from "vitest";
import { exchange, getUserTokens, signOn } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();

test("a person signs on: pages, code, tokens with exactly the promised claims", async () => {
  const { service, login, pupil } = world;
  const app = await world.app();
  const signedOn = await signOn(service, app, login, { scopes: ["openid"] });
  expect(`${signedOn.back.origin}${signedOn.back.pathname}`).toBe(app.redirectUri);
  expect([...signedOn.back.searchParams.keys()].sort()).toEqual(["code", "iss", "state"]);
  expect(signedOn.back.searchParams.get("state")).toBe(signedOn.asked.state);
  expect(signedOn.back.searchParams.get("iss")).toBe(service.url);

  const { status, body } = await exchange(service, app, signedOn);
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { token_type: "bearer", expires_in: 3600, scope: "openid" },
  });
  expect(Object.keys(body).sort()).toEqual(["access_token", "expires_in", "id_token", "scope", "token_type"]);
  const claims = decodeJwt(body.id_token!);
  expect(Object.keys(claims).sort()).toEqual([
    "at_hash",
    "aud",
    "auth_time",
    "exp",
    "iat",
    "iss",
    "jti",
    "nonce",
    "rat",
    "sid",
    "sub",
  ]);
  expect(claims).toMatchObject({ iss: service.url, aud: [app.clientId], sub: pupil, nonce: signedOn.asked.nonce });
  expect(decodeProtectedHeader(body.id_token!).alg).toBe("RS256");
});

test("a second sign-on in the same browser needs no page", async () => {
  const { service, login } = world;
  const app = await world.app();
  const { browser } = await getUserTokens(service, app, login);
  const again = await signOn(service, app, login, { browser });
  expect((await exchange(service, app, again)).status).toBe(200);
});
