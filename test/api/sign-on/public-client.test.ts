import { expect, test } from "vitest";
import { exchange, signOn, type TestApp } from "../../support/token.ts";
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

test.each(ways)(
  "a public app that sends a secret %s gets nothing, and what it has stays unused",
  async (_way, send) => {
    const { service, login } = world;
    const app = await world.app({ type: "PUBLIC" });
    const { headers = {}, fields } = send(app);
    const refused = async (path: string, own: Record<string, string>, status: number) => {
      const response = await post(path, headers, { ...fields, ...own });
      expect([path, response.status, await response.json()]).toEqual([
        path,
        status,
        { error: "invalid_client", error_description: expect.any(String), error_uri: expect.any(String) },
      ]);
      const challenge = status === 401 ? expect.stringMatching(/^Basic realm="/) : null;
      expect([path, response.headers.get("www-authenticate")]).toEqual([path, challenge]);
    };
    const signedOn = await signOn(service, app, login, { scopes: ["openid", "offline_access"] });
    const code = signedOn.back.searchParams.get("code")!;
    const fitting = { redirect_uri: app.redirectUri, code_verifier: signedOn.asked.verifier };
    await refused("token", { grant_type: "authorization_code", code, ...fitting }, 400);
    expect(await service.db.prisma.signIn.count({ where: { clientId: app.clientId } })).toBe(0);
    const { status, body } = await exchange(service, app, signedOn);
    expect(status).toBe(200);
    for (const path of ["introspect", "revoke"]) await refused(path, { token: body.access_token }, 401);
    const introspected = await post("introspect", {}, { client_id: app.clientId, token: body.access_token });
    expect(await introspected.json()).toMatchObject({ active: true });
    const grant = { grant_type: "refresh_token", refresh_token: body.refresh_token! };
    await refused("token", grant, 400);
    // A secret without a value counts as omitted.
    expect((await post("token", {}, { client_id: app.clientId, client_secret: "", ...grant })).status).toBe(200);
  },
);
