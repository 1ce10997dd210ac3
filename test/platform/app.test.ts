import { expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { startService } from "../support/service.ts";

const db = await testDatabase();
const plain = await startService({ db });

test("the path of BASE_URL is the prefix of the APIs, and the sign-on stays where it is", async () => {
  const { url } = await startService({ db, env: { BASE_URL: "http://api.example.org/school-data" } });
  expect((await fetch(`${url}/school-data/idm/ep/v1/schools`)).status).toBe(401);
  expect((await fetch(`${url}/school-data/idm/schulconnex/v1/personen-info`)).status).toBe(401);
  expect((await fetch(`${url}/idm/ep/v1/schools`)).status).toBe(404);
  expect((await fetch(`${url}/.well-known/openid-configuration`)).status).toBe(200);
});

test("an https issuer asks browsers to stay with https, an http one does not", async () => {
  const hstsOf = async ({ url }: { url: string }) => (await fetch(url)).headers.get("strict-transport-security");
  const encrypted = await startService({ db, env: { ISSUER_URL: "https://login.example.org" } });
  expect([await hstsOf(encrypted), await hstsOf(plain)]).toEqual(["max-age=31536000", null]);
});

test("a script of another origin may read the APIs with a token, and never with cookies", async () => {
  const { url } = plain;
  const origin = "https://app.example.org";
  const preflight = await fetch(`${url}/idm/schulconnex/v1/person-info`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "GET", "access-control-request-headers": "authorization" },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-headers")).toBe("Authorization, *");
  const read = await fetch(`${url}/idm/schulconnex/v1/person-info`, { headers: { origin } });
  expect(read.headers.get("access-control-allow-origin")).toBe("*");
  expect(read.headers.get("access-control-allow-credentials")).toBeNull();
});

test("what a forged Host or X-Forwarded header says changes no address", async () => {
  const { url } = plain;
  const forged = { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https", "x-forwarded-prefix": "/evil" };
  const answers = await Promise.all(
    ["/.well-known/openid-configuration", "/openapi/idm.yaml", "/docs", "/"].map(async (path) =>
      (await fetch(url + path, { headers: forged })).text(),
    ),
  );
  for (const text of answers) expect(text).not.toContain("evil");
});
