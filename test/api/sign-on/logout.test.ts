import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { checkCalledUri } from "../../../src/access/index.ts";
import { makeBrowser } from "../../support/browser.ts";
import { answer, startReceiver } from "../../support/receiver.ts";
import { getUserTokens } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" });
const backUri = "http://127.0.0.1:4999/";

const receiver = await startReceiver();

const logoutAt = (params: Record<string, string>) =>
  `${world.service.url}/oauth2/sessions/logout?${new URLSearchParams(params).toString()}`;

test("a hint that is posted is in no address, and names the app as one in the query does", async () => {
  const { service, login } = world;
  const [app, other] = [await world.app({ postLogoutRedirectUris: [backUri] }), await world.app()];
  const { browser, id_token } = await getUserTokens(service, app, login);
  const post = (fields: Record<string, string>) =>
    browser.once(`${service.url}/oauth2/sessions/logout`, { method: "POST", body: new URLSearchParams(fields) });
  const fields = { post_logout_redirect_uri: backUri, state: "s1" };
  const asked = await post({ ...fields, id_token_hint: id_token! });
  expect(asked.status).toBe(303);
  const location = new URL(asked.headers.get("location")!, service.url);
  expect(Object.fromEntries(location.searchParams)).toEqual({ ...fields, client_id: app.clientId });
  expect((await browser.open(location.href)).html).toContain("/confirm");
  for (const wrong of [
    { id_token_hint: `${id_token!.slice(0, -4)}AAAA` },
    { id_token_hint: "x" },
    { id_token_hint: id_token!, client_id: other.clientId },
  ]) {
    const refused = await post({ ...fields, ...wrong } as Record<string, string>);
    expect([refused.status, refused.headers.get("location")]).toEqual([400, null]);
  }
});

test("without a session logout goes straight back, with no form that needs a script", async () => {
  const { service } = world;
  const app = await world.app({ postLogoutRedirectUris: [backUri] });
  const left = await makeBrowser(service.url).open(
    logoutAt({ client_id: app.clientId, post_logout_redirect_uri: backUri, state: "x" }),
  );
  expect(left.url).toBe(`${backUri}?state=x`);
  expect((await makeBrowser(service.url).open(logoutAt({}))).status).toBe(200);
});

test("apps that registered an address are told, with the sid of their ID tokens, again until they answer", async () => {
  const { service, login, pupil } = world;
  const app = await world.app({
    backchannelLogoutUri: await checkCalledUri(receiver.url, { allowPrivateAddresses: true }),
    idTokenAlgorithm: "ES256",
  });
  const { browser, id_token } = await getUserTokens(service, app, login);
  await browser.submit(await browser.open(logoutAt({})), "/confirm", { logout: "yes" });
  expect(await service.db.prisma.audit.count({ where: { action: "logged_out", personId: pupil } })).toBe(1);
  receiver.received.length = 0;
  for (const status of [500, 302, 200]) {
    receiver.script(answer(status, status === 302 ? { location: "/elsewhere" } : {}));
    await world.service.runJob("sign-on.tellLogouts");
    service.clock.forwardSeconds(61);
  }
  expect(receiver.received).toHaveLength(3);
  const jwks = (await (await fetch(`${service.url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
  const token = new URLSearchParams(receiver.received[2]!.body).get("logout_token")!;
  const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(jwks), {
    issuer: service.url,
    audience: app.clientId,
    currentDate: service.clock(),
  });
  expect(protectedHeader).toMatchObject({ typ: "logout+jwt", alg: "ES256" });
  expect(payload).toMatchObject({
    sub: pupil,
    sid: decodeJwt(id_token!)["sid"],
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  });
  expect(payload).not.toHaveProperty("nonce");
  await world.service.runJob("sign-on.tellLogouts");
  expect(receiver.received).toHaveLength(3);
});
