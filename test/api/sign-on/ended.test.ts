import { beforeEach, expect, test } from "vitest";
import type { CalledUri } from "../../../src/access/index.ts";
import type { PersonId } from "../../../src/directory/index.ts";
import { withTransaction } from "../../../src/platform/database/db.ts";
import { blockPerson, setLogin, signOutPerson, unblockPerson } from "../../support/sign-ins.ts";
import { endSignIns } from "../../../src/accounts/end-sign-ins.ts";
import { forgetTriesOf } from "../../../src/accounts/index.ts";
import { recordSuccess, type TakenLimits } from "../../../src/accounts/login/limits.ts";
import { originLimit } from "../../../src/accounts/login/rate-limits.ts";
import { findSessionByUid } from "../../../src/sign-on/protocol/storage/artifact.ts";
import { makeBrowser } from "../../support/browser.ts";
import { asOthers } from "../../support/one-connection.ts";
import {
  askFor,
  exchange,
  getUserTokens,
  giveLogin,
  postToken,
  signOn,
  type Login,
  type TestApp,
} from "../../support/token.ts";
import { startWorld } from "./world.ts";
import { untilWaiting } from "../../support/waiting.ts";
import { hashAllQuickly } from "../../support/quick-hash.ts";

hashAllQuickly();
const world = startWorld();
const scopes = ["openid", "offline_access"] as const;

let pupil: PersonId;
let login: Login;
let app: TestApp;

beforeEach(async () => {
  pupil = await world.make.person({ school: world.school });
  login = await giveLogin(world.service.db, pupil);
  app = await world.app();
});

const origin = () => ({ at: world.service.clock(), actorId: "staff" });
const isAlive = async (token: string) =>
  (await fetch(`${world.service.url}/oauth2/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status ===
  200;
const refresh = (token: string) => postToken(world.service, app, { grant_type: "refresh_token", refresh_token: token });

/**
 * Ends the person's sign-ins in a transaction that commits after `meanwhile` has begun, which sees nothing of it until
 * then.
 */
async function endDuring<T>(meanwhile: () => Promise<T>, { waits }: { waits: boolean }): Promise<T> {
  let begun: Promise<T> | undefined;
  await withTransaction(world.service.db, async (tx) => {
    await endSignIns(tx, { personId: pupil, at: world.service.clock() });
    begun = asOthers(meanwhile);
    // What waits for the rows of the transaction goes on when it commits; what does not is done before.
    if (!waits) await begun;
    else await asOthers(() => untilWaiting(world.service.db));
  });
  return begun!;
}

/** What is stored of the person and still good. */
async function countCurrent(): Promise<number> {
  const { rows } = await world.service.db.pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM oidc_artifact a JOIN credential c ON c.person_id = a.person_id AND c.generation = a.generation
     WHERE a.person_id = $1`,
    [pupil],
  );
  return rows[0]!.count;
}

test("a sign-in that is under way while they are ended gives nothing that lives on, and no known device", async () => {
  const { service } = world;
  const signedOn = await endDuring(() => signOn(service, app, login, { scopes }), { waits: true });
  expect(signedOn.back.searchParams.has("code")).toBe(false);
  expect((await signedOn.browser.open(askFor(service, app, { scopes }).address)).html).toContain("/login");
  expect(await countCurrent()).toBe(0);
  expect(await service.db.prisma.knownDevice.count({ where: { personId: pupil } })).toBe(0);
});

test("neither does one whose password was compared before", async () => {
  const { db } = world.service;
  const { generation } = await db.prisma.credential.findUniqueOrThrow({ where: { personId: pupil } });
  await setLogin(db, { personId: pupil, username: login.username, password: "another password" }, origin());
  const limit = { key: Buffer.alloc(32), kind: originLimit, personId: pupil, everywhere: false };
  const taken: TakenLimits = { buckets: [], limits: [limit], heldUntil: null };
  const now = world.service.clock();
  await recordSuccess(db.pool, taken, { personId: pupil, generation, devices: [Buffer.alloc(32)], now });
  expect(await db.prisma.knownDevice.count({ where: { personId: pupil } })).toBe(0);
});

