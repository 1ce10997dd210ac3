// @module-tag slow
import type { ServerOptions } from "node:http";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { openServer, type Server } from "../../src/platform/server/server.ts";

let opened: Server[] = [];
afterEach(async () => {
  await Promise.all(opened.map((server) => server.stop(0)));
  opened = [];
});

async function open(host = "127.0.0.1", limits: ServerOptions = {}) {
  const server = await openServer({ host, port: 0, limits });
  opened.push(server);
  return { server, url: `http://127.0.0.1:${server.port}` };
}

function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => (answer += String(chunk)));
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}

test("before the service is there the process is live and not ready", async () => {
  const { url } = await open();
  expect((await fetch(`${url}/health/live`)).status).toBe(200);
  const ready = await fetch(`${url}/health/ready`);
  expect([ready.status, ready.headers.get("retry-after")]).toEqual([503, "2"]);
});

test("localhost is both loopback addresses and no other", async () => {
  const { server, url } = await open("localhost");
  expect((await fetch(`${url}/health/live`)).status).toBe(200);
  expect((await fetch(`http://localhost:${server.port}/health/live`)).status).toBe(200);
});

test("a taken port is an error with its code", async () => {
  const { server } = await open();
  await expect(openServer({ host: "127.0.0.1", port: server.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
});

test("a running request ends after the stop, its connection is closed, and nothing new is accepted", async () => {
  const { server, url } = await open();
  const { promise: held, resolve: release } = Promise.withResolvers<undefined>();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<undefined>();
  server.serve((_req, res) => {
    arrive(undefined);
    void held.then(() => res.end("whole answer"));
  });
  const request = fetch(url);
  await arrived;
  const stopped = server.stop(600);
  expect(server.isStopping()).toBe(true);
  await expect(fetch(url)).rejects.toThrow();
  release(undefined);
  const answer = await request;
  expect(await answer.text()).toBe("whole answer");
  expect(answer.headers.get("connection")).toBe("close");
  expect(await stopped).toEqual({ cutOff: 0 });
});

test("an answer that had begun before the stop ends too, and the stop does not wait for the idle connection", async () => {
  const { server, url } = await open();
  const { promise: held, resolve: release } = Promise.withResolvers<undefined>();
  server.serve((_req, res) => {
    res.write("first ");
    void held.then(() => res.end("second"));
  });
  const answer = await fetch(url);
  const startedAt = performance.now();
  const stopped = server.stop(600);
  release(undefined);
  expect(await answer.text()).toBe("first second");
  expect(await stopped).toEqual({ cutOff: 0 });
  expect(performance.now() - startedAt).toBeLessThan(300_000);
});

test("a request that outlives the grace time is cut off and counted", async () => {
  const { server, url } = await open();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<undefined>();
  server.serve(() => arrive(undefined));
  const request = fetch(url).catch(() => "cut");
  await arrived;
  expect(await server.stop(0.05)).toEqual({ cutOff: 1 });
  expect(await request).toBe("cut");
});

test.each([
  ["a broken request line", "nonsense\r\n\r\n", 400],
  ["a Content-Length that is no number", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n", 400],
  ["two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400],
  ["no Host", "GET / HTTP/1.1\r\n\r\n", 400],
  ["20 kB of headers", `GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${"x".repeat(20_000)}\r\n\r\n`, 431],
])("%s is answered with a client error", async (_claim, request, status) => {
  const { server } = await open();
  server.serve((_req, res) => void res.end("reached"));
  expect(await sendRaw(server.port, request)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

test.each([
  ["headers", "GET / HTTP/1.1\r\nHost: x\r\n"],
  ["a body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nab"],
])("a client that does not finish %s is let go, and does not stop others", async (_claim, request) => {
  const { server, url } = await open("127.0.0.1", {
    headersTimeout: 200,
    requestTimeout: 200,
    connectionsCheckingInterval: 50,
  });
  server.serve((req, res) => void req.on("end", () => res.end("whole")).resume());
  const slow = sendRaw(server.port, request);
  // On a busy machine another client may be too slow too.
  await expect.poll(async () => (await fetch(url)).text()).toBe("whole");
  expect(await slow).toMatch(/^HTTP\/1.1 408 /);
});
