// @module-tag slow
import { expect, test } from "vitest";
import { makeStaff } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { getAppToken } from "../support/token.ts";
import { untilWaiting } from "../support/waiting.ts";

const service = await startService();
const make = makeMakers(service.db);
const school = await make.school();
const person = await make.person({ school });
const app = await make.app({ scopes: ["people:read"] });
await make.grant({ app: app.clientId, school, sync: true });

/** Does the work while the table of people is locked. */
async function whileLocked<T>(work: () => Promise<T>): Promise<T> {
  const holder = await service.db.pool.connect();
  try {
    await holder.query("BEGIN; LOCK TABLE person IN ACCESS EXCLUSIVE MODE");
    return await work();
  } finally {
    await holder.query("ROLLBACK");
    holder.release();
  }
}

const ask = (path: string, token: string) =>
  fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });

/** Asks, and ends the statement that waits, as a time limit does. */
const askAndCancel = (path: string, token: string) =>
  whileLocked(async () => {
    const answer = ask(path, token);
    await untilWaiting(service.db);
    await service.db.pool.query(
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return answer;
  });

async function expectTimedOut(answer: Response): Promise<void> {
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await answer.json()).toMatchObject({ code: "timed_out" });
}

test.each([
  ["the IDM API", `/idm/ep/v1/schools/${school}/people`, () => getAppToken(service, app, ["people:read"])],
  [
    "the admin API",
    `/admin/v1/people/${person}`,
    async () => getAppToken(service, (await makeStaff(service, "OPERATOR")).app, ["admin:read"]),
  ],
])("an answer of %s that PostgreSQL gives up is 503 with a code of its own", async (_api, path, getToken) => {
  await expectTimedOut(await askAndCancel(path, await getToken()));
});

test("an answer whose wait for a lock PostgreSQL ends is 503 with the same code", async () => {
  const token = await getAppToken(service, app, ["people:read"]);
  await expectTimedOut(await whileLocked(() => ask(`/idm/ep/v1/schools/${school}/people`, token)));
});
