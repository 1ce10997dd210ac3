import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { atFileEnd } from "./file-end.ts";

export type Received = { path: string; headers: IncomingHttpHeaders; body: string; at: number };
/** How the receiver answers; `nth` counts the calls of this path from 1. */
export type Script = (call: Received, response: ServerResponse, nth: number) => unknown;

export type Receiver = {
  url: string;
  received: Received[];
  /** Bodies in the order of their arrival, parsed. */
  events(path?: string): Record<string, unknown>[];
  script(answer: Script): void;
};

export const answer =
  (status: number, headers: Record<string, string> = {}, body = ""): Script =>
  (_call, response) =>
    response.writeHead(status, headers).end(body);

/** An app's server that remembers what it got and answers as a test tells it; ends with the test file. */
export async function startReceiver(first: Script = answer(204), host = "127.0.0.1"): Promise<Receiver> {
  let script = first;
  const received: Received[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const call = {
        path: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        at: performance.now(),
      };
      received.push(call);
      void script(call, response, received.filter(({ path }) => path === call.path).length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  atFileEnd(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    received,
    events: (path) =>
      received
        .filter((call) => path === undefined || call.path === path)
        .map(({ body }) => JSON.parse(body) as Record<string, unknown>),
    script: (next) => void (script = next),
  };
}
