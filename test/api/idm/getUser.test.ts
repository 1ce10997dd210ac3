import { expect, test } from "vitest";
import { idm, makeReader, type Reader } from "../../support/api.ts";
import { makeMakers, type Make } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { decodeJwt } from "jose";
import { getAppToken, getUserTokens, giveLogin } from "../../support/token.ts";

const service = await startService();
const make = makeMakers(service.db);

async function makeApp(): Promise<{ clientId: Awaited<ReturnType<Make["app"]>>["clientId"]; read: Reader }> {
  const app = await make.app();
  return { clientId: app.clientId, read: makeReader(service, await getAppToken(service, app, ["users:read"])) };
}

test("users asked for at the same time are each answered to the one who asked", async () => {
  const [one, other] = [await makeApp(), await makeApp()];
  const schools = [await make.school(), await make.school()] as const;
  await make.grant({ app: one.clientId, school: schools[0] });
  await make.grant({ app: other.clientId, school: schools[1] });
  const people = [
    ...(await make.people({ school: schools[0], count: 25 })).map((id) => ({ id, of: one })),
    ...(await make.people({ school: schools[1], count: 25 })).map((id) => ({ id, of: other })),
  ];
  const asked = people.flatMap(({ id, of }) => [one, other].map((app) => ({ id, app, shown: app === of })));
  const answers = await Promise.all(
    asked.map(async ({ id, app, shown }) => ({ id, shown, answer: await app.read(`${idm}/users/${id}`) })),
  );
  for (const { id, shown, answer } of answers) {
    expect(answer).toMatchObject(
      shown ? { status: 200, body: { id } } : { status: 404, body: { message: "User not found" } },
    );
  }
});

test("who ever signed in stays a user, whatever becomes of the grant, until deleted for good", async () => {
  const app = await makeApp();
  const school = await make.school();
  const person = await make.person({ school });
  const status = async () => (await app.read(`${idm}/users/${person}`)).status;
  expect(await status()).toBe(404);
  await make.grant({ app: app.clientId, school, signOn: "EVERYBODY", sync: false });
  expect(await status()).toBe(404);
  await make.signIn({ app: app.clientId, person });
  expect(await status()).toBe(200);
  await make.grant({ app: app.clientId, school, signOn: "NOBODY", sync: false });
  expect(await status()).toBe(200);
  await service.db.pool.query("DELETE FROM person WHERE id = $1", [person]);
  expect(await status()).toBe(404);
});

test("a user has the pseudonym of the app's claims, in lists and pages too, for apps with its scope", async () => {
  const school = await make.school();
  const [with_, without] = [
    await make.app({ scopes: ["openid", "pseudonym", "users:read"] }),
    await make.app({ scopes: ["openid", "users:read"] }),
  ];
  for (const { clientId: app } of [with_, without]) await make.grant({ app, school });
  const person = await make.person({ school });
  // What looks like the property inside a value stays what it is.
  const last = '"pseudonym":"c0000000-0000-4000-8000-000000000002"';
  await service.db.pool.query("UPDATE person SET last = $2 WHERE id = $1", [person, last]);
  const reader = async (app: typeof with_) => makeReader(service, await getAppToken(service, app, ["users:read"]));
  const [read, readWithout] = [await reader(with_), await reader(without)];

  const { id_token: token } = await getUserTokens(service, with_, await giveLogin(service.db, person), {
    scopes: ["openid", "pseudonym"],
  });
  const { pseudonym } = decodeJwt(token!);
  const user = (await read(`${idm}/users/${person}`)).body as Record<string, unknown>;
  expect(user).toMatchObject({ id: person, pseudonym, name: { last } });
  const list = (query = "") => read(`${idm}/schools/${school}/users${query}`);
  for (const { body } of [await list(), await list("?limit=1000")]) expect(body).toEqual([user]);
  expect((await readWithout(`${idm}/users/${person}`)).body).toMatchObject({ pseudonym: null });
});
