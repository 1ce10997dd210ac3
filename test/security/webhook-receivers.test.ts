// @module-tag slow
import { randomUUID } from "node:crypto";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { makeGuardedSender, type Lookup } from "../../src/platform/outbound/guarded-request.ts";
import { seal } from "../../src/platform/crypto/seal.ts";
import { atFileEnd } from "../support/file-end.ts";
import { answer, startReceiver } from "../support/receiver.ts";
import { keys, startWebhooks, type WebhookWorld } from "../support/webhooks.ts";

type Hostile = { name: string; says(socket: Socket): unknown; comesTo: object };

/** Writes again and again until the other side hangs up. */
const repeat = (socket: Socket, text: string | Buffer, pauseMs = 5) => {
  const timer = setInterval(() => socket.write(text), pauseMs);
  socket.on("close", () => clearInterval(timer));
};
const late = { code: "ETIMEDOUT" };
const overflow = { code: "UND_ERR_HEADERS_OVERFLOW" };
const head = "HTTP/1.1 200 OK\r\n";

const hostile: Hostile[] = [
  {
    name: "headers at once and a byte of 10 MB now and then",
    says: (socket) => {
      socket.write(`${head}content-length: 10000000\r\n\r\n`);
      repeat(socket, "x");
    },
    comesTo: late,
  },
  {
    name: "a chunk of one byte again and again, without an end",
    says: (socket) => {
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n`);
      repeat(socket, "1\r\nx\r\n");
    },
    comesTo: late,
  },
  {
    name: "one chunk whose extension never ends",
    says: (socket) => {
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n1;`);
      repeat(socket, "x".repeat(1000));
    },
    comesTo: { name: expect.any(String) as string },
  },
  { name: "103 again and again", says: (socket) => repeat(socket, "HTTP/1.1 103 Early Hints\r\n\r\n"), comesTo: late },
  {
    name: "a header of 10 MB",
    says: (socket) => socket.write(`${head}x: ${"x".repeat(10_000_000)}\r\n\r\n`),
    comesTo: overflow,
  },
  {
    name: "headers without number",
    says: (socket) => {
      socket.write(head);
      repeat(socket, "x: y\r\n".repeat(1000));
    },
    comesTo: overflow,
  },
  {
    name: "a trailer without an end",
    says: (socket) => {
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n`);
      repeat(socket, "x: y\r\n".repeat(1000));
    },
    comesTo: { name: expect.any(String) as string },
  },
];

/** A server that says what it likes. */
async function listen(says: Hostile["says"]) {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => open.delete(socket));
    socket.once("data", () => says(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atFileEnd(async () => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, open };
}

test("receivers that never come to an end are hung up on, and others are called meanwhile", async () => {
  const well = await startReceiver(answer(204));
  const outcomes = hostile.map(async ({ name, says, comesTo }) => {
    const timeoutMs = comesTo === overflow ? 60_000 : 500;
    const sender = makeGuardedSender({ allowPrivateAddresses: true, timeoutMs });
    atFileEnd(sender.close);
    const receiver = await listen(says);
    const post = (url: string) => sender.post(new URL(url), { headers: {}, body: "{}" });
    const failed = post(receiver.url).then(
      () => ({ name: "answered" }),
      (error: unknown) => error,
    );
    const callWell = () => post(well.url).then(({ status }) => status, String);
    await expect.poll(callWell).toBe(204);
    expect(await failed, name).toMatchObject(comesTo);
    await expect.poll(() => receiver.open.size).toBe(0);
  });
  await Promise.all(outcomes);
});

test("a compressed answer is not unpacked", async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  const receiver = await startReceiver((_call, response) =>
    response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
  );
  const sender = makeGuardedSender({ allowPrivateAddresses: true, timeoutMs: 5000 });
  atFileEnd(sender.close);
  const { status, start } = await sender.post(new URL(receiver.url), { headers: {}, body: "{}" });
  expect([status, start]).toEqual([200, bomb.subarray(0, 4096)]);
});

test("a resolver that names a public address first and this machine ever after is asked once for a connection", async () => {
  // 127.0.0.2 stands for the public internet, 127.0.0.3 for the inside: at 127.0.0.1 others may have the port.
  const outside = await startReceiver(answer(204), "127.0.0.2");
  const { port } = new URL(outside.url);
  const inside = createServer((socket) => socket.destroy());
  let reached = 0;
  inside.on("connection", () => (reached += 1));
  await new Promise<void>((resolve) => inside.listen(Number(port), "127.0.0.3", resolve));
  atFileEnd(async () => void inside.close());
  let lookups = 0;
  const lookup: Lookup = (_name, _options, done) =>
    done(null, [{ address: lookups++ === 0 ? "127.0.0.2" : "127.0.0.3", family: 4 }]);
  const isAllowed = (address: string) => address === "127.0.0.2";
  const sender = makeGuardedSender({
    allowPrivateAddresses: false,
    allowHttp: true,
    isAllowed,
    lookup,
    timeoutMs: 5000,
  });
  atFileEnd(sender.close);
  const post = () => sender.post(new URL(`http://app.example:${port}/`), { headers: {}, body: "{}" });
  expect((await post()).status).toBe(204);
  expect(lookups).toBe(1);
  // While the connection lasts it is used again; beside it, and after it, the name is refused.
  const outcomes = await Promise.all(
    Array.from({ length: 5 }, () =>
      post().then(
        ({ status }) => String(status),
        (error: unknown) => (error as { code: string }).code,
      ),
    ),
  );
  expect(outcomes.filter((outcome) => outcome !== "204" && outcome !== "EREFUSED")).toEqual([]);
  expect(outcomes).toContain("EREFUSED");
  expect([outside.received.length, reached]).toEqual([1 + outcomes.filter((outcome) => outcome === "204").length, 0]);
});