test("a password that is compared while a new one is set opens no session, on the platform's own page either", async () => {
  const { service } = world;
  const browser = makeBrowser(service.url);
  const page = await browser.open(`${service.url}/sign-in`);
  await endDuring(() => browser.submit(page, "/sign-in", login), { waits: true });
  expect((await browser.open(`${service.url}/`)).html).toContain("/sign-in");
  expect(await countCurrent()).toBe(0);
});

test("a session that is used while it ends gives a code that cannot be exchanged", async () => {
  const { service } = world;
  const { browser } = await getUserTokens(service, app, login, { scopes });
  const signedOn = await endDuring(() => signOn(service, app, login, { scopes, browser }), { waits: false });
  expect(signedOn.back.searchParams.has("code")).toBe(true);
  expect((await exchange(service, app, signedOn)).body.error).toBe("invalid_grant");
  expect(await countCurrent()).toBe(0);
});

test("a code or refresh token that is used while it ends gives nothing", async () => {
  const { service } = world;
  const signedOn = await signOn(service, app, login, { scopes });
  expect((await endDuring(() => exchange(service, app, signedOn), { waits: true })).body.error).toBe("invalid_grant");
  const { refresh_token: token } = await getUserTokens(service, app, login, { scopes });
  expect((await endDuring(() => refresh(token!), { waits: true })).body.error).toBe("invalid_grant");
  expect(await countCurrent()).toBe(0);
});

test("whatever happens at the same time, nothing that the old password gave outlives the new one", async () => {
  const { service } = world;
  const { browser, refresh_token: token } = await getUserTokens(service, app, login, { scopes });
  // Each may fail in its own way, as the sign-ins end beneath it.
  const attempts = Array.from({ length: 4 }, () =>
    Promise.allSettled([
      getUserTokens(service, app, login, { scopes }),
      getUserTokens(service, app, login, { scopes, browser }),
      refresh(token!),
    ]),
  );
  await setLogin(service.db, { personId: pupil, username: login.username, password: "another password" }, origin());
  await Promise.all(attempts);
  expect(await countCurrent()).toBe(0);
  // Each try with the old password that came after the new one was a wrong one.
  await forgetTriesOf(service.db.pool, [pupil]);
  expect(
    (await getUserTokens(service, app, { ...login, password: "another password" }, { scopes })).access_token,
  ).toBeTruthy();
});

test("apps are told of the end of each session they were used in, and of offline tokens of sessions that had ended before", async () => {
  const { service } = world;
  const [told, silent] = [
    await world.app({ backchannelLogoutUri: "https://app.example/logout" as CalledUri }),
    await world.app(),
  ];
  const first = await getUserTokens(service, told, login, { scopes });
  await first.browser.submit(await first.browser.open(`${service.url}/oauth2/sessions/logout`), "/confirm", {
    logout: "yes",
  });
  await service.db.pool.query("DELETE FROM logout_notice");
  const second = await getUserTokens(service, told, login);
  await getUserTokens(service, silent, login, { browser: second.browser });
  const other = await world.make.person({ school: world.school });
  const untouched = await getUserTokens(service, told, await giveLogin(service.db, other), { scopes });

  await signOutPerson(service.db, pupil, origin());
  const sidOf = (idToken: string) =>
    (JSON.parse(Buffer.from(idToken.split(".")[1]!, "base64url").toString()) as { sid: string }).sid;
  const { rows } = await service.db.pool.query<{ sid: string }>(
    "SELECT client_id, person_id, sid FROM logout_notice ORDER BY sid",
  );
  expect(rows).toEqual(
    [first, second]
      .map(({ id_token: token }) => ({ client_id: told.clientId, person_id: pupil, sid: sidOf(token!) }))
      .sort((a, b) => (a.sid < b.sid ? -1 : 1)),
  );
  expect(await isAlive(untouched.access_token)).toBe(true);
});

test("a password, its audit line and the end of the sign-ins are written together or not at all", async () => {
  const { service } = world;
  const { access_token: token } = await getUserTokens(service, app, login);
  const other = await giveLogin(service.db, await world.make.person({ school: world.school }));
  await expect(
    setLogin(service.db, { personId: pupil, username: other.username, password: "another" }, origin()),
  ).rejects.toMatchObject({ code: "username_taken" });
  expect(await isAlive(token)).toBe(true);
  expect((await getUserTokens(service, app, login)).access_token).toBeTruthy();
  expect(await service.db.prisma.audit.count({ where: { personId: pupil, action: "credential_set" } })).toBe(0);
});

