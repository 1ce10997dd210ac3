import { expect, test } from "vitest";
import { makeStaff, refusalOf } from "../../support/admin.ts";
import { makeBrowser } from "../../support/browser.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { askFor, exchange, getAppToken, getUserTokens, giveLogin, postToken, signOn } from "../../support/token.ts";

const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const make = makeMakers(service.db);
const school = await make.school();
const operator = await makeStaff(service, "OPERATOR");
const reason = "The client secret was published.";

async function makeWorld() {
  const app = await make.app({ scopes: ["openid", "profile", "offline_access", "schools:read"] });
  const personId = await make.person({ school });
  await make.grant({ app: app.clientId, school, signOn: { kind: "EVERYBODY" } });
  const path = `/apps/${app.clientId}/suspension`;
  const suspend = (headers = {}) => operator.call("PUT", path, { body: { reason }, headers });
  const resume = (headers = {}) => operator.call("DELETE", path, { headers });
  return { app, personId, login: await giveLogin(service.db, personId), suspend, resume };
}

const statusOf = async (path: string, token: string) =>
  (await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } })).status;

test("while an app is suspended its tokens are refused and none are issued; resumed, they work as before", async () => {
  const { app, login, suspend, resume } = await makeWorld();
  const own = await getAppToken(service, app, ["schools:read"]);
  const scopes = ["openid", "offline_access"] as const;
  const tokens = await getUserTokens(service, app, login, { scopes });
  const waiting = await signOn(service, app, login, { scopes });
  const schools = () => statusOf("/idm/ep/v1/schools", own);
  const userinfo = () => statusOf("/oauth2/userinfo", tokens.access_token);
  const before = [await schools(), await userinfo()];
  expect(before).toEqual([200, 200]);
  expect((await suspend()).status).toBe(204);
  expect([await schools(), await userinfo()]).toEqual([401, 401]);
  const asked = [
    await postToken(service, app, { grant_type: "client_credentials" }),
    await postToken(service, app, { grant_type: "refresh_token", refresh_token: tokens.refresh_token! }),
    await exchange(service, app, waiting),
  ];
  for (const { status, body } of asked) expect([status, body]).toMatchObject([400, { error: "unauthorized_client" }]);
  expect((await resume()).status).toBe(204);
  expect([await schools(), await userinfo()]).toEqual([200, 200]);
  expect((await exchange(service, app, waiting)).status).toBe(200);
});

test("people are told that the app is suspended, and staff see why they cannot sign in", async () => {
  const { app, personId, login, suspend } = await makeWorld();
  await suspend();
  const browser = makeBrowser(service.url);
  const refused = await browser.submit(await browser.open(askFor(service, app).address), "/login", login);
  expect([refused.status, refused.html.includes("zurzeit für alle gesperrt")]).toEqual([403, true]);
  const none = await browser.open(askFor(service, app, { params: { prompt: "none" } }).address);
  expect(new URL(none.url).searchParams.get("error")).toBe("access_denied");
  const explained = await operator.call("GET", `/people/${personId}/sign-in-explanation?app=${app.clientId}`);
  expect(explained.body).toMatchObject({ isAllowed: false, reason: "app_suspended" });
  const { steps } = explained.body as { steps: { code: string; outcome: string }[] };
  expect(steps.filter(({ outcome }) => outcome === "REFUSED").map(({ code }) => code)).toEqual(["app_not_suspended"]);
});

test("the reason is part of the app for its partner and of the catalogue for schools, and is in no audit line", async () => {
  const { app, suspend, resume } = await makeWorld();
  await suspend();
  const suspension = { since: service.clock().toISOString(), reason };
  const partner = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
  const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  expect((await partner.call("GET", `/apps/${app.clientId}`)).body).toMatchObject({ suspension });
  expect((await admin.call("GET", `/schools/${school}/catalogue/${app.clientId}`)).body).toMatchObject({ suspension });
  expect(refusalOf(await partner.call("DELETE", `/apps/${app.clientId}/suspension`))).toEqual([403, "role_forbids"]);
  await resume();
  expect((await partner.call("GET", `/apps/${app.clientId}`)).body).toMatchObject({ suspension: null });
  const actions = ["app_suspended", "app_resumed"];
  const where = { clientId: app.clientId, action: { in: actions } };
  const lines = await service.db.prisma.audit.findMany({ where, orderBy: { id: "asc" } });
  expect(lines.map(({ action, actorRole, detail }) => [action, actorRole, detail])).toEqual(
    actions.map((action) => [action, "OPERATOR", {}]),
  );
});

test("an app is resumed once, changed only as it was read, and the last operator is not suspended", async () => {
  const { app, suspend, resume } = await makeWorld();
  expect(refusalOf(await resume())).toEqual([404, "suspension_not_found"]);
  expect(refusalOf(await suspend({ "if-match": '"stale"' }))).toEqual([412, "precondition_failed"]);
  const unknown = await operator.call("PUT", "/apps/nobody/suspension", { body: { reason } });
  expect(refusalOf(unknown)).toEqual([404, "app_not_found"]);
  expect(refusalOf(await operator.call("PUT", `/apps/${app.clientId}/suspension`, { body: {} }))[0]).toBe(400);
  const last = await operator.call("PUT", `/apps/${operator.app.clientId}/suspension`, { body: { reason } });
  expect(refusalOf(last)).toEqual([409, "last_operator"]);
});
