import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { serve } from "./serve.ts";

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
  const url = await serve((request, response) => {
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
  }, host);
  return {
    url,
    received,
    events: (path) =>
      received
        .filter((call) => path === undefined || call.path === path)
        .map(({ body }) => JSON.parse(body) as Record<string, unknown>),
    script: (next) => void (script = next),
  };
}