test("a blocked person is refused with a reason of its own, and the app is told why", async () => {
  const { service } = world;
  await blockPerson(service.db, pupil, origin());
  const browser = makeBrowser(service.url);
  const refused = await browser.submit(await browser.open(askFor(service, app).address), "/login", login);
  expect([refused.status, refused.html.includes("Dein Konto ist gesperrt.")]).toEqual([403, true]);
  const silent = new URL((await browser.open(askFor(service, app, { params: { prompt: "none" } }).address)).url);
  const back = new URL((await browser.submit(refused, "/cancel")).url);
  for (const { searchParams } of [silent, back]) {
    expect([searchParams.get("error"), searchParams.get("error_description")]).toEqual([
      "access_denied",
      "the user's account is blocked",
    ]);
  }
  expect((await browser.open(`${service.url}/`)).html).toContain("/sign-in");
  expect(
    await service.db.prisma.audit.findMany({
      where: { personId: pupil, action: "sign_in_refused" },
      orderBy: { id: "asc" },
    }),
  ).toMatchObject([{ detail: { reason: "person_blocked" } }, {}]);
});

test("a blocked person cannot sign in to the platform either, and reads why", async () => {
  const { service } = world;
  await blockPerson(service.db, pupil, origin());
  const browser = makeBrowser(service.url);
  const refused = await browser.submit(await browser.open(`${service.url}/sign-in`), "/sign-in", login);
  expect([refused.status, refused.html.includes("Dein Konto ist gesperrt.")]).toEqual([403, true]);
  await unblockPerson(service.db, pupil, origin());
  expect(
    new URL((await browser.submit(await browser.open(`${service.url}/sign-in`), "/sign-in", login)).url).pathname,
  ).toBe("/");
});

test("a person is blocked once and unblocked once, each with its audit line", async () => {
  const { db } = world.service;
  await blockPerson(db, pupil, origin());
  await expect(blockPerson(db, pupil, origin())).rejects.toMatchObject({ kind: "conflict", code: "person_blocked" });
  await unblockPerson(db, pupil, origin());
  await expect(unblockPerson(db, pupil, origin())).rejects.toMatchObject({
    kind: "conflict",
    code: "person_not_blocked",
  });
  const nobody = "00000000-0000-7000-8000-000000000000" as PersonId;
  for (const change of [blockPerson, unblockPerson, signOutPerson])
    await expect(change(db, nobody, origin())).rejects.toMatchObject({ kind: "not_found" });
  const lines = await db.prisma.audit.findMany({
    where: { personId: pupil, actorId: "staff" },
    orderBy: { id: "asc" },
  });
  expect(lines.map(({ action }) => action).sort()).toEqual(["person_blocked", "person_unblocked"]);
});

test("whatever stands on an older generation of the credential is found nowhere, though its row is still there", async () => {
  const { service, make, school } = world;
  await make.grant({ app: app.clientId, school });
  const tokens = await getUserTokens(service, app, login, { scopes });
  const { rows } = await service.db.pool.query<{ uid: string }>(
    "SELECT session_uid AS uid FROM oidc_artifact WHERE kind = 'Session' AND person_id = $1",
    [pupil],
  );
  const readSelf = () =>
    fetch(`${service.url}/idm/schulconnex/v1/person-info`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
  expect([await isAlive(tokens.access_token), (await readSelf()).status === 401]).toEqual([true, false]);
  expect(await findSessionByUid(service.db.pool, rows[0]!.uid)).not.toBeNull();
  const count = async () => service.db.prisma.oidcArtifact.count({ where: { personId: pupil } });
  const stored = await count();
  await service.db.prisma.credential.update({ where: { personId: pupil }, data: { generation: { increment: 1 } } });
  expect(await count()).toBe(stored);
  expect([await isAlive(tokens.access_token), (await readSelf()).status]).toEqual([false, 401]);
  expect(await findSessionByUid(service.db.pool, rows[0]!.uid)).toBeNull();
  expect((await refresh(tokens.refresh_token!)).body).toMatchObject({ error: "invalid_grant" });
});
