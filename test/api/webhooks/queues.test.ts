// @module-tag every-postgresql
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { makeUuid } from "../../../src/platform/crypto/ids.ts";
import { listDeliveries, redeliverFailed } from "../../../src/webhooks/index.ts";
import {
  disableEndpoint,
  getEndpoint,
  pauseEndpoint,
  redeliver,
  removeEndpoint,
  resumeEndpoint,
} from "../../support/webhook-changes.ts";
import { answer, startReceiver } from "../../support/receiver.ts";
import { startWebhooks } from "../../support/webhooks.ts";
import { untilWaiting } from "../../support/waiting.ts";

let clientId: string;
let endpoint: { id: string };

const world = await startWebhooks({ settings: { retrySeconds: [5] } });
const receiver = await startReceiver();
beforeEach(async () => {
  await world.db.pool.query("DELETE FROM webhook_endpoint");
  clientId = await world.app();
  endpoint = await world.endpoint({ clientId, url: receiver.url });
  receiver.received.length = 0;
  receiver.script(answer(204));
});

const origin = () => ({ at: world.clock(), actorId: "test" });
const person = () => makeUuid(world.clock());
const ids = () => receiver.received.map(({ headers }) => headers["webhook-id"]);
const query = async (sql: string, ...values: unknown[]) =>
  (await world.db.pool.query<Record<string, unknown>>(sql, values)).rows;

/** Queues that have no first, which would wait for ever. */
const listStuck = () =>
  query(
    "SELECT endpoint_id, subject_id FROM webhook_delivery WHERE state = 'PENDING' GROUP BY 1, 2 HAVING count(due_at) <> 1",
  );

test("an event that is fanned out while the one before it is written down is delivered after it", async () => {
  const subjectId = person();
  const told = await world.tell({ clientId, subjectId });
  await world.run("fanOut");
  const holder = await world.db.pool.connect();
  onTestFinished(() => holder.release(true));
  await holder.query("BEGIN; SELECT FROM webhook_delivery FOR UPDATE");
  const delivering = world.run("deliver");
  await untilWaiting(world.db);
  told.push(...(await world.tell({ clientId, subjectId })));
  const fanningOut = world.run("fanOut");
  await untilWaiting(world.db, 2);
  await holder.query("ROLLBACK");
  await Promise.all([delivering, fanningOut]);
  await world.run("deliver");
  expect(ids()).toEqual(told);
});

test("an event that is sent again takes turns with those of its subject that wait", async () => {
  const subjectId = person();
  receiver.script(answer(500));
  const [old] = await world.tell({ clientId, subjectId });
  await world.settle();
  world.clock.forwardSeconds(6);
  await world.settle();
  const [failed] = await listDeliveries(world.db, { endpointId: endpoint.id, state: "FAILED", limit: 1 });
  const [next, last] = await world.tell({ clientId, subjectId }, { clientId, subjectId });
  await world.run("fanOut");
  await redeliver(world.db, failed!.id, origin());
  expect(await listStuck()).toEqual([]);
  receiver.received.length = 0;
  receiver.script(answer(204));
  await world.run("deliver");
  expect(ids()).toEqual([next, old, last]);
});

test("what was given up while under way and arrived after all makes way for nobody a second time", async () => {
  const subjectId = person();
  const { promise: isCalled, resolve: called } = Promise.withResolvers<() => void>();
  receiver.script((_call, response) => called(() => response.writeHead(204).end()));
  const [late] = await world.tell({ clientId, subjectId });
  await world.run("fanOut");
  const delivering = world.run("deliver");
  const finish = await isCalled;
  await disableEndpoint(world.db, endpoint.id, origin());
  await resumeEndpoint(world.db, endpoint.id, origin());
  const [next, last] = await world.tell({ clientId, subjectId }, { clientId, subjectId });
  await world.run("fanOut");
  receiver.script(answer(204));
  finish();
  await delivering;
  await world.run("deliver");
  expect(ids()).toEqual([late, next, last]);
});