test("an app gets 20 endpoints and no more, also when it asks for many at once", async () => {
  const hooks = await startWebhooks();
  const clientId = await hooks.app();
  const endpoint = () => hooks.endpoint({ clientId, url: "http://127.0.0.1:9/" });
  for (let made = 0; made < 17; made++) await endpoint();
  const asked = await Promise.allSettled(Array.from({ length: 6 }, endpoint));
  const refused = asked.filter((outcome) => outcome.status === "rejected");
  expect(refused.length).toBe(3);
  for (const { reason } of refused) expect(reason).toMatchObject({ code: "webhook_endpoint_limit" });
  await hooks.endpoint({ clientId: await hooks.app(), url: "http://127.0.0.1:9/" });
});

/** Apps with 20 endpoints each, made like one that is there. */
async function addApps(
  { db, clock, app }: WebhookWorld,
  { apps, url }: { apps: number; url: string },
): Promise<string[]> {
  const model = await app();
  const ids = Array.from({ length: apps }, () => randomUUID());
  await db.pool.query(
    `INSERT INTO app SELECT (jsonb_populate_record(a, jsonb_build_object('client_id', id))).*
     FROM app a, unnest($1::text[]) AS id WHERE a.client_id = $2`,
    [ids, model],
  );
  const endpoints = ids.flatMap((clientId) =>
    Array.from({ length: 20 }, () => {
      const [id, secret] = [randomUUID(), randomUUID()];
      const sealed = seal(
        keys,
        `webhook-secret:${secret}`,
        Buffer.from(`whsec_${Buffer.alloc(32).toString("base64")}`),
      );
      return { id, clientId, url: `${url}/${id}`, secret, sealed };
    }),
  );
  const column = <Name extends keyof (typeof endpoints)[0]>(name: Name) => endpoints.map((one) => one[name]);
  await db.pool.query(
    `INSERT INTO webhook_endpoint (id, client_id, url, event_types, state, state_changed_at, created_at, updated_at)
     SELECT id, client_id, url, '{person}', 'ACTIVE', $4, $4, $4
     FROM unnest($1::uuid[], $2::text[], $3::text[]) AS given (id, client_id, url)`,
    [column("id"), column("clientId"), column("url"), clock()],
  );
  await db.pool.query(
    `INSERT INTO webhook_secret (id, endpoint_id, sealed, created_at)
     SELECT id, endpoint_id, sealed, $4 FROM unnest($1::uuid[], $2::uuid[], $3::bytea[]) AS given (id, endpoint_id, sealed)`,
    [column("secret"), column("id"), column("sealed"), clock()],
  );
  return ids;
}

test("beside 2,000 endpoints, of which 400 get an event, few are called at a time, and the app that came last is too", async () => {
  const concurrency = 64;
  const hooks = await startWebhooks({ settings: { concurrency } });
  let [atOnce, most] = [0, 0];
  const receiver = await startReceiver((_call, response) => {
    most = Math.max(most, ++atOnce);
    setImmediate(() => {
      atOnce -= 1;
      response.writeHead(204).end();
    });
  });
  const apps = await addApps(hooks, { apps: 100, url: receiver.url });
  const last = await hooks.app();
  await hooks.endpoint({ clientId: last, url: `${receiver.url}/last` });
  await hooks.tell(...[...apps.slice(-20), last].map((clientId) => ({ clientId })));
  await hooks.settle();
  expect(new Set(receiver.received.map(({ path }) => path)).size).toBe(401);
  expect(receiver.received.length).toBe(401);
  expect(most).toBeLessThanOrEqual(concurrency);
});
