// A receiver of webhooks in its own process: answers 204, and remembers when each webhook-id came first. A path that
// begins with /hang gets no answer.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const times = new Map<string, number>();
let requests = 0;
const server = createServer((request, response) => {
  if (request.url === "/count") return void response.end(JSON.stringify({ requests, unique: times.size }));
  if (request.url === "/times") return void response.end(JSON.stringify([...times]));
  if (request.url === "/reset") {
    times.clear();
    requests = 0;
    return void response.end();
  }
  if (request.url?.startsWith("/hang")) return;
  request.resume();
  request.on("end", () => {
    requests++;
    const id = request.headers["webhook-id"];
    if (typeof id === "string" && !times.has(id)) times.set(id, Date.now());
    response.writeHead(204).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
);
process.once("SIGTERM", () => process.exit(0));
