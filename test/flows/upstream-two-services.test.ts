// @module-tag slow
import { randomUUID } from "node:crypto";
import { decodeJwt } from "jose";
import { beforeAll, expect, test } from "vitest";
import { type CalledUri, type ClientId } from "../../src/access/index.ts";
import { readConfig } from "../../src/config/index.ts";
import type { PersonId, SchoolId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { addressesOf, updateConnectionIn, type ConnectionId, type NewConnection } from "../../src/upstream/index.ts";
import type { Shown } from "../support/browser.ts";
import { makeMakers, type Make } from "../support/make.ts";
import { startReceiver } from "../support/receiver.ts";
import { makeRunningClock, startService, type TestService } from "../support/service.ts";
import { blockPerson, unblockPerson } from "../support/sign-ins.ts";
import { askFor, exchange, giveLogin, passPages, postToken, type Login } from "../support/token.ts";
import { connectSchool, makeTravellingBrowser, type TravellingBrowser } from "../support/upstream-browser.ts";

// Two of these services: the login of a school at A is an app of B, where the people of the school have their accounts.

// One clock for both.
const clock = makeRunningClock();
const { encryptionKeys: keys } = readConfig({ NODE_ENV: "test" });
const origin = () => ({ at: clock(), actorId: "test" });

type Side = { service: TestService; make: Make; school: SchoolId };
let a: Side;
let b: Side;

beforeAll(async () => {
  [a, b] = await Promise.all([startSide(), startSide()]);
});

async function startSide(): Promise<Side> {
  const service = await startService({ clock, env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
  const make = makeMakers(service.db, clock());
  return { service, make, school: await make.school() };
}

type Connected = { connectionId: ConnectionId; clientId: ClientId };

async function updateConnection(id: ConnectionId, update: { clientSecret: string }): Promise<void> {
  const context = { keys, allowHttp: true, origin: origin() };
  await withPrismaTransaction(a.service.db, (tx) => updateConnectionIn(tx, { id, update }, context));
}

/** Registers A as an app of B, as the IT contact of the school does. */
async function connect(wishes: Partial<NewConnection> = {}): Promise<Connected> {
  const provider = { issuer: b.service.url, redirectUris: [], clock: null };
  const clientId = `of-a-${randomUUID()}` as ClientId;
  const rule = { clientId, ruleClaim: "sub" };
  const connectionId = await connectSchool(a.service, provider, { school: a.school, ...rule, ...wishes });
  const addresses = addressesOf(a.service.url, connectionId);
  const { clientSecret } = await b.make.app({
    clientId,
    redirectUris: [addresses.redirectUri],
    postLogoutRedirectUris: [addresses.postLogoutRedirectUri],
    backchannelLogoutUri: addresses.backchannelLogoutUri as CalledUri,
  });
  await b.make.grant({ app: clientId, school: b.school });
  await updateConnection(connectionId, { clientSecret: clientSecret! });
  return { connectionId, clientId };
}

type Pupil = { atA: PersonId; atB: PersonId; login: Login };

/** A pupil with an account at B, whom the import of A knows by the id there. */
async function makePupil(): Promise<Pupil> {
  const atB = await b.make.person({ school: b.school });
  const atA = await a.make.person({ school: a.school, sourceSystemIdentifier: atB });
  return { atA, atB, login: await giveLogin(b.service.db, atB) };
}

async function makeApp() {
  const receiver = await startReceiver();
  const backUri = "http://127.0.0.1:4999/bye";
  const backchannelLogoutUri = `${receiver.url}/logout` as CalledUri;
  const app = await a.make.app({ backchannelLogoutUri, postLogoutRedirectUris: [backUri] });
  await a.make.grant({ app: app.clientId, school: a.school });
  return { app, receiver, backUri };
}

const openBrowser = (): TravellingBrowser => makeTravellingBrowser(a.service, { issuer: b.service.url });

/** From the page of A over B, where the pupil signs in if they have to, to the app or to where it ends. */
async function goOver(browser: TravellingBrowser, page: Shown, { connectionId }: Connected, login: Login) {
  let shown = await browser.submit(page, "/upstream", { connection: connectionId });
  if (shown.url.startsWith(b.service.url)) shown = await passPages(browser, shown, login);
  return shown.html.includes("/consent") ? browser.submit(shown, "/consent") : shown;
}

async function signOn(connected: Connected, { login }: Pupil, browser = openBrowser()) {
  const { app, ...more } = await makeApp();
  const asked = askFor(a.service, app, { scopes: ["openid", "offline_access"] });
  await keepSchool(browser);
  const back = new URL((await goOver(browser, await browser.open(asked.address), connected, login)).url);
  const { status, body } = await exchange(a.service, app, { browser, asked, back });
  expect([status, back.origin + back.pathname]).toEqual([200, app.redirectUri]);
  const refresh = async () => {
    const fields = { grant_type: "refresh_token", refresh_token: body.refresh_token! };
    return (await postToken(a.service, app, fields)).status;
  };
  return { browser, app, refresh, idToken: body.id_token!, ...more };
}

/** As by a link on the website of the school. */
async function keepSchool(browser: TravellingBrowser): Promise<void> {
  const linkName = `school-${a.school}`;
  const row = { schoolId: a.school, linkName };
  await a.service.db.prisma.schoolWayIn.upsert({ where: { schoolId: a.school }, create: row, update: row });
  await browser.open(`/s/${linkName}`);
}

async function runJobs({ service }: Side): Promise<void> {
  for (const name of ["sign-on.endSignIns", "sign-on.tellLogouts"]) await service.runJob(name);
}

const isSignedIn = async (browser: TravellingBrowser, { service }: Side): Promise<boolean> =>
  (await browser.open(`${service.url}/`)).html.includes("Signed in as");

const readRow = ({ connectionId: id }: Connected) =>
  a.service.db.prisma.upstreamConnection.findUniqueOrThrow({ where: { id } });

test("a pupil signs in to an app at A with the account at B, by the id of B in the roster of A", async () => {
  const connected = await connect();
  const pupil = await makePupil();
  const { idToken, browser } = await signOn(connected, pupil);
  expect(decodeJwt(idToken)).toMatchObject({ iss: a.service.url, sub: pupil.atA });
  expect([await isSignedIn(browser, a), await isSignedIn(browser, b)]).toEqual([true, true]);
  const link = await a.service.db.prisma.upstreamLink.findFirstOrThrow({ where: { personId: pupil.atA } });
  expect(link).toMatchObject({ issuer: b.service.url, subject: pupil.atB, linkedBy: "RULE" });
  expect(await readRow(connected)).toMatchObject({ failingSince: null, lastFailure: null });
});

test("where both rosters have the same ids, the person id is the rule", async () => {
  const connected = await connect({ ruleField: "PERSON_ID" });
  const id = await b.make.person({ school: b.school });
  const login = await giveLogin(b.service.db, id);
  await a.make.person({ school: a.school, id });
  const { idToken } = await signOn(connected, { atA: id, atB: id, login });
  expect(decodeJwt(idToken)["sub"]).toBe(id);
});

test("signing out at A signs out at B, and comes back to the app", async () => {
  const connected = await connect({ endsUpstreamSession: true });
  const { browser, idToken, backUri } = await signOn(connected, await makePupil());
  const query = new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: backUri, state: "x" });
  const asked = await browser.open(`/oauth2/sessions/logout?${query.toString()}`);
  let shown = await browser.submit(asked, "/confirm", { logout: "yes" });
  expect(new URL(shown.url).origin === b.service.url || shown.url.startsWith(backUri)).toBe(true);
  if (shown.html.includes("/confirm")) shown = await browser.submit(shown, "/confirm", { logout: "yes" });
  expect(shown.url).toBe(`${backUri}?state=x`);
  expect([await isSignedIn(browser, a), await isSignedIn(browser, b)]).toEqual([false, false]);
});

test("signing out at B ends the session and the tokens at A, and the apps of A are told", async () => {
  const connected = await connect();
  const { browser, refresh, receiver } = await signOn(connected, await makePupil());
  const asked = await browser.open(`${b.service.url}/oauth2/sessions/logout`);
  await browser.submit(asked, "/confirm", { logout: "yes" });
  expect(await isSignedIn(browser, a)).toBe(true);
  await runJobs(b);
  expect([await isSignedIn(browser, a), await refresh()]).toEqual([false, 400]);
  await runJobs(a);
  expect(receiver.received.map(({ path }) => path)).toEqual(["/logout"]);
});

test("a pupil who is blocked at B is out at A, and does not come in again", async () => {
  const connected = await connect();
  const pupil = await makePupil();
  const { browser, refresh, receiver } = await signOn(connected, pupil);
  await blockPerson(b.service.db, pupil.atB, origin());
  await runJobs(b);
  expect([await isSignedIn(browser, a), await refresh()]).toEqual([false, 400]);
  await runJobs(a);
  expect(receiver.received).toHaveLength(1);
  await goOver(browser, await browser.open("/sign-in"), connected, pupil.login);
  expect(await isSignedIn(browser, a)).toBe(false);
  await unblockPerson(b.service.db, pupil.atB, origin());
  await signOn(connected, pupil);
});
