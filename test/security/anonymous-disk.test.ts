import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { PersonId } from "../../src/directory/index.ts";
import { limitSessions } from "../../src/sign-on/protocol/logout/end-session.ts";
import { deleteOldestTokens } from "../../src/sign-on/protocol/storage/write.ts";
import { makeClientTokensJob } from "../../src/sign-on/protocol/storage/sweep.ts";
import { startWorld } from "../api/sign-on/world.ts";
import { makeBrowser } from "../support/browser.ts";
import { askFor, getAppToken, getUserTokens, postToken, signOn, type TestApp } from "../support/token.ts";

const world = startWorld({ TRUSTED_PROXIES: "127.0.0.1,::1" });
const hourMs = 3600_000;
const signal = new AbortController().signal;

const count = async (where: string): Promise<number> =>
  (await world.service.db.pool.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${where}`)).rows[0]!.count;
const bytes = async (): Promise<number> =>
  (
    await world.service.db.pool.query<{ bytes: number }>(
      "SELECT coalesce(sum(pg_column_size(artifact.*)), 0)::int AS bytes FROM oidc_artifact artifact",
    )
  ).rows[0]!.bytes;

/** As a stranger's script: no cookies, and the address that the proxy saw. */
const ask = (app: TestApp, params: Record<string, string> = {}, from = "203.0.113.1") =>
  fetch(askFor(world.service, app, { params }).address, { redirect: "manual", headers: { "x-forwarded-for": from } });

/** Leaves an address room for a few more open interactions. */
async function fillUp(from: string, room: number): Promise<void> {
  const { db } = world.service;
  await ask(await world.app(), {}, from);
  await db.pool.query("UPDATE rate_limit SET full_at = full_at + make_interval(secs => 1.2 * $1)", [2999 - room]);
}

test("each parameter is taken up to its longest, and one character more is an error that names it", async () => {
  const app = await world.app();
  const texts = { state: 2048, nonce: 512, login_hint: 512, ui_locales: 256, acr_values: 256 };
  for (const [name, longest] of Object.entries(texts)) {
    expect((await ask(app, { [name]: "x".repeat(longest) })).headers.get("location")).toMatch(/^\/interaction\//);
    const back = new URL((await ask(app, { [name]: "x".repeat(longest + 1) })).headers.get("location")!).searchParams;
    const error = [back.get("error"), back.get("error_description")];
    expect(error).toEqual(["invalid_request", `${name} is longer than ${longest} characters`]);
  }
});

test("an open interaction keeps each parameter once, and little beside them", async () => {
  const app = await world.app();
  await world.service.db.pool.query("DELETE FROM oidc_artifact WHERE kind = 'Interaction'");
  const before = await bytes();
  // Random, as a stranger's would be: PostgreSQL would store repeated letters in a few bytes.
  const random = (length: number) => randomBytes(length).toString("base64url").slice(0, length);
  const params = { state: random(2048), nonce: random(512), login_hint: random(512), max_age: "100" };
  for (let index = 0; index < 5; index += 1) await ask(app, params);
  const { rows } = await world.service.db.pool.query<{ text: string }>(
    "SELECT payload::text AS text FROM oidc_artifact WHERE kind = 'Interaction'",
  );
  expect(rows).toHaveLength(5);
  for (const { text } of rows) {
    const times = (value: string) => text.split(value).length - 1;
    expect([times(params.state), times(params.nonce), times(params.login_hint.slice(0, 100))]).toEqual([1, 1, 0]);
    expect(text.length - params.state.length).toBeLessThan(2000);
  }
  expect((await bytes()) - before).toBeLessThan(5 * 4000);
});

test("an interaction is gone when it ends, and when its hour is over", async () => {
  const { service, login } = world;
  const app = await world.app();
  await service.db.pool.query("DELETE FROM oidc_artifact WHERE kind = 'Interaction'");
  await getUserTokens(service, app, login);
  const browser = makeBrowser(service.url);
  await browser.submit(await browser.open(askFor(service, app).address), "/cancel");
  expect(await count("oidc_artifact WHERE kind = 'Interaction'")).toBe(0);
  await ask(app);
  service.clock.forwardSeconds(3599);
  await world.service.runJob("sign-on.sweepExpired");
  expect(await count("oidc_artifact WHERE kind = 'Interaction'")).toBe(1);
  service.clock.forwardSeconds(2);
  await world.service.runJob("sign-on.sweepExpired");
  expect(await count("oidc_artifact WHERE kind = 'Interaction'")).toBe(0);
});

test("one address has a bounded number of open interactions; beyond it a page says so, and nothing is stored", async () => {
  const app = await world.app();
  await fillUp("203.0.113.9", 5);
  for (let index = 0; index < 5; index += 1) expect((await ask(app, {}, "203.0.113.9")).status).toBe(302);
  const before = await count("oidc_artifact");
  const refused = await ask(app, {}, "203.0.113.9");
  expect([refused.status, refused.headers.get("retry-after"), refused.headers.get("content-type")]).toEqual([
    429,
    "2",
    "text/html; charset=utf-8",
  ]);
  expect([refused.headers.get("location"), refused.headers.getSetCookie()]).toEqual([null, []]);
  expect(await count("oidc_artifact")).toBe(before);
  expect((await ask(app, {}, "203.0.113.10")).status).toBe(302);
  world.service.clock.forwardSeconds(2);
  expect((await ask(app, {}, "203.0.113.9")).status).toBe(302);
});

test("sign-ons that end leave their address as it was", async () => {
  const { service, login } = world;
  const app = await world.app();
  await fillUp("203.0.113.20", 3);
  for (let index = 0; index < 6; index += 1) {
    const browser = makeBrowser(service.url, { "x-forwarded-for": "203.0.113.20" });
    expect((await signOn(service, app, login, { browser })).back.searchParams.get("code")).toBeTruthy();
  }
});

test("a school of 2,000 that all open the login page at once gets it, and so does each IPv6 network until the site has enough", async () => {
  const app = await world.app();
  await fillUp("203.0.113.30", 2999 - 1950);
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(app, {}, "203.0.113.30")));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([302]));
  await ask(app, {}, "2001:db8:1:1::1");
  const { rowCount } = await world.service.db.pool.query(
    "UPDATE rate_limit SET full_at = full_at + make_interval(secs => 0.6 * 5999) WHERE full_at < $1",
    [new Date(world.service.clock().getTime() + 700)],
  );
  expect(rowCount).toBeGreaterThan(0);
  expect((await ask(app, {}, "2001:db8:1:2::1")).status).toBe(429);
  expect((await ask(app, {}, "2001:db8:2:2::1")).status).toBe(302);
});

test("nobody who is not signed in leaves a session, also with a cookie of one that has ended", async () => {
  const { service, login } = world;
  const app = await world.app();
  const { browser } = await signOn(service, app, login);
  await service.db.pool.query("DELETE FROM oidc_artifact WHERE kind = 'Session'");
  for (let index = 0; index < 3; index += 1) {
    await fetch(`${service.url}/oauth2/sessions/logout?state=${"x".repeat(2048)}`, { redirect: "manual" });
    await browser.once(askFor(service, app).address, {});
    await browser.once("/oauth2/sessions/logout", {});
  }
  expect(await count("oidc_artifact WHERE kind = 'Session'")).toBe(0);
  expect(
    (await fetch(`${service.url}/oauth2/sessions/logout?state=${"x".repeat(2049)}`, { redirect: "manual" })).status,
  ).toBe(400);
});

test("what is refused or cancelled again and again leaves a bounded number of audit lines", async () => {
  const { service, login, make } = world;
  const refusing = await make.app();
  const before = await count("audit");
  for (let index = 0; index < 5; index += 1) {
    const browser = makeBrowser(service.url);
    await browser.submit(await browser.open(askFor(service, refusing).address), "/cancel");
  }
  expect(await count("audit")).toBe(before);
  const { browser } = await signOn(service, await world.app(), login);
  for (let index = 0; index < 12; index += 1)
    await browser.once(askFor(service, refusing, { params: { prompt: "none" } }).address, {});
  expect(await count("audit WHERE action = 'sign_in_refused'")).toBe(10);
});

test("an app that asks for very many tokens keeps the newest, and no other app loses one", async () => {
  const { service } = world;
  const [greedy, modest] = [await world.app(), await world.app()];
  const modestToken = await getAppToken(service, modest, ["schools:read"]);
  for (let index = 0; index < 22; index += 1) {
    service.clock.forwardSeconds(1);
    await getAppToken(service, greedy, []);
  }
  const last = await getAppToken(service, greedy, ["schools:read"]);
  await makeClientTokensJob({ db: service.db, atMost: 20, batchSize: 4 }).run(signal);
  const ofGreedy = `oidc_artifact WHERE kind = 'ClientCredentials' AND client_id = '${greedy.clientId}'`;
  expect(await count(ofGreedy)).toBe(20);
  for (const token of [modestToken, last]) {
    const { status } = await fetch(`${service.url}/idm/ep/v1/schools`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(status).toBe(200);
  }
  service.clock.forwardSeconds(25 * 3600 + 2);
  await world.service.runJob("sign-on.sweepExpired");
  expect(await count(ofGreedy)).toBe(0);
});

test("an app that refreshes in a loop keeps the newest tokens, and goes on", async () => {
  const { service, login, pupil } = world;
  const app = await world.app({ scopes: ["openid", "offline_access"] });
  let { refresh_token: token } = await getUserTokens(service, app, login, { scopes: ["openid", "offline_access"] });
  const ofApp = `oidc_artifact WHERE client_id = '${app.clientId}'`;
  await service.db.pool.query(
    `INSERT INTO oidc_artifact (kind, id_hash, payload, client_id, person_id, consumed_at, expires_at)
     SELECT kind, sha256((kind || number)::bytea), '{}', $1, $2, CASE WHEN kind = 'RefreshToken' THEN $3::timestamptz END, $3::timestamptz + interval '1 minute'
     FROM generate_series(1, 700) AS number, unnest(ARRAY['AccessToken', 'RefreshToken']) AS kind`,
    [app.clientId, pupil, service.clock()],
  );
  for (let index = 0; index < 125; index += 1) {
    const { status, body } = await postToken(service, app, { grant_type: "refresh_token", refresh_token: token! });
    expect(status).toBe(200);
    token = body.refresh_token;
  }
  expect(await count(ofApp)).toBeLessThan(1100);
  await deleteOldestTokens(service.db.pool, { personId: pupil, clientId: app.clientId });
  expect((await postToken(service, app, { grant_type: "refresh_token", refresh_token: token! })).status).toBe(200);
});

test("a person who signs in again and again keeps the newest sessions", async () => {
  const { service, pupil } = world;
  const at = service.clock();
  await service.db.pool.query(
    `INSERT INTO oidc_artifact (kind, id_hash, payload, person_id, generation, session_uid, expires_at)
     SELECT 'Session', sha256(('session ' || number)::bytea), jsonb_build_object('accountId', $1::text, 'uid', 'uid-' || number), $1::uuid,
       (SELECT generation FROM credential WHERE person_id = $1::uuid), 'uid-' || number, $2::timestamptz + make_interval(secs => number)
     FROM generate_series(1, 130) AS number`,
    [pupil, new Date(at.getTime() + hourMs)],
  );
  await limitSessions(service.db, { personId: pupil as PersonId, at });
  expect(await count(`oidc_artifact WHERE kind = 'Session' AND person_id = '${pupil}'`)).toBe(99);
  expect(await count("oidc_artifact WHERE session_uid = 'uid-130'")).toBe(1);
});
