// @module-tag slow
import { expect, test } from "vitest";
import { leastPoolSize } from "../../src/platform/database/share-sizes.ts";
import { makeStaff, type Sent } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { startService } from "../support/service.ts";
import { countStopped, waitForTest, whileStopped } from "../support/standstill.ts";
import { getAppToken } from "../support/token.ts";
import { waitWithoutEnd } from "../support/waiting.ts";

// A change of what an app sees of a whole school, and the deletion of an app, may take many minutes.
const service = await startService({ env: { DATABASE_POOL_SIZE: String(leastPoolSize) } });
const { db } = service;
waitWithoutEnd(service.shares.changes.pool);
const make = makeMakers(db);
await db.pool.query(`${waitForTest};
  CREATE TRIGGER wait_for_test AFTER INSERT ON "grant" FOR EACH ROW EXECUTE FUNCTION wait_for_test();
  CREATE TRIGGER wait_for_test AFTER DELETE ON app FOR EACH ROW EXECUTE FUNCTION wait_for_test()`);

const countHeld = () => countStopped(db);

async function grantAnew() {
  const { call: operator } = await makeStaff(service, "OPERATOR");
  const [{ clientId }, school] = [await make.app(), await make.school()];
  const body = { signOn: { kind: "EVERYBODY" }, sync: true, syncedGroupIds: [] };
  return () => operator("PUT", `/schools/${school}/grants/${clientId}`, { body, headers: { "if-none-match": "*" } });
}

async function deleteAnew() {
  const { call: operator } = await makeStaff(service, "OPERATOR");
  const { clientId } = await make.app();
  const tag = (await operator("GET", `/apps/${clientId}`)).headers.get("etag")!;
  return () => operator("DELETE", `/apps/${clientId}`, { headers: { "if-match": tag } });
}

test.each([
  ["changes of what apps see", grantAnew],
  ["deletions of apps", deleteAnew],
])(
  "while %s are under way, other staff read pages and make short changes, and apps read lists",
  async (_name, prepare) => {
    const long = [await prepare(), await prepare(), await prepare()];
    const school = await make.school();
    const group = await make.group({ school });
    const office = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
    const { browser } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
    const reader = await make.app({ scopes: ["people:read"] });
    await make.grant({ app: reader.clientId, school, sync: true });
    const headers = { authorization: `Bearer ${await getAppToken(service, reader, ["people:read"])}` };
    const tag = (await office.call("GET", `/groups/${group}`)).headers.get("etag")!;
    const given = { body: { name: "6b" }, headers: { "if-match": tag } };
    let done: Promise<Sent>[] = [];
    await whileStopped(db, async () => {
      done = long.map((start) => start());
      await expect.poll(countHeld).toBe(1);
      const changed = await office.call("PATCH", `/groups/${group}`, given);
      expect([changed.status, changed.body]).toEqual([204, null]);
      expect((await browser.open(`/admin/schools/${school}/classes`)).html).toContain("6b");
      expect((await fetch(`${service.url}/idm/ep/v1/schools/${school}/people`, { headers })).status).toBe(200);
      // The others wait without a connection.
      expect([await countHeld(), service.shares.changes.pool.waitingCount]).toEqual([1, 0]);
    });
    expect((await Promise.all(done)).map(({ status }) => status)).toEqual([204, 204, 204]);
  },
);
