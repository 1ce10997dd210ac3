import { expect, test } from "vitest";
import { changeDirectory, type CalledUri } from "../../src/access/index.ts";
import { movePerson } from "../../src/directory/index.ts";
import { makeBrowser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { makeConnectionRow } from "../support/upstream-rows.ts";
import { getUserTokens, giveLogin, postToken } from "../support/token.ts";

const service = await startService();
const { db } = service;
const make = makeMakers(db);
const scopes = ["openid", "offline_access"] as const;

/** A pupil whose session is based on an upstream session, with the tokens of an app that it was used for. */
async function signInUpstream() {
  const [school, other] = [await make.school(), await make.school()];
  const personId = await make.person({ schools: [school, other] });
  const login = await giveLogin(db, personId);
  const app = await make.app({ backchannelLogoutUri: "https://app.example/logout" as CalledUri });
  await make.grant({ app: app.clientId, school: other });
  const at = service.clock();
  const connectionId = await makeConnectionRow(db, { school, at });
  const id = crypto.randomUUID();
  const session = { id, connectionId, sub: "sub", personId, createdAt: at, checkAt: at };
  await db.prisma.upstreamSession.create({ data: session });
  const browser = makeBrowser(service.url);
  const typed = await getUserTokens(service, app, login, { scopes, browser });
  const data = { upstreamSessionId: id };
  await db.prisma.oidcArtifact.updateMany({ where: { personId, kind: "Session" }, data });
  const tokens = await getUserTokens(service, app, login, { scopes, browser });
  return { school, other, personId, app, browser, id, typed, tokens };
}

type SignedIn = Awaited<ReturnType<typeof signInUpstream>>;

/** What somebody with the cookies and tokens gets. */
async function attack({ app, browser, tokens }: SignedIn) {
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  const userinfo = await fetch(`${service.url}/oauth2/userinfo`, { headers });
  const fields = { grant_type: "refresh_token", refresh_token: tokens.refresh_token! };
  const tiles = (await browser.open("/")).html.includes("/oauth2/sessions/logout");
  return { tiles, userinfo: userinfo.status, refresh: (await postToken(service, app, fields)).status };
}

test.each<[string, (of: SignedIn) => Promise<unknown>]>([
  ["ends", ({ id }) => db.prisma.upstreamSession.update({ where: { id }, data: { endedAt: service.clock() } })],
  [
    "is of a school that the person leaves",
    ({ personId, other }) =>
      changeDirectory(db, { at: service.clock() }, (change) => movePerson(change, { personId, to: other })),
  ],
])("what an upstream session opened is void at once when it %s, and the apps are told", async (_how, end) => {
  const signedIn = await signInUpstream();
  const { personId, id, typed } = signedIn;
  const made = await db.prisma.oidcArtifact.groupBy({ by: ["kind"], where: { personId, upstreamSessionId: id } });
  expect(made.map(({ kind }) => kind).sort()).toEqual(["AccessToken", "AuthorizationCode", "RefreshToken", "Session"]);
  expect(await attack(signedIn)).toEqual({ tiles: true, userinfo: 200, refresh: 200 });
  await end(signedIn);
  expect(await attack(signedIn)).toEqual({ tiles: false, userinfo: 401, refresh: 400 });
  const headers = { authorization: `Bearer ${typed.access_token}` };
  expect((await fetch(`${service.url}/oauth2/userinfo`, { headers })).status).toBe(200);
  await service.runJob("sign-on.endSignIns");
  const { clientId } = signedIn.app;
  expect(await db.prisma.logoutNotice.findMany({ where: { personId } })).toMatchObject([{ clientId }]);
});
