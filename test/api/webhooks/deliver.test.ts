import { beforeEach, expect, test } from "vitest";
import { makeUuid } from "../../../src/platform/crypto/ids.ts";
import { findBundle } from "../../contract/bundles.ts";
import { makeCheck } from "../../support/schema-check.ts";
import { answer, startReceiver } from "../../support/receiver.ts";
import { getEndpoint } from "../../support/webhook-changes.ts";
import { startWebhooks, verify } from "../../support/webhooks.ts";

let clientId: string;

const world = await startWebhooks();
const receiver = await startReceiver();
const start = world.clock();
beforeEach(async () => {
  world.clock.set(start);
  await world.db.pool.query("DELETE FROM webhook_endpoint");
  clientId = await world.app();
  receiver.received.length = 0;
  receiver.script(answer(204));
});

const person = () => makeUuid(world.clock());

test("an event arrives with the headers of the contract, signed in both ways, its body exactly that of the contract", async () => {
  const { secret } = await world.endpoint({ clientId, url: `${receiver.url}/hook?tenant=1` });
  const subjectId = person();
  const [id] = await world.tell({ clientId, subjectId, updatedProperties: ["name", "groups"] });
  await world.settle();
  const [call] = receiver.received;
  expect(call).toMatchObject({
    path: "/hook?tenant=1",
    body: `{"event":"person","action":"update","updatedProperties":["name","groups"],"personId":"${subjectId}"}`,
    headers: {
      "content-type": "application/json",
      "x-ep-event-type": "person",
      "webhook-id": id,
      "webhook-timestamp": "1770105600",
    },
  });
  expect(call!.headers).not.toHaveProperty("x-ep-test");
  expect(verify(call!, secret)).toEqual({ ep: true, standard: true });
  expect(verify(call!, `${secret}x`).ep).toBe(false);
});

test("every kind of event has the body that the contract describes", async () => {
  await world.endpoint({ clientId, url: receiver.url });
  const kinds = [
    ...["create", "update", "delete", "restore"].flatMap((action) =>
      (["person", "group", "school"] as const).map((type) => ({ clientId, type, action })),
    ),
    { clientId, type: "person" as const, action: "delete", updatedProperties: ["status"] },
    {
      clientId,
      type: "school" as const,
      action: "update",
      updatedProperties: ["address", "schooling_level", "official_id"],
    },
  ].map((event) => (event.action === "restore" ? { ...event, updatedProperties: ["status"] } : event));
  await world.tell(...kinds);
  await world.settle();
  expect(receiver.received).toHaveLength(kinds.length);
  const check = makeCheck(findBundle("webhooks").document);
  const schemas = { person: "PersonEvent", group: "GroupEvent", school: "SchoolEvent" };
  const wrong = receiver.received.flatMap(({ headers, body }) => {
    // Restoring a school does not happen; the form is the same.
    const schema = schemas[headers["x-ep-event-type"] as keyof typeof schemas];
    const value = JSON.parse(body) as { event: string; action: string };
    const fault =
      value.event === "school" && value.action === "restore"
        ? ""
        : check({ $ref: `#/components/schemas/${schema}` }, value);
    return fault === "" && value.event === headers["x-ep-event-type"] ? [] : [`${body}: ${fault}`];
  });
  expect(wrong).toEqual([]);
  expect(
    receiver
      .events()
      .filter(({ action }) => action === "create")
      .every((event) => !("updatedProperties" in event)),
  ).toBe(true);
});

test("each endpoint of an app gets the types it asked for, and no other app's events", async () => {
  await world.endpoint({ clientId, url: `${receiver.url}/people`, eventTypes: ["person"] });
  await world.endpoint({ clientId, url: `${receiver.url}/all` });
  await world.endpoint({ clientId: await world.app(), url: `${receiver.url}/other` });
  const [one, two] = await world.tell({ clientId }, { clientId, type: "group" });
  await world.settle();
  const idsAt = (path: string) =>
    receiver.received.filter((call) => call.path === path).map(({ headers }) => headers["webhook-id"]);
  expect(idsAt("/people")).toEqual([one]);
  expect(idsAt("/all").sort()).toEqual([one, two].sort());
  expect(idsAt("/other")).toEqual([]);
});

test("an endpoint hears of nothing that happened before it was registered and carried on", async () => {
  await world.tell({ clientId });
  await world.settle();
  await world.endpoint({ clientId, url: receiver.url });
  await world.settle();
  expect(receiver.received).toEqual([]);
});

