import { expect, test } from "vitest";
import { findAppPersonId, recordFirstSignIn } from "../../../src/access/index.ts";
import type { PersonId } from "../../../src/directory/index.ts";
import {
  basic,
  exchange,
  getUserTokens,
  giveLogin,
  postToken,
  signOn,
  type TestApp,
  type TokenBody,
} from "../../support/token.ts";
import { untilWaiting } from "../../support/waiting.ts";
import { startWorld, type World } from "./world.ts";

const world = startWorld();
const times = <T>(count: number, run: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)));

async function isAlive({ service }: World, token: string): Promise<boolean> {
  const response = await fetch(`${service.url}/oauth2/userinfo`, { headers: { authorization: `Bearer ${token}` } });
  return response.status === 200;
}

const refresh = ({ service }: World, app: TestApp, token: string, fields: Record<string, string> = {}) =>
  postToken(service, app, { grant_type: "refresh_token", refresh_token: token, ...fields });

test("of 20 exchanges of one code at once one gets tokens, and the reuse then revokes them", async () => {
  const app = await world.app();
  const signedOn = await signOn(world.service, app, world.login, { scopes: ["openid", "offline_access"] });
  const answers = await times(20, () => exchange(world.service, app, signedOn));
  const won = answers.filter(({ status }) => status === 200);
  expect(won).toHaveLength(1);
  expect(answers.filter(({ body }) => body.error === "invalid_grant")).toHaveLength(19);
  expect(await isAlive(world, won[0]!.body.access_token)).toBe(false);
  expect((await refresh(world, app, won[0]!.body.refresh_token!)).body.error).toBe("invalid_grant");
});

test("of 10 refreshes at once all answer the same new tokens", async () => {
  const app = await world.app();
  const first = await getUserTokens(world.service, app, world.login, { scopes: ["openid", "offline_access"] });
  const answers = await times(10, () => refresh(world, app, first.refresh_token!));
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
  const pick = ({ body }: { body: TokenBody }) =>
    JSON.stringify([body.access_token, body.refresh_token, body.id_token]);
  expect(new Set(answers.map(pick)).size).toBe(1);
  expect(answers[0]!.body.refresh_token).not.toBe(first.refresh_token);
  expect(await isAlive(world, answers[0]!.body.access_token)).toBe(true);
});

test("the grace window is for the same scope only", async () => {
  const app = await world.app();
  const first = await getUserTokens(world.service, app, world.login, {
    scopes: ["openid", "profile", "offline_access"],
  });
  const second = await refresh(world, app, first.refresh_token!);
  expect((await refresh(world, app, first.refresh_token!, { scope: "openid" })).body.error).toBe("invalid_grant");
  expect((await refresh(world, app, second.body.refresh_token!)).body.error).toBe("invalid_grant");
});

test("another app cannot replay a refresh token, nor harm its owner by trying", async () => {
  const [app, thief] = [await world.app(), await world.app()];
  const first = await getUserTokens(world.service, app, world.login, { scopes: ["openid", "offline_access"] });
  const second = await refresh(world, app, first.refresh_token!);
  expect((await refresh(world, thief, first.refresh_token!)).body.error).toBe("invalid_grant");
  expect((await refresh(world, app, second.body.refresh_token!)).status).toBe(200);
});

test("a refresh token used again after the grace window revokes the family, and it is recorded", async () => {
  const { service } = world;
  const app = await world.app();
  const first = await getUserTokens(service, app, world.login, { scopes: ["openid", "offline_access"] });
  const second = await refresh(world, app, first.refresh_token!);
  service.clock.forwardSeconds(11);
  expect((await refresh(world, app, first.refresh_token!)).body.error).toBe("invalid_grant");
  expect((await refresh(world, app, second.body.refresh_token!)).body.error).toBe("invalid_grant");
  expect(await isAlive(world, second.body.access_token)).toBe(false);
  const { rows } = await service.db.pool.query(
    "SELECT person_id, detail FROM audit WHERE action = 'token_reused' AND client_id = $1",
    [app.clientId],
  );
  expect(rows).toEqual([{ person_id: world.pupil, detail: { token: "refresh_token" } }]);
});

