// @module-tag slow
import { randomBytes } from "node:crypto";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { takeToken } from "../../src/platform/database/token-bucket.ts";
import { originLimit, takeTry } from "../../src/accounts/login/rate-limits.ts";
import { idm } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { findPort } from "../support/find-port.ts";
import { makeMakers } from "../support/make.ts";
import { startMain } from "../support/program.ts";
import { askFor, exchange, getAppToken, giveLogin, postToken, signOn } from "../support/token.ts";

const hour = 3600;
const day = 24 * hour;
const db = await testDatabase();
const make = makeMakers(db, new Date());
const [school, app] = [await make.school(), await make.app()];
await make.grant({ app: app.clientId, school });
const login = await giveLogin(db, await make.person({ school }));
const right = await startMain({ DATABASE_URL: db.url, ROLE: "web" });

/** A process of the same service on a machine whose clock is wrong. */
async function startAhead(seconds: number, role: "web" | "worker") {
  const port = String(await findPort());
  const program = await startMain({
    DATABASE_URL: db.url,
    ROLE: role,
    PORT: port,
    ISSUER_URL: right.url,
    NODE_OPTIONS: "--import ./test/support/shifted-clock.ts",
    CLOCK_OFFSET_SECONDS: String(seconds),
  });
  return { ...program, url: `http://localhost:${port}` };
}

const secondsFromNow = (time: string | number) => (new Date(time).getTime() - Date.now()) / 1000;
const isNow = (time: string | number) => Math.abs(secondsFromNow(time)) < 30;
const askToSignIn = ({ url }: { url: string }) => fetch(askFor({ url }, app).address, { redirect: "manual" });
const readMetrics = async ({ url }: { url: string }) => (await fetch(`${url}/metrics`)).text();

describe.each([-2 * hour, 400 * day])("beside a web process that is %i s ahead", (ahead) => {
  let wrong: Awaited<ReturnType<typeof startAhead>>;
  beforeAll(async () => {
    wrong = await startAhead(ahead, "web");
  });
  afterAll(async () => {
    wrong.child.kill("SIGTERM");
    await wrong.ended;
    const response = await askToSignIn(right);
    expect([response.status, response.headers.get("retry-after")]).toEqual([302, null]);
  });

  test("nobody is refused", async () => {
    expect((await askToSignIn(wrong)).status).toBe(302);
    const response = await askToSignIn(right);
    expect([response.status, response.headers.get("retry-after")]).toEqual([302, null]);
  });

  test("codes and tokens count in both, and say the right time", async () => {
    const signedOn = await signOn(right, app, login, { scopes: ["openid", "offline_access"] });
    const { status, body } = await exchange(wrong, app, signedOn);
    expect([status, body.error]).toEqual([200, undefined]);
    const { iat, exp, auth_time } = decodeJwt(body.id_token!);
    expect([iat!, auth_time as number].map((time) => isNow(time * 1000))).toEqual([true, true]);
    expect(exp! - iat!).toBeLessThan(2 * hour);
    const refresh = (of: { url: string }, token: string | undefined) =>
      postToken(of, app, { grant_type: "refresh_token", refresh_token: token ?? "" });
    const refreshed = await refresh(right, body.refresh_token);
    expect(refreshed.status).toBe(200);
    expect((await refresh(wrong, refreshed.body.refresh_token)).status).toBe(200);
    for (const [issuer, reader] of [
      [wrong, right],
      [right, wrong],
    ] as const) {
      const authorization = `Bearer ${await getAppToken(issuer, app, ["schools:read"])}`;
      expect((await fetch(`${reader.url}${idm}/schools`, { headers: { authorization } })).status).toBe(200);
    }
  });

  test("what it stores and sets in browsers ends as late as what the other does", async () => {
    const endsOf = async (of: { url: string }) => {
      await db.pool.query("DELETE FROM oidc_artifact");
      const response = await askToSignIn(of);
      await getAppToken(of, app, ["schools:read"]);
      const { rows } = await db.pool.query<{ kind: string; minutes: number }>(
        `SELECT kind, round(extract(epoch FROM max(expires_at) - clock_timestamp()) / 60)::int AS minutes
         FROM oidc_artifact GROUP BY kind ORDER BY kind`,
      );
      // Browsers count from the date of the answer.
      const cookies = response.headers.getSetCookie().map((cookie) => {
        const [, name, , expires] = /^([^=]+)=[^]*?(; expires=([^;]+))?(;|$)/.exec(cookie)!;
        return [name, expires === undefined ? null : Math.round(secondsFromNow(expires) / 60)];
      });
      return { rows, cookies, isDated: isNow(response.headers.get("date")!) };
    };
    const ends = await endsOf(right);
    expect(ends.rows.length).toBeGreaterThan(1);
    expect(await endsOf(wrong)).toEqual(ends);
  });

  test("it says so in its log and its metrics", async () => {
    await wrong.says(/WARN[^\n]*the clock of this machine/);
    const aheadIn = async (of: { url: string }) =>
      Number(/\nmachine_clock_ahead_seconds (\S+)/.exec(await readMetrics(of))![1]);
    expect(Math.abs((await aheadIn(wrong)) - ahead)).toBeLessThan(30);
    expect(Math.abs(await aheadIn(right))).toBeLessThan(30);
  });
});

