import { expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import { tokenFaultTexts } from "../../../src/platform/advice/sign-on/index.ts";
import { shortCodeOf } from "../../../src/platform/crypto/ids.ts";
import { listErrors } from "../../../src/publish/index.ts";
import errorTexts from "../../../src/sign-on/forms/pages/locales/en.json" with { type: "json" };
import { makeStaff } from "../../support/admin.ts";
import { askFor, basic, exchange, getAppToken, postToken, signOn, type TestApp } from "../../support/token.ts";
import { startWorld } from "../sign-on/world.ts";

type Schemas = components["schemas"];
type Fields = Record<string, string>;
type Case = { app: TestApp; other: TestApp; fields: Fields; refresh: Fields };

const world = startWorld();

async function inspectorOf({ clientId }: TestApp) {
  const { call } = await makeStaff(world.service, "PARTNER", { clientIds: [clientId] });
  return async <Body>(path: string) => {
    await world.service.runJob("traffic.flushLogs");
    return (await call("GET", `/apps/${clientId}/${path}`)).body as Body;
  };
}

const scopes = ["openid", "offline_access"] as const;

/** A code that was not exchanged yet, and a refresh token of another sign-on. */
async function makeCase(): Promise<Case> {
  const { service, login } = world;
  const [app, other] = [await world.app(), await world.app()];
  const first = await signOn(service, app, login, { scopes });
  const { body } = await exchange(service, app, first);
  const { back, asked } = await signOn(service, app, login, { scopes, browser: first.browser });
  return {
    app,
    other,
    fields: {
      grant_type: "authorization_code",
      code: back.searchParams.get("code")!,
      redirect_uri: app.redirectUri,
      code_verifier: asked.verifier,
    },
    refresh: { grant_type: "refresh_token", refresh_token: body.refresh_token! },
  };
}

const post = (app: TestApp, fields: Fields) => postToken(world.service, app, fields);
const forward = (seconds: number) => world.service.clock.forwardSeconds(seconds);
const without = ({ [drop]: _, ...fields }: Fields) => fields;
const drop = "code_verifier";

const cases: [reason: string, told: string, cause: (made: Case) => Promise<{ app: TestApp; fields: Fields }>][] = [
  ["code_unknown", "code_unknown", async ({ app, fields }) => ({ app, fields: { ...fields, code: "x".repeat(43) } })],
  ["code_of_another_app", "code_unknown", async ({ other, fields }) => ({ app: other, fields })],
  [
    "redirect_uri_differs",
    "redirect_uri_differs",
    async ({ app, fields }) => ({ app, fields: { ...fields, redirect_uri: `${app.redirectUri}/` } }),
  ],
  ["code_verifier_missing", "code_verifier_missing", async ({ app, fields }) => ({ app, fields: without(fields) })],
  [
    "code_verifier_differs",
    "code_verifier_differs",
    async ({ app, fields }) => ({ app, fields: { ...fields, code_verifier: "v".repeat(43) } }),
  ],
  [
    "code_used",
    "code_used",
    async ({ app, fields }) => {
      expect((await post(app, fields)).status).toBe(200);
      return { app, fields };
    },
  ],
  [
    "refresh_token_of_another_app",
    "refresh_token_unknown",
    async ({ other, refresh }) => ({ app: other, fields: refresh }),
  ],
  [
    "refresh_token_used",
    "refresh_token_used",
    async ({ app, refresh }) => {
      expect((await post(app, refresh)).status).toBe(200);
      forward(60);
      return { app, fields: refresh };
    },
  ],
  [
    "refresh_token_unknown",
    "refresh_token_unknown",
    async ({ app, refresh }) => {
      const body = new URLSearchParams({ token: refresh["refresh_token"]! });
      await fetch(`${world.service.url}/oauth2/revoke`, { method: "POST", headers: basic(app), body });
      return { app, fields: refresh };
    },
  ],
  [
    "code_expired",
    "code_expired",
    async ({ app, fields }) => {
      forward(61);
      return { app, fields };
    },
  ],
  [
    "refresh_token_expired",
    "refresh_token_expired",
    async ({ app, refresh }) => {
      forward(31 * 86_400);
      return { app, fields: refresh };
    },
  ],
];

test.each(cases)("%s: the app is told %s, and its list of sign-ons has the reason", async (reason, told, cause) => {
  const { app, fields } = await cause(await makeCase());
  const { status, body } = await post(app, fields);
  expect([status, body]).toEqual([
    400,
    {
      error: "invalid_grant",
      error_description: tokenFaultTexts.en[told as keyof typeof tokenFaultTexts.en],
      error_uri: `${world.service.url}/docs/errors/${told}`,
    },
  ]);
  const read = await inspectorOf(app);
  const [attempt] = await read<Schemas["SignOnAttempt"][]>("sign-on-attempts?limit=1&outcome=refused");
  expect(attempt!.steps.at(-1)).toMatchObject({ code: "invalid_grant", reason, description: body.error_description });
});

test("a code without challenge refuses a verifier, and a wrong secret is named to its app alone", async () => {
  const { service, login } = world;
  const app = await world.app({ pkceRequired: false });
  const read = await inspectorOf(app);
  const { back } = await signOn(service, app, login, { pkce: false });
  const fields = { grant_type: "authorization_code", code: back.searchParams.get("code")! };
  const sent = { ...fields, redirect_uri: app.redirectUri, code_verifier: "v".repeat(43) };
  expect((await post(app, sent)).body.error_description).toBe(tokenFaultTexts.en.code_verifier_unexpected);
  const { body } = await post({ ...app, clientSecret: "wrong" }, { grant_type: "client_credentials" });
  expect(body).toMatchObject({
    error: "invalid_client",
    error_description: expect.stringContaining("client authentication failed") as string,
  });
  const [attempt] = await read<Schemas["SignOnAttempt"][]>("sign-on-attempts");
  expect(attempt!.steps.at(-1)).toMatchObject({ code: "invalid_client", reason: "client_secret_wrong" });
});

test("an error in the redirect has the address of its page", async () => {
  const { service } = world;
  const { address } = askFor(service, await world.app(), { params: { prompt: "none" } });
  const { headers } = await fetch(address, { redirect: "manual" });
  const uri = new URL(headers.get("location")!).searchParams.get("error_uri")!;
  expect(uri).toBe(`${service.url}/docs/errors/login_required`);
  expect((await fetch(uri)).status).toBe(200);
});

test("every reason, and every reason on our error pages, has its page", () => {
  const explained = new Set(listErrors().map(({ code }) => code));
  const { error, refusal } = errorTexts;
  const shown = [error.heading, refusal.why].flatMap((of) => Object.keys(of));
  expect(shown.length).toBeGreaterThan(10);
  expect([...Object.keys(tokenFaultTexts.en), ...shown].filter((code) => !explained.has(code))).toEqual([]);
  expect(Object.keys(tokenFaultTexts.de)).toEqual(Object.keys(tokenFaultTexts.en));
});

test("a sign-on is found by the number on its error page, as an id and as six characters", async () => {
  const { service } = world;
  const app = await world.app();
  const read = await inspectorOf(app);
  for (let n = 0; n < 3; n++) {
    const { address } = askFor(service, app, { params: { redirect_uri: "https://other.example/" } });
    const { headers } = await fetch(address, { headers: { accept: "text/html" } });
    if (n !== 1) continue;
    const requestId = headers.get("x-request-id")!;
    for (const number of [requestId, shortCodeOf(requestId), shortCodeOf(requestId).toLowerCase()]) {
      const found = await read<Schemas["SignOnAttempt"][]>(`sign-on-attempts?request-id=${number}`);
      expect(found.map(({ steps }) => steps.map((step) => step.requestId))).toEqual([[requestId]]);
    }
  }
  expect(await read("sign-on-attempts?outcome=done")).toEqual([]);
  expect(await read("sign-on-attempts?request-id=another-request")).toEqual([]);
});

test("a call with an expired token is listed with path and message, and with nothing personal of its address", async () => {
  const { service } = world;
  const app = await world.app({ scopes: ["schools:read"] });
  const authorization = `Bearer ${await getAppToken(service, app, ["schools:read"])}`;
  const address = `${service.url}/idm/ep/v1/schools/Erika%20Mustermann/users?limit=2&erika.mustermann=1&Erika%20M=1`;
  await fetch(address, { headers: { authorization } });
  forward(3601);
  await fetch(`${service.url}/idm/ep/v1/schools`, { headers: { authorization } });
  const [expired, malformed] = await (await inspectorOf(app))<Schemas["ApiRequest"][]>("api-requests");
  expect(expired).toMatchObject({
    operationId: "listSchools",
    path: "/idm/ep/v1/schools",
    status: 401,
    code: "invalid_token",
    message: "The access token has expired.",
  });
  expect(malformed).toMatchObject({ path: "/idm/ep/v1/schools/:other/users?limit=…&…=…&…=…" });
  expect(JSON.stringify(malformed)).not.toMatch(/Erika/i);
});
