import { expect, test } from "vitest";
import { demoApp, demoLogin, makeReader, schulconnex, startDemo, type Read } from "../../support/api.ts";
import { getAppToken, getUserTokens } from "../../support/token.ts";

const path = `${schulconnex}/person-info`;
const service = await startDemo();

async function readAs(clientId: string, person: number): Promise<Read> {
  const { access_token } = await getUserTokens(service, demoApp(clientId), demoLogin(person), {
    scopes: ["openid", "people:read"],
  });
  return makeReader(service, access_token)(path);
}

test("the signed-in person gets the record that the app's list has of them", async () => {
  const { status, body } = await readAs("demo-lernapp", 2);
  const list = makeReader(service, await getAppToken(service, demoApp("demo-lernapp"), ["people:read"]));
  const [listed] = (await list(`${schulconnex}/personen-info?pid=c0000000-0000-4000-8000-000000000002`))
    .body as unknown[];
  expect([status, body]).toEqual([200, listed]);
});

test("a person in no synced group has a context at their school, without groups", async () => {
  expect(await readAs("demo-lernapp", 6)).toMatchObject({
    status: 200,
    body: { personenkontexte: [{ rolle: "LEHR", gruppen: [] }] },
  });
});

test("where no school of the person syncs to the app the answer is 404/01", async () => {
  const refused = await readAs("demo-mathe", 2);
  expect(refused).toMatchObject({ status: 404, body: { code: "404", subcode: "01" } });
  expect(refused.headers.get("content-type")).toBe("application/json; charset=utf-8");
});

test.each([
  ["no token", undefined, "00"],
  ["an unknown token", "Bearer nonsense", "02"],
])("%s is refused with 401 and subcode", async (_case, authorization, subcode) => {
  const response = await fetch(service.url + path, authorization === undefined ? {} : { headers: { authorization } });
  expect([response.status, await response.json()]).toEqual([401, expect.objectContaining({ code: "401", subcode })]);
});

test("an expired token is refused with 401/01", async () => {
  const own = await startDemo();
  const { access_token } = await getUserTokens(own, demoApp("demo-lernapp"), demoLogin(2), {
    scopes: ["openid", "people:read"],
  });
  own.clock.forwardSeconds(3601);
  expect(await makeReader(own, access_token)(path)).toMatchObject({
    status: 401,
    body: { code: "401", subcode: "01" },
  });
});