async function countRows(): Promise<Record<string, number>> {
  const { rows } = await db.pool.query<{ name: string; counted: string }>(
    `SELECT relname AS name, query_to_xml('SELECT count(*) FROM ' || oid::regclass, false, false, '')::text AS counted
     FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`,
  );
  return Object.fromEntries(rows.map(({ name, counted }) => [name, Number(/<count>(\d+)/.exec(counted)![1])]));
}

// Limits that nobody uses up are deleted at any time.
const lostOf = (before: Record<string, number>, after: Record<string, number>): string[] =>
  Object.keys(before).filter((name) => name !== "rate_limit" && before[name]! > after[name]!);

test("the jobs of a process that is 400 days ahead delete nothing", async () => {
  await signOn(right, app, login, { scopes: ["openid", "offline_access"] });
  // A code lasts a minute: on a busy machine a sweep would delete it, rightly.
  await db.pool.query("DELETE FROM oidc_artifact WHERE expires_at < clock_timestamp() + interval '30 minutes'");
  const before = await countRows();
  expect(before["oidc_artifact"]).toBeGreaterThan(0);
  const worker = await startAhead(400 * day, "worker");
  const sweeps = [
    "sign-on.sweepExpired",
    "events.sweep",
    "events.sweepAudit",
    "directory.purgePeople",
    "webhooks.sweep",
  ];
  // On a busy machine one may fail, for want of a connection, and would run again in an hour.
  const hasRun = (job: string, metrics: string) => metrics.includes(`job_duration_seconds_count{job="${job}",outcome=`);
  await expect
    .poll(async () => {
      const metrics = await readMetrics(worker);
      return sweeps.filter((job) => !hasRun(job, metrics));
    })
    .toEqual([]);
  expect(lostOf(before, await countRows())).toEqual([]);
});

test("limits that a wrong clock left behind hold nobody up", async () => {
  const [now, later] = [new Date(), new Date(Date.now() + 2 * hour * 1000)];
  const bucket = { key: randomBytes(16), capacity: 2, refillSeconds: 600 };
  for (const at of [later, later]) expect(await takeToken(db.pool, bucket, at)).toBeNull();
  expect(await takeToken(db.pool, bucket, later)).not.toBeNull();
  for (const at of [now, now]) expect(await takeToken(db.pool, bucket, at)).toBeNull();
  expect((await takeToken(db.pool, bucket, now))!.getTime()).toBeLessThan(now.getTime() + 600_000);

  const limit = { key: randomBytes(16), kind: originLimit, personId: null, everywhere: false };
  for (let tried = 0; tried <= originLimit.free; tried++) await takeTry(db.pool, limit, later);
  expect(await takeTry(db.pool, limit, later)).not.toBeNull();
  expect(await takeTry(db.pool, limit, now)).toBeNull();
});
