import { expect, test } from "vitest";
import { openDatabase } from "../../src/platform/database/db.ts";
import { testDatabase } from "../support/database.ts";
import { startReceiver } from "../support/receiver.ts";
import { insertEvents } from "../support/app-events.ts";
import { makeRunningClock, startService } from "../support/service.ts";
import { verify } from "../support/webhooks.ts";
import { makeOperator, runHere } from "./program.ts";

type Endpoint = { id: string; secret: string; state: string; reason: string | null; pending: number };
type Deliveries = { deliveries: { deliveryId: string; state: string; messageId: string; attempts: number }[] };

test("an operator drives webhooks from the command line: register, test, look into the log, rotate, redeliver, pause, remove", async () => {
  const db = await testDatabase();
  const env = {
    NODE_ENV: "test",
    DATABASE_URL: db.url,
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
    WEBHOOK_RETRY_SECONDS: "1",
  };
  const { ask, refusal } = makeOperator(runHere(env));
  // The commands go by the machine's clock.
  const clock = makeRunningClock();
  const service = await startService({ db: { ...openDatabase({ url: db.url }), url: db.url }, clock, env });
  const settle = async () => {
    clock.forwardSeconds(60);
    for (const name of ["webhooks.fanOut", "webhooks.deliver"]) await service.runJob(name);
  };
  const receiver = await startReceiver();
  const { clientId } = await ask("app", "create", "--name", "Lernapp");

  const { id, secret } = await ask<Endpoint>(
    "webhook",
    "add",
    clientId,
    "--url",
    receiver.url,
    "--type",
    "person,group",
  );
  expect(await ask("webhook", "list", "--app", clientId)).toMatchObject({
    endpoints: [{ id, eventTypes: ["group", "person"], state: "ACTIVE", url: `${receiver.url}/` }],
  });
  await ask("webhook", "test", id, "--type", "group");
  await settle();
  expect(receiver.received[0]!.headers).toMatchObject({ "x-ep-event-type": "group", "x-ep-test": "true" });
  expect(verify(receiver.received[0]!, secret)).toEqual({ ep: true, standard: true });

  const rotated = await ask<Endpoint>("webhook", "rotate-secret", id, "--overlap-hours", "0");
  receiver.script((_call, response) => response.writeHead(503).end("maintenance"));
  const since = new Date(Date.now() - 60_000).toISOString();
  const [event] = await insertEvents(db, new Date(), [{ clientId }]);
  await settle();
  await settle();
  const { deliveries } = await ask<Deliveries>("webhook", "log", id, "--state", "failed");
  expect(deliveries).toMatchObject([{ state: "FAILED", messageId: event, attempts: 2 }]);
  expect(await ask("webhook", "delivery", deliveries[0]!.deliveryId)).toMatchObject({
    log: [
      { number: 1, status: 503, answer: "maintenance" },
      { number: 2, status: 503 },
    ],
  });

  receiver.script((_call, response) => response.writeHead(204).end());
  expect(await ask("webhook", "redeliver-failed", id, "--since", since)).toMatchObject({ deliveries: 1 });
  await settle();
  expect(verify(receiver.received.at(-1)!, rotated.secret)).toEqual({ ep: true, standard: true });
  await ask("webhook", "redeliver", deliveries[0]!.deliveryId);
  await settle();
  expect(receiver.received.filter(({ headers }) => headers["webhook-id"] === event)).toHaveLength(4);

  await ask("webhook", "update", id, "--url", `${receiver.url}/new`);
  await ask("webhook", "pause", id);
  expect(await ask<Endpoint>("webhook", "show", id)).toMatchObject({ state: "PAUSED", reason: "asked_for" });
  await ask("webhook", "resume", id);
  await ask("webhook", "disable", id, "--yes");
  expect(await refusal("webhook", "test", id)).toMatchObject({ exitCode: 3, code: "webhook_endpoint_disabled" });
  expect(await ask("re-encrypt")).toMatchObject({ values: expect.any(Number) as number });
  await ask("webhook", "remove", id, "--yes");
  expect(await ask("webhook", "list")).toEqual({ endpoints: [] });
  await service.db.close();
});

test("an address inside the network is refused with its reason", async () => {
  const db = await testDatabase();
  const { ask, refusal } = makeOperator(runHere({ NODE_ENV: "test", DATABASE_URL: db.url }));
  const { clientId } = await ask("app", "create", "--name", "Lernapp");
  for (const url of ["https://127.0.0.1/", "https://localhost/", "http://169.254.169.254/"]) {
    expect(await refusal("webhook", "add", clientId, "--url", url)).toMatchObject({
      exitCode: 3,
      code: "webhook_url_refused",
    });
  }
  expect((await refusal("webhook", "add", clientId, "--url", "https://127.0.0.1/")).error).toContain(
    "set WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true for this command and for the service",
  );
});

test("deleting an app takes its endpoints and their log with it, and leaves those of others", async () => {
  const db = await testDatabase();
  const { ask } = makeOperator(runHere({ DATABASE_URL: db.url }));
  const made = [];
  for (const name of ["Gone", "Stays"]) {
    const { clientId } = await ask("app", "create", "--name", name);
    const { id } = await ask<Endpoint>("webhook", "add", clientId, "--url", "https://93.184.216.34/hook");
    await ask("webhook", "test", id);
    made.push({ clientId, id });
  }
  await ask("app", "delete", made[0]!.clientId, "--yes");
  expect((await ask<{ endpoints: Endpoint[] }>("webhook", "list")).endpoints.map(({ id }) => id)).toEqual([
    made[1]!.id,
  ]);
  expect(await db.prisma.webhookDelivery.findMany({ select: { endpointId: true } })).toEqual([
    { endpointId: made[1]!.id },
  ]);
  expect(await db.prisma.webhookSecret.count()).toBe(1);
});
