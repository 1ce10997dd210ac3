import { decodeJwt, decodeProtectedHeader } from "jose";
import { expect, test } from "vitest";
import { exchange, getUserTokens, giveLogin, signOn } from "../../support/token.ts";
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

test("an app that only signs people in names a person by its own id, from the first sign-in on", async () => {
  const { service, make } = world;
  const school = await make.school();
  const app = await make.app({ subjectType: "APP" });
  await make.grant({ app: app.clientId, school, sync: false });
  const personId = await make.person({ school });
  const login = await giveLogin(service.db, personId);
  const first = await getUserTokens(service, app, login);
  const again = await exchange(service, app, await signOn(service, app, login, { browser: first.browser }));
  const own = await service.db.prisma.pairwiseId.findFirst({ where: { personId, recordId: personId } });
  expect(own!.id).not.toBe(personId);
  for (const token of [first.id_token, again.body.id_token]) expect(decodeJwt(token!).sub).toBe(own!.id);
});
