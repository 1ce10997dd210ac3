import pg from "pg";
import { expect, test, vi } from "vitest";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, getUserTokens, giveLogin, readCallback } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld({ SESSION_SECONDS: "3600" });

async function readSession(): Promise<{ expires_at: Date; version: string }> {
  const { rows } = await world.service.db.pool.query<{ expires_at: Date; version: string }>(
    "SELECT expires_at, xmin::text AS version FROM oidc_artifact WHERE kind = 'Session' AND person_id = $1",
    [world.pupil],
  );
  return rows[0]!;
}

test("a session is written when something about it changes, and lives on while it is used", async () => {
  const { service, login } = world;
  const [app, other] = [await world.app(), await world.app()];
  const { browser } = await getUserTokens(service, app, login);
  const first = await readSession();
  await browser.open(askFor(service, app).address);
  expect(await readSession()).toEqual(first);

  await getUserTokens(service, other, login, { browser });
  const second = await readSession();
  expect(second.version).not.toBe(first.version);

  service.clock.forwardSeconds(3000);
  expect((await browser.open(askFor(service, app).address)).url).toContain("code=");
  service.clock.forwardSeconds(3000);
  expect((await browser.open(askFor(service, app).address)).url).toContain("code=");
  service.clock.forwardSeconds(3601);
  expect((await browser.open(askFor(service, app).address)).html).toContain("/login");
});

test("what was read for the person of the session is asked again for the person who signs in instead", async () => {
  const { service, make, school, login } = world;
  const app = await world.app();
  const { browser } = await getUserTokens(service, app, login);
  const other = await make.person({ school });
  const { id_token } = await getUserTokens(service, app, await giveLogin(service.db, other), {
    browser,
    params: { prompt: "login" },
  });
  expect(JSON.parse(Buffer.from(id_token!.split(".")[1]!, "base64url").toString())).toMatchObject({ sub: other });
});

/** Ends the session right before the request that `run` makes writes what it wants written. */
async function endSessionBeforeWrite<T>(run: () => Promise<T>): Promise<T> {
  const { query } = pg.Client.prototype;
  const { pool } = world.service.db;
  let hasEnded = false;
  const spy = vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const { name = "" } = args[0] as { name?: string };
    const go = () => (query as (...given: unknown[]) => unknown).apply(this, args);
    if (hasEnded || !name.startsWith("sign-on.write.")) return go();
    hasEnded = true;
    return pool.query("DELETE FROM oidc_artifact WHERE kind = 'Session'").then(go);
  } as never);
  try {
    return await run();
  } finally {
    spy.mockRestore();
    expect(hasEnded).toBe(true);
  }
}

test.each(["query", "form_post"])(
  "a session that ends while the person's answer is on its way gives the app an error in the mode %s instead of a code that is worth nothing",
  async (mode) => {
    const { service, login } = world;
    const app = await world.app();
    const browser = makeBrowser(service.url);
    const asked = askFor(service, app, { params: { response_mode: mode } });
    const consent = await browser.submit(await browser.open(asked.address), "/login", login);
    const csrf = /name="csrf"[^>]*value="([^"]+)"/.exec(consent.html)![1]!;
    const posted = await browser.once(`${consent.url}/consent`, {
      method: "POST",
      body: new URLSearchParams({ csrf, shown: "openid" }),
    });
    const resumed = await endSessionBeforeWrite(() => browser.once(posted.headers.get("location")!, {}));
    const [url, html] = [resumed.headers.get("location") ?? resumed.url, await resumed.text()];
    const { params: back } = readCallback(service, { url, html })!;
    expect([back.get("error"), back.get("state"), back.get("iss"), back.get("code")]).toEqual([
      "login_required",
      asked.state,
      service.url,
      null,
    ]);
    const { rowCount } = await service.db.pool.query(
      "SELECT FROM oidc_artifact WHERE $1 IN (client_id, payload->'params'->>'client_id')",
      [app.clientId],
    );
    expect(rowCount).toBe(0);
    expect((await browser.open(askFor(service, app).address)).html).toContain("/login");
  },
);

test("a session that ends while a silent request runs is a request without a session", async () => {
  const { service, login } = world;
  const [app, another] = [await world.app(), await world.app()];
  await getUserTokens(service, another, login);
  const { browser } = await getUserTokens(service, app, login);
  const shown = await endSessionBeforeWrite(() =>
    browser.open(askFor(service, another, { params: { prompt: "none" } }).address),
  );
  expect(new URL(shown.url).searchParams.get("error")).toBe("login_required");
});

test("a session that ends while its person asks to log out is logged out", async () => {
  const { service, login } = world;
  const { browser } = await getUserTokens(service, await world.app(), login);
  const shown = await endSessionBeforeWrite(() => browser.open(`${service.url}/oauth2/sessions/logout`));
  expect([shown.status, new URL(shown.url).pathname]).toEqual([200, "/oauth2/sessions/logout/success"]);
});
