import { expect, test } from "vitest";
import { basic, type TestApp } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();
const assertion = `e30.${Buffer.from('{"sub":"x"}').toString("base64url")}.x`;
const jwtBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

type Way = { headers?: Record<string, string>; fields?: Record<string, string> };
const ways: [string, (app: TestApp) => Way][] = [
  [
    "the secret in the body",
    ({ clientId, clientSecret }) => ({ fields: { client_id: clientId, client_secret: clientSecret! } }),
  ],
  [
    "private_key_jwt",
    ({ clientId }) => ({
      fields: { client_id: clientId, client_assertion: assertion, client_assertion_type: jwtBearer },
    }),
  ],
  ["private_key_jwt alone", () => ({ fields: { client_assertion: assertion, client_assertion_type: jwtBearer } })],
  ["the client id alone", ({ clientId }) => ({ fields: { client_id: clientId } })],
  ["nothing", () => ({})],
  ["Bearer", () => ({ headers: { authorization: "Bearer x" } })],
];

test.each(ways)(
  "authenticating with %s is told to use HTTP Basic, at every endpoint for clients",
  async (_what, way) => {
    const app = await world.app();
    const { headers = {}, fields = {} } = way(app);
    for (const [path, own] of [
      ["token", { grant_type: "client_credentials" }],
      ["introspect", { token: "x" }],
      ["revoke", { token: "x" }],
    ] as const) {
      const body = new URLSearchParams({ ...own, ...fields });
      const response = await fetch(`${world.service.url}/oauth2/${path}`, { method: "POST", headers, body });
      const answer = (await response.json()) as { error: string; error_description: string };
      expect(answer.error_description, path).toContain("use HTTP Basic");
      expect(["invalid_client", "invalid_request"]).toContain(answer.error);
    }
  },
);

test("a wrong secret in the right place is not told so, nor is a public client that sends one", async () => {
  const app = await world.app();
  const post = async (headers: Record<string, string>, fields: Record<string, string>) => {
    const body = new URLSearchParams({ grant_type: "client_credentials", ...fields });
    const response = await fetch(`${world.service.url}/oauth2/token`, { method: "POST", headers, body });
    return (await response.json()) as object;
  };
  const failed = {
    error: "invalid_client",
    error_description: "client authentication failed",
    error_uri: expect.stringMatching(/\/docs\/errors\/invalid_client$/) as string,
  };
  expect(await post(basic({ ...app, clientSecret: "wrong" }), {})).toEqual(failed);
  const { clientId } = await world.app({ type: "PUBLIC" });
  expect(await post({}, { client_id: clientId, client_secret: "x" })).toEqual(failed);
});
