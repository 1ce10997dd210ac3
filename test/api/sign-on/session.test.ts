import { expect, test } from "vitest";
import { askFor, getUserTokens } from "../../support/token.ts";
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
