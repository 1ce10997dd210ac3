import { decodeJwt, decodeProtectedHeader } from "jose";
import { expect, test } from "vitest";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, exchange, getUserTokens, giveLogin, passPages, signOn } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();

test("success and denial answer 302, the form itself 303", async () => {
  const { service, login } = world;
  const app = await world.app();
  const browser = makeBrowser(service.url);
  const { address } = askFor(service, app);
  const first = await browser.once(address, {});
  expect(first.status).toBe(302);
  const page = await browser.submit(await browser.open(first.headers.get("location")!), "/login", login);
  expect(new URL(page.url).pathname).toMatch(/^\/interaction\//);
  const csrf =
    /name="csrf"[^>]*value="([^"]+)"/.exec(page.html)?.[1] ?? /value="([^"]+)"[^>]*name="csrf"/.exec(page.html)![1]!;
  const body = new URLSearchParams({ csrf, shown: "openid" });
  const posted = await browser.once(`${page.url}/consent`, { method: "POST", body });
  expect(posted.status).toBe(303);
  const resumed = await browser.once(posted.headers.get("location")!, {});
  expect(resumed.status).toBe(302);
  expect(resumed.headers.get("location")).toContain(`${app.redirectUri}?code=`);
});

test("offline_access of an app that was not given it is an invalid scope", async () => {
  const app = await world.app({ scopes: ["openid", "profile"] });
  const { address } = askFor(world.service, app, { params: { scope: "openid offline_access" } });
  const response = await fetch(address, { redirect: "manual" });
  expect(new URL(response.headers.get("location")!).searchParams.get("error")).toBe("invalid_scope");
});

test("a denial goes back as access_denied with the state, and is not remembered", async () => {
  const { service, login } = world;
  const app = await world.app();
  const browser = makeBrowser(service.url);
  const asked = askFor(service, app);
  const consent = await browser.submit(await browser.open(asked.address), "/login", login);
  const denied = await browser.submit(consent, "/cancel");
  const back = new URL(denied.url).searchParams;
  expect([denied.status, back.get("error"), back.get("state"), back.get("iss")]).toEqual([
    302,
    "access_denied",
    asked.state,
    service.url,
  ]);
  expect((await browser.open(askFor(service, app).address)).html).toContain("/consent");
});

test("two tabs at the login page both come through, also when another person signs in at the second", async () => {
  const { service, login, make, school } = world;
  const [app, second] = [await world.app(), await world.app()];
  const other = await giveLogin(service.db, await make.person({ school }));
  for (const next of [login, other]) {
    const browser = makeBrowser(service.url);
    const tabs = [
      await browser.open(askFor(service, app).address),
      await browser.open(askFor(service, second).address),
    ] as const;
    expect((await passPages(browser, tabs[0], login)).url).toContain("code=");
    expect((await passPages(browser, tabs[1], next)).url).toContain("code=");
  }
});

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