test("many tiles opened at once in one browser all work", async () => {
  const { service, login } = world;
  const apps = await Promise.all(Array.from({ length: 8 }, () => world.app()));
  const { browser } = await getUserTokens(service, apps[0]!, login);
  for (const app of apps) await signOn(service, app, login, { browser });
  const rounds = await times(24, async (index) => {
    const app = apps[index % apps.length]!;
    return (await exchange(service, app, await signOn(service, app, login, { browser }))).status;
  });
  expect(new Set(rounds)).toEqual(new Set([200]));
  const { rows } = await service.db.pool.query<{ count: number }>(
    `SELECT max((SELECT count(*)::int FROM jsonb_object_keys(payload->'authorizations'))) AS count FROM oidc_artifact WHERE kind = 'Session'`,
  );
  expect(rows[0]?.count).toBeGreaterThanOrEqual(8);
});

test("a person who is deleted for good during a request is nobody to it, and gets no id", async () => {
  const { service, make, school } = world;
  const { pool } = service.db;
  const app = await world.app({ subjectType: "APP" });
  const personId = await make.person({ school });
  const login = await giveLogin(service.db, personId);
  const scopes = ["openid", "offline_access"] as const;
  const { browser, ...tokens } = await getUserTokens(service, app, login, { scopes });
  const signedOn = await signOn(service, app, login, { browser });
  const body = new URLSearchParams({ token: tokens.access_token });
  const send = async (path: string, init: RequestInit) => {
    const response = await fetch(`${service.url}/oauth2/${path}`, init);
    return [response.status, (await response.json()) as object];
  };
  const exchanged = async (answer: ReturnType<typeof postToken>) => [(await answer).status, (await answer).body.error];
  const requests = () => [
    findAppPersonId(pool, { clientId: app.clientId, personId }),
    exchanged(refresh(world, app, tokens.refresh_token!)),
    exchanged(exchange(service, app, signedOn)),
    send("userinfo", { headers: { authorization: `Bearer ${tokens.access_token}` } }),
    send("introspect", { method: "POST", headers: basic(app), body }),
  ];
  await pool.query("DELETE FROM pairwise_id WHERE person_id = $1", [personId]);
  const deletion = await pool.connect();
  let answers: Promise<unknown[]> | null = null;
  try {
    await deletion.query("BEGIN");
    await deletion.query("DELETE FROM person WHERE id = $1", [personId]);
    answers = Promise.all(requests());
    await untilWaiting(service.db, 5, { starting: "WITH held" });
    await deletion.query("COMMIT");
  } finally {
    deletion.release(true);
  }
  const refused = [400, "invalid_grant"];
  const invalidToken = [401, expect.objectContaining({ error: "invalid_token" })];
  expect(await answers).toEqual([null, refused, refused, invalidToken, [200, { active: false }]]);
});

test("the first sign-in of a person who was deleted for good meanwhile is not recorded", async () => {
  const { clientId } = await world.app();
  const { db, clock } = world.service;
  const personId = crypto.randomUUID() as PersonId;
  await recordFirstSignIn(db, { clientId, personId, at: clock() });
  expect(await db.prisma.signIn.count({ where: { personId } })).toBe(0);
});

test.each(["AuthorizationCode", "RefreshToken"])(
  "a deleted %s is refused, and nobody is said to have used it twice",
  async (kind) => {
    const { service, login } = world;
    const app = await world.app();
    const scopes = ["openid", "offline_access"] as const;
    const { browser, refresh_token: token } = await getUserTokens(service, app, login, { scopes });
    const signedOn = await signOn(service, app, login, { browser, scopes });
    const deletion = await service.db.pool.connect();
    let answer: ReturnType<typeof postToken> | null = null;
    try {
      await deletion.query("BEGIN");
      await deletion.query("DELETE FROM oidc_artifact WHERE kind = $1 AND client_id = $2", [kind, app.clientId]);
      answer = kind === "RefreshToken" ? refresh(world, app, token!) : exchange(service, app, signedOn);
      await untilWaiting(service.db, 1, { starting: "WITH asked" });
      await deletion.query("COMMIT");
    } finally {
      deletion.release(true);
    }
    const { status, body } = await answer;
    expect([status, body.error]).toEqual([400, "invalid_grant"]);
    const reused = { action: "token_reused" as const, clientId: app.clientId };
    expect(await service.db.prisma.audit.count({ where: reused })).toBe(0);
  },
);