test("events of one subject arrive in order, one after the other; different subjects side by side", async () => {
  await world.endpoint({ clientId, url: receiver.url });
  let [open, most] = [0, 0];
  const openOf = new Map<string, number>();
  let overlaps = 0;
  receiver.script((call, response) => {
    const subject = (JSON.parse(call.body) as { personId: string }).personId;
    most = Math.max(most, ++open);
    openOf.set(subject, (openOf.get(subject) ?? 0) + 1);
    if (openOf.get(subject)! > 1) overlaps++;
    setImmediate(() => {
      open--;
      openOf.set(subject, openOf.get(subject)! - 1);
      response.writeHead(200).end();
    });
  });
  const subjects = Array.from({ length: 12 }, person);
  const told = await world.tell(
    ...Array.from({ length: 6 }, () => subjects.map((subjectId) => ({ clientId, subjectId }))).flat(),
  );
  await world.settle();
  expect(receiver.received).toHaveLength(72);
  for (const subject of subjects) {
    const arrived = receiver.received
      .filter(({ body }) => body.includes(subject))
      .map(({ headers }) => headers["webhook-id"]);
    expect(arrived).toEqual(told.filter((id) => arrived.includes(id)));
    expect(arrived).toHaveLength(6);
  }
  expect([overlaps, most > 1, most <= 8]).toEqual([0, true, true]);
});

test("while one subject's event fails, its later ones wait, and those of other subjects arrive", async () => {
  await world.endpoint({ clientId, url: receiver.url });
  const [stuck, other] = [person(), person()];
  let isFixed = false;
  receiver.script((call, response) => response.writeHead(call.body.includes(stuck) && !isFixed ? 500 : 200).end());
  const [first, second, third] = await world.tell(
    { clientId, subjectId: stuck },
    { clientId, subjectId: stuck },
    { clientId, subjectId: other },
  );
  await world.settle();
  const arrived = () => receiver.received.map(({ headers }) => headers["webhook-id"]);
  expect(arrived().sort()).toEqual([first, third].sort());
  isFixed = true;
  await world.settle();
  expect(arrived()).toHaveLength(2);
  world.clock.forwardSeconds(6);
  await world.settle();
  expect(arrived().slice(2)).toEqual([first, second]);
});

test("two processes share the work: each event arrives once", async () => {
  await world.endpoint({ clientId, url: receiver.url });
  await world.endpoint({ clientId, url: `${receiver.url}/second` });
  const told = await world.tell(...Array.from({ length: 200 }, () => ({ clientId })));
  await world.run("fanOut");
  await Promise.all([world.run("fanOut"), world.run("fanOut")]);
  const other = await startWebhooks({ db: world.db, clock: world.clock });
  await Promise.all([world.run("deliver"), other.run("deliver")]);
  expect(receiver.received.map(({ headers, path }) => `${path} ${String(headers["webhook-id"])}`).sort()).toEqual(
    told.flatMap((id) => [`/ ${id}`, `/second ${id}`]).sort(),
  );
});

test("a worker that is stopped finishes what is under way, gives its endpoints back and leaves the rest to the next", async () => {
  const { id } = await world.endpoint({ clientId, url: receiver.url });
  const told = await world.tell(...Array.from({ length: 50 }, () => ({ clientId })));
  await world.run("fanOut");
  const stop = new AbortController();
  receiver.script((_call, response, nth) => {
    if (nth === 5) stop.abort();
    response.writeHead(204).end();
  });
  await world.run("deliver", stop.signal);
  const { pending } = await getEndpoint(world.db, id);
  expect([receiver.received.length >= 5, pending > 0, pending]).toEqual([true, true, 50 - receiver.received.length]);
  const { rows } = await world.db.pool.query("SELECT leased_by FROM webhook_endpoint WHERE id = $1", [id]);
  expect(rows).toEqual([{ leased_by: null }]);
  await world.run("deliver");
  expect(receiver.received.map(({ headers }) => headers["webhook-id"]).sort()).toEqual(told.sort());
});

test("what is told to a suspended app waits until it is resumed", async () => {
  await world.endpoint({ clientId, url: receiver.url });
  const setSuspended = (suspendedAt: Date | null) =>
    world.db.prisma.app.update({ where: { clientId }, data: { suspendedAt, suspensionReason: suspendedAt && "test" } });
  await setSuspended(world.clock());
  const [id] = await world.tell({ clientId });
  await world.settle();
  expect(receiver.received).toEqual([]);
  await setSuspended(null);
  await world.settle();
  expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual([id]);
});
