import { expect, test } from "vitest";
import { makeCheckAccessToken } from "../../../src/sign-on/protocol/storage/check-access-token.ts";
import { getAppToken, getUserTokens, giveLogin } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();
const check = (token: string) => makeCheckAccessToken({ db: world.service.db, clock: world.service.clock })(token);

test("a token in the app context tells the app and its scopes", async () => {
  const app = await world.make.app();
  const token = await getAppToken(world.service, app, ["schools:read", "users:read"]);
  expect(await check(token)).toEqual({
    kind: "valid",
    token: {
      clientId: app.clientId,
      personId: null,
      scopes: new Set(["schools:read", "users:read"]),
      hasSecondFactor: false,
      namesRead: "all",
      ids: "shared",
    },
  });
});

test("a token in the user context tells the person too", async () => {
  const app = await world.app();
  const { access_token } = await getUserTokens(world.service, app, world.login, { scopes: ["openid", "people:read"] });
  expect(await check(access_token)).toMatchObject({
    kind: "valid",
    token: { clientId: app.clientId, personId: world.pupil },
  });
});

test("expired is told from unknown", async () => {
  const token = await getAppToken(world.service, await world.make.app(), []);
  world.service.clock.forwardSeconds(3600);
  expect(await check(token)).toMatchObject({ kind: "expired", clientId: expect.any(String) as string });
  for (const other of ["", "x", "x".repeat(43), "\0".repeat(43), `${token}x`])
    expect(await check(other)).toEqual({ kind: "unknown" });
});

test("a refresh token, a code or a session is no access token", async () => {
  const app = await world.app();
  const { refresh_token, browser } = await getUserTokens(world.service, app, world.login, {
    scopes: ["openid", "offline_access"],
  });
  const session = browser.cookies().find(({ name }) => name === "_session")!.value;
  for (const other of [refresh_token!, session]) expect(await check(other)).toEqual({ kind: "unknown" });
});

test("a token dies with its app and its person, and loses the scope that the app lost", async () => {
  const { make, service, school } = world;
  const { pool } = service.db;
  const app = await make.app();
  const token = await getAppToken(service, app, ["schools:read", "users:read"]);
  await pool.query("UPDATE app SET scopes = '{schools:read}' WHERE client_id = $1", [app.clientId]);
  expect(await check(token)).toMatchObject({ token: { scopes: new Set(["schools:read"]) } });
  await pool.query("DELETE FROM app WHERE client_id = $1", [app.clientId]);
  expect(await check(token)).toEqual({ kind: "unknown" });

  const person = await make.person({ school });
  const { access_token } = await getUserTokens(service, await world.app(), await giveLogin(service.db, person));
  await pool.query("DELETE FROM person WHERE id = $1", [person]);
  expect(await check(access_token)).toMatchObject({ kind: "unknown" });
});