const subjectCount = 24;
/** Events of some people that wait for an endpoint, more than are given up or asked for at once. */
async function makeMany(): Promise<string[]> {
  const subjects = Array.from({ length: subjectCount }, person);
  const told = await world.tell(
    ...Array.from({ length: 1200 }, (_, n) => ({ clientId, subjectId: subjects[n % subjectCount]! })),
  );
  await world.run("fanOut");
  return told;
}

test("of much that waits for an endpoint that is disabled the first part is given up at once, the rest soon", async () => {
  await makeMany();
  await disableEndpoint(world.db, endpoint.id, origin());
  expect((await getEndpoint(world.db, endpoint.id)).pending).toBe(200);
  await world.run("drop");
  expect((await getEndpoint(world.db, endpoint.id)).pending).toBe(0);
  await resumeEndpoint(world.db, endpoint.id, origin());
  await world.settle();
  expect(receiver.received).toEqual([]);
});

test("what is left when it is resumed before that is delivered, and much that was given up sent again, in order", async () => {
  const told = await makeMany();
  await disableEndpoint(world.db, endpoint.id, origin());
  await resumeEndpoint(world.db, endpoint.id, origin());
  await world.settle();
  const left = ids();
  expect(left).toHaveLength(200);
  receiver.received.length = 0;
  expect(await redeliverFailed(world.db, { endpointId: endpoint.id, since: new Date(0) }, origin())).toBe(1000);
  const text = `SELECT sum((detail->>'deliveries')::int)::int AS total FROM audit
    WHERE action = 'webhook_deliveries_repeated' AND client_id = $1`;
  expect(await query(text, clientId)).toEqual([{ total: 1000 }]);
  await world.run("deliver");
  for (const arrived of [left, ids()])
    for (let n = 0; n < subjectCount; n++) {
      const own = told.filter((id, index) => index % subjectCount === n && arrived.includes(id));
      expect(arrived.filter((id) => own.includes(String(id)))).toEqual(own);
    }
  expect([...left, ...ids()].sort()).toEqual(told.toSorted());
});

test("when an event that waited is too old to be kept, the next of its subject takes its place", async () => {
  const subjectId = person();
  await pauseEndpoint(world.db, endpoint.id, origin());
  await world.tell({ clientId, subjectId });
  await world.run("fanOut");
  world.clock.forwardSeconds(20 * 86_400);
  const [later] = await world.tell({ clientId, subjectId });
  await world.run("fanOut");
  world.clock.forwardSeconds(11 * 86_400);
  await world.run("sweep");
  await resumeEndpoint(world.db, endpoint.id, origin());
  await world.run("deliver");
  expect(ids()).toEqual([later]);
});

test("an endpoint with a long log is gone with all of it", async () => {
  await query(
    `INSERT INTO webhook_delivery (message_id, endpoint_id, event_type, subject_id, body, state, created_at, finished_at)
     SELECT gen_random_uuid(), $1, 'person', gen_random_uuid(), '{}', 'DELIVERED', now(), now() FROM generate_series(1, 6000)`,
    endpoint.id,
  );
  await removeEndpoint(world.db, endpoint.id, origin());
  expect(await query("SELECT FROM webhook_delivery WHERE endpoint_id = $1", endpoint.id)).toEqual([]);
});

test.each([
  [
    "webhook_delivery_one_first_idx",
    "two firsts of one subject",
    "UPDATE webhook_delivery SET due_at = now() WHERE endpoint_id = $1",
  ],
  [
    "webhook_delivery_due_check",
    "something finished that is due",
    "UPDATE webhook_delivery SET state = 'FAILED', finished_at = now() WHERE endpoint_id = $1",
  ],
])("%s refuses %s", async (constraint, _claim, sql) => {
  const subjectId = person();
  await world.tell({ clientId, subjectId }, { clientId, subjectId });
  await world.run("fanOut");
  await expect(query(sql, endpoint.id)).rejects.toMatchObject({ constraint });
});
