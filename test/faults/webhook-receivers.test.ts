import { createServer, type AddressInfo } from "node:net";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { OutboundPolicy } from "../../src/platform/outbound/guarded-request.ts";
import { getDelivery, listDeliveries, type Attempt } from "../../src/webhooks/index.ts";
import { registerEndpoint } from "../support/webhook-changes.ts";
import { atFileEnd } from "../support/file-end.ts";
import { findPort } from "../support/find-port.ts";
import { answer, startReceiver, type Receiver } from "../support/receiver.ts";
import { keys, startWebhooks, type WebhookWorld } from "../support/webhooks.ts";

let world: WebhookWorld;
/** Waits for a receiver so long only. */
let impatient: WebhookWorld;
let receiver: Receiver;
let clientId: string;

beforeAll(async () => {
  world = await startWebhooks();
  impatient = await startWebhooks({ settings: { timeoutMs: 400 } });
  receiver = await startReceiver();
});
beforeEach(async () => {
  clientId = await world.app();
  receiver.received.length = 0;
  receiver.script(answer(204));
});

async function deliver(url = receiver.url, of: WebhookWorld = world, app = clientId): Promise<Attempt[]> {
  const { id } = await of.endpoint({ clientId: app, url });
  await of.tell({ clientId: app });
  await of.settle();
  return logOf(id, of);
}
async function logOf(endpointId: string, of: WebhookWorld): Promise<Attempt[]> {
  const [delivery] = await listDeliveries(of.db, { endpointId, limit: 1 });
  return (await getDelivery(of.db, delivery!.id)).log;
}

test("a receiver that does not answer in time is a failure after the timeout, and is hung up on", async () => {
  const { promise: isHungUp, resolve: hungUp } = Promise.withResolvers<null>();
  receiver.script((_call, response) => response.on("close", () => hungUp(null)));
  const [attempt] = await deliver(receiver.url, impatient, await impatient.app());
  expect(attempt).toMatchObject({ status: null, error: expect.stringContaining("ETIMEDOUT") as string });
  expect(attempt!.durationMs).toBeGreaterThanOrEqual(390);
  await isHungUp;
});

test("one that closes early, before or within its answer, is a failure that is tried again", async () => {
  // One of its own: what other tests left to be tried again must not be counted here.
  const closing = await startReceiver((_call, response, nth) =>
    nth === 1
      ? response.socket?.destroy()
      : nth === 2
        ? response.writeHead(200, { "content-length": "100" }).write("half", () => response.socket?.destroy())
        : response.writeHead(204).end(),
  );
  const { id } = await world.endpoint({ clientId, url: closing.url });
  await world.tell({ clientId });
  for (const seconds of [0, 6, 301]) {
    world.clock.forwardSeconds(seconds);
    await world.settle();
  }
  const log = await logOf(id, world);
  expect(log.map(({ status }) => status)).toEqual([null, null, 204]);
  expect(log.slice(0, 2).every(({ error }) => /other side closed|ECONNRESET|terminated/.test(error!))).toBe(true);
});

test("one that answers 10 MB is cut off after 4 KiB, and its status counts", async () => {
  const { promise: isHungUp, resolve: hungUp } = Promise.withResolvers<null>();
  receiver.script((_call, response) => {
    response.writeHead(200).write(Buffer.alloc(10_000_000, "x"));
    response.on("close", () => hungUp(null));
  });
  const [attempt] = await deliver();
  expect([attempt!.status, attempt!.answer]).toEqual([200, "x".repeat(4096)]);
  await isHungUp;
});

test("an answer that is no text is kept as it came", async () => {
  receiver.script((_call, response) => response.writeHead(500).end(Buffer.from([0, 255, 254, 10])));
  expect((await deliver())[0]).toMatchObject({ status: 500 });
});

test("a redirect is a failure and is not followed, wherever it leads", async () => {
  const secret = await startReceiver();
  receiver.script(answer(302, { location: `${secret.url}/metadata` }));
  expect((await deliver())[0]).toMatchObject({ status: 302, error: null });
  receiver.script(answer(307, { location: "http://169.254.169.254/latest/meta-data" }));
  expect((await deliver(`${receiver.url}/again`))[0]).toMatchObject({ status: 307 });
  expect(secret.received).toEqual([]);
});

test("no one there is a failure with its reason", async () => {
  expect((await deliver(`http://127.0.0.1:${await findPort()}/`))[0]).toMatchObject({
    status: null,
    error: expect.stringContaining("ECONNREFUSED") as string,
  });
});

test("one that speaks no HTTP is a failure", async () => {
  const server = createServer((socket) => socket.on("error", () => {}).end("SSH-2.0-nothing\r\n")).listen(
    0,
    "127.0.0.1",
  );
  atFileEnd(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  expect((await deliver(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))[0]).toMatchObject({
    status: null,
    error: expect.stringContaining("does not match the HTTP") as string,
  });
});

test("a name is resolved anew for each connection: one that later leads inside is not called", async () => {
  // 127.0.0.2 stands for the public internet, 127.0.0.1 for the inside.
  const outside = await startReceiver(answer(204, { connection: "close" }), "127.0.0.2");
  const { port } = new URL(outside.url);
  const insider = await startReceiver(answer(204), "127.0.0.1");
  let address = "127.0.0.2";
  let lookups = 0;
  const policy: OutboundPolicy = {
    allowPrivateAddresses: false,
    allowHttp: true,
    isAllowed: (asked) => asked === "127.0.0.2",
    lookup: (_name, _options, done) => (lookups++, done(null, [{ address, family: 4 }])),
  };
  const own = await startWebhooks({ policy });
  const app = await own.app();
  const { id } = await registerEndpoint(
    own.db,
    { clientId: app, url: `http://app.example.org:${port}/`, eventTypes: ["person"] },
    { origin: { at: own.clock() }, keys, policy },
  );
  await own.tell({ clientId: app });
  await own.settle();
  expect([outside.received.length, lookups]).toEqual([1, 2]);

  address = "127.0.0.1";
  await own.tell({ clientId: app });
  await own.settle();
  expect((await logOf(id, own))[0]).toMatchObject({
    status: null,
    error: expect.stringContaining("not public") as string,
  });
  expect([outside.received.length, insider.received.length]).toEqual([1, 0]);
});

test("an endpoint that hangs does not keep the others waiting", async () => {
  const { promise: isOver, resolve: giveUp } = Promise.withResolvers<null>();
  const { promise: haveAll, resolve: gotAll } = Promise.withResolvers<null>();
  receiver.script(async (call, response, nth) => {
    if (call.path === "/well" && nth === 100) gotAll(null);
    if (call.path === "/hang") await isOver;
    response.writeHead(call.path === "/hang" ? 500 : 204).end();
  });
  await world.endpoint({ clientId, url: `${receiver.url}/hang` });
  const healthy = await Promise.all(Array.from({ length: 5 }, () => world.app()));
  for (const app of healthy) await world.endpoint({ clientId: app, url: `${receiver.url}/well` });
  await world.tell(
    ...Array.from({ length: 50 }, () => ({ clientId })),
    ...healthy.flatMap((app) => Array.from({ length: 20 }, () => ({ clientId: app }))),
  );
  await world.run("fanOut");
  let hasEnded = false;
  const running = world.run("deliver").then(() => (hasEnded = true));
  await haveAll;
  // The others have theirs while the one that hangs still does.
  expect(hasEnded).toBe(false);
  giveUp(null);
  await running;
  expect(receiver.received.filter(({ path }) => path === "/hang").length).toBeLessThanOrEqual(30);
});
