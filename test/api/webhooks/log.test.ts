import { beforeEach, expect, test } from "vitest";
import { getDelivery, listDeliveries, redeliverFailed } from "../../../src/webhooks/index.ts";
import { redeliver, sendTestEvent } from "../../support/webhook-changes.ts";
import { findBundle } from "../../contract/bundles.ts";
import { makeCheck } from "../../support/schema-check.ts";
import { answer, startReceiver } from "../../support/receiver.ts";
import { startWebhooks, verify } from "../../support/webhooks.ts";

let clientId: string;
let endpoint: { id: string; secret: string };

const world = await startWebhooks({ settings: { retrySeconds: [5] } });
const receiver = await startReceiver();
const start = world.clock();
beforeEach(async () => {
  world.clock.set(start);
  await world.db.pool.query("DELETE FROM webhook_endpoint");
  clientId = await world.app();
  endpoint = await world.endpoint({ clientId, url: receiver.url });
  receiver.received.length = 0;
  receiver.script(answer(204));
});

const origin = () => ({ at: world.clock(), actorId: "test" });
const list = (state?: "DELIVERED" | "FAILED") =>
  listDeliveries(world.db, { endpointId: endpoint.id, limit: 50, ...(state && { state }) });
const ids = () => receiver.received.map(({ headers }) => headers["webhook-id"]);

/** Has `count` deliveries given up. */
async function fail(count: number): Promise<string[]> {
  receiver.script(answer(500));
  const told = await world.tell(...Array.from({ length: count }, () => ({ clientId })));
  await world.settle();
  world.clock.forwardSeconds(6);
  await world.settle();
  receiver.received.length = 0;
  receiver.script(answer(200, {}, "thanks"));
  return told;
}

test("the log tells each attempt: when, how long, status, and the first bytes of the answer", async () => {
  receiver.script((_call, response, nth) =>
    nth === 1 ? setTimeout(() => response.writeHead(500).end("broken"), 40) : response.writeHead(200).end("ok"),
  );
  await world.tell({ clientId });
  await world.settle();
  world.clock.forwardSeconds(6);
  await world.settle();
  const [delivery] = await list();
  const { log } = await getDelivery(world.db, delivery!.id);
  expect(log).toMatchObject([
    { number: 1, at: new Date("2026-02-03T08:00:00Z"), status: 500, answer: "broken", error: null },
    { number: 2, status: 200, answer: "ok", error: null },
  ]);
  expect(log[0]!.durationMs).toBeGreaterThanOrEqual(35);
});

test("a delivery is sent again under its webhook-id, with all its tries anew; one that waits is refused", async () => {
  const [message] = await fail(1);
  const [delivery] = await list("FAILED");
  receiver.script(answer(500));
  await redeliver(world.db, delivery!.id, origin());
  await expect(redeliver(world.db, delivery!.id, origin())).rejects.toMatchObject({ code: "webhook_delivery_pending" });
  await world.settle();
  world.clock.forwardSeconds(6);
  receiver.script(answer(200));
  await world.settle();
  expect(ids()).toEqual([message, message]);
  const found = await getDelivery(world.db, delivery!.id);
  expect([found.state, found.log.map(({ number, status }) => [number, status])]).toEqual([
    "DELIVERED",
    [
      [1, 500],
      [2, 500],
      [3, 500],
      [4, 200],
    ],
  ]);
  await redeliver(world.db, delivery!.id, origin());
  await world.settle();
  expect(ids()).toHaveLength(3);
  for (const number of ["0", "x", "99999999999999999999"])
    await expect(getDelivery(world.db, number)).rejects.toMatchObject({ kind: "not_found" });
});

test("everything that failed since a time is sent again, and nothing else", async () => {
  await fail(2);
  world.clock.forwardSeconds(3600);
  const since = world.clock();
  const told = await fail(3);
  expect(await redeliverFailed(world.db, { endpointId: endpoint.id, since }, origin())).toBe(3);
  await world.settle();
  expect(ids().sort()).toEqual(told.sort());
  expect((await list("FAILED")).length).toBe(2);
});

test.each(["person", "group", "school"] as const)(
  "a test event (%s) looks like a real one, says that it is a test, and is signed",
  async (eventType) => {
    const id = await sendTestEvent(world.db, { endpointId: endpoint.id, eventType }, origin());
    await world.settle();
    const [call] = receiver.received;
    expect(call!.headers).toMatchObject({ "x-ep-event-type": eventType, "x-ep-test": "true" });
    expect(verify(call!, endpoint.secret)).toEqual({ ep: true, standard: true });
    const schema = { person: "PersonEvent", group: "GroupEvent", school: "SchoolEvent" }[eventType];
    expect(
      makeCheck(findBundle("webhooks").document)({ $ref: `#/components/schemas/${schema}` }, JSON.parse(call!.body)),
    ).toBe("");
    expect(await getDelivery(world.db, id)).toMatchObject({ state: "DELIVERED", isTest: true });
  },
);

test("the log is kept for 30 days and no longer", async () => {
  await world.tell({ clientId });
  await world.settle();
  world.clock.forwardSeconds(30 * 86_400 - 60);
  await world.run("sweep");
  const [delivery] = await list();
  expect((await getDelivery(world.db, delivery!.id)).log).toHaveLength(1);
  world.clock.forwardSeconds(120);
  await world.run("sweep");
  expect(await list()).toEqual([]);
  const { rows } = await world.db.pool.query("SELECT FROM webhook_attempt WHERE delivery_id = $1", [delivery!.id]);
  expect(rows).toEqual([]);
});
