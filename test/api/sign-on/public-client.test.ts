import { expect, test } from "vitest";
import { exchange, getUserTokens, signOn, type TestApp } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();

const secret = "a-secret-that-nobody-gave-the-app";

/** Both ways in which a client may send a secret. */
const ways: [
  name: string,
  send: (app: TestApp) => { headers?: Record<string, string>; fields: Record<string, string> },
][] = [
  ["in the body", ({ clientId }) => ({ fields: { client_id: clientId, client_secret: secret } })],
  [
    "with Basic",
    ({ clientId }) => ({
      headers: { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString("base64")}` },
      fields: {},
    }),
  ],
];

const post = (path: string, headers: Record<string, string>, fields: Record<string, string>) =>
  fetch(`${world.service.url}/oauth2/${path}`, { method: "POST", headers, body: new URLSearchParams(fields) });

test.each(ways)("a public app that sends a secret %s gets no tokens, and its code stays unused", async (_way, send) => {
  const app = await world.app({ type: "PUBLIC" });
  const signedOn = await signOn(world.service, app, world.login);
  const { headers = {}, fields } = send(app);
  const response = await post("token", headers, {
    ...fields,
    grant_type: "authorization_code",
    code: signedOn.back.searchParams.get("code")!,
    redirect_uri: app.redirectUri,
    code_verifier: signedOn.asked.verifier,
  });
  expect([response.status, await response.json()]).toEqual([
    400,
    { error: "invalid_client", error_description: expect.any(String), error_uri: expect.any(String) },
  ]);
  expect(response.headers.get("www-authenticate")).toBeNull();
  expect(await world.service.db.prisma.signIn.count({ where: { clientId: app.clientId } })).toBe(0);
  expect((await exchange(world.service, app, signedOn)).status).toBe(200);
});

test.each(ways)("neither does it refresh with a secret %s", async (_way, send) => {
  const app = await world.app({ type: "PUBLIC" });
  const { refresh_token: token } = await getUserTokens(world.service, app, world.login, {
    scopes: ["openid", "offline_access"],
  });
  const { headers = {}, fields } = send(app);
  const grant = { grant_type: "refresh_token", refresh_token: token! };
  const refused = await post("token", headers, { ...fields, ...grant });
  expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ error: "invalid_client" })]);
  expect((await post("token", {}, { client_id: app.clientId, ...grant })).status).toBe(200);
});

test.each(ways)("neither does it look at or revoke a token with a secret %s", async (_way, send) => {
  const app = await world.app({ type: "PUBLIC" });
  const { access_token: token } = await getUserTokens(world.service, app, world.login);
  const { headers = {}, fields } = send(app);
  for (const path of ["introspect", "revoke"]) {
    const refused = await post(path, headers, { ...fields, token });
    expect([refused.status, await refused.json()]).toEqual([401, expect.objectContaining({ error: "invalid_client" })]);
    expect(refused.headers.get("www-authenticate")).toMatch(/^Basic realm="/);
  }
  const introspected = await post("introspect", {}, { client_id: app.clientId, token });
  expect(await introspected.json()).toMatchObject({ active: true });
});

test("a secret without a value counts as omitted", async () => {
  const app = await world.app({ type: "PUBLIC" });
  const { refresh_token: token } = await getUserTokens(world.service, app, world.login, {
    scopes: ["openid", "offline_access"],
  });
  const fields = { client_id: app.clientId, client_secret: "", grant_type: "refresh_token", refresh_token: token! };
  expect((await post("token", {}, fields)).status).toBe(200);
});
