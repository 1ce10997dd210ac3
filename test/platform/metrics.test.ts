import { expect, test } from "vitest";
import { makeBrowser } from "../support/browser.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { getAppToken } from "../support/token.ts";

const db = await testDatabase();
const token = "a-token-for-the-metrics";
const open = await startService({ db });
const guarded = await startService({ db, env: { METRICS_TOKEN: token } });
const apart = await startService({ db, env: { METRICS_PORT: "0" } });

test("requests are counted by operation, with no id or address in any label", async () => {
  const id = "a0000000-0000-4000-8000-000000000001";
  await fetch(`${open.url}/idm/ep/v1/schools/${id}`);
  await fetch(`${open.url}/${id}/made-up-${id}?code=hush`);
  await fetch(open.url, { method: "PROPFIND" });
  const text = await (await fetch(`${open.url}/metrics`)).text();
  expect(text).toContain('http_request_duration_seconds_count{operation="getSchool",method="GET",status="401"} 1');
  expect(text).toContain('operation="other",method="other"');
  expect(text).not.toMatch(/a0000000|made-up|hush|PROPFIND/);
});

test("sign-ins are counted by outcome, issued tokens by grant, requests of a sign-on by operation", async () => {
  const make = makeMakers(open.db);
  const app = await make.app({});
  await getAppToken(open, app, []);
  const browser = makeBrowser(open.url);
  await browser.submit(await browser.open("/sign-in"), "/sign-in", { username: "nobody", password: "wrong" });
  const text = await (await fetch(`${open.url}/metrics`)).text();
  expect(text).toContain('tokens_issued_total{grant="client_credentials"} 1');
  expect(text).toContain('sign_ins_total{outcome="refused"} 1');
  expect(text).toMatch(/operation="\w*[tT]oken\w*",method="POST",status="200"/);
  expect(text).toContain('operation="sign-in",method="POST"');
});

test("each share of the connections is measured", async () => {
  expect(await (await fetch(`${open.url}/metrics`)).text()).toMatch(
    /database_connections\{pool="sign_on",state="open"\} \d/,
  );
});

test("with a token set nobody reads the metrics without it", async () => {
  const read = (headers: Record<string, string>) => fetch(`${guarded.url}/metrics`, { headers });
  const refused = await read({});
  expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  expect((await read({ authorization: "Bearer wrong" })).status).toBe(401);
  expect((await read({ authorization: `Bearer ${token}` })).status).toBe(200);
});

test("with a port of their own the metrics are not on the main one", async () => {
  expect((await fetch(`${apart.url}/metrics`)).status).toBe(404);
});
