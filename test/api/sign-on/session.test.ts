import pg from "pg";
import { expect, test, vi } from "vitest";
import { askFor, getUserTokens, giveLogin } from "../../support/token.ts";
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

test("with a session four statements are enough: one reads and one writes, at the authorization and at the exchange", async () => {
  const { service, login } = world;
  const app = await world.app();
  const { browser } = await getUserTokens(service, app, login);
  const query = vi.spyOn(pg.Client.prototype, "query");
  try {
    await getUserTokens(service, app, login, { browser });
    const names = query.mock.calls.map(([asked]) => (asked as unknown as { name?: string }).name?.replace(/\.[0-9a-f]{16}$/, ""));
    expect(names).toEqual(["sign-on.findSessions", "sign-on.write", "sign-on.findTokensWithSubject", "sign-on.useTokens"]);
  } finally {
    query.mockRestore();
  }
});

test("what was read for the person of the session is asked again for the person who signs in instead", async () => {
  const { service, make, school, login } = world;
  const app = await world.app();
  const { browser } = await getUserTokens(service, app, login);
  const other = await make.person({ school });
  const { id_token } = await getUserTokens(service, app, await giveLogin(service.db, other), { browser, params: { prompt: "login" } });
  expect(JSON.parse(Buffer.from(id_token!.split(".")[1]!, "base64url").toString())).toMatchObject({ sub: other });
});
