import { createServer, request as openRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { duplexPair, Readable, type Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import express, { type Router } from "express";
import { CallerLeft } from "../concurrency/caller.ts";

export const innerOrigin = "http://inside.invalid";

export type InnerFetch = (request: Request) => Promise<Response>;

/** Calls routers of this process in memory, without a token; `findCaller` returns null for other requests. */
export function makeInnerCalls<Caller extends { requestId: string }>(): {
  findCaller(req: IncomingMessage): Caller | null;
  serve(router: Router): (caller: Caller) => InnerFetch;
} {
  const callers = new WeakMap<Duplex, Caller>();
  const findCaller = ({ socket }: IncomingMessage) => callers.get(socket) ?? null;
  return {
    findCaller,
    serve(router) {
      const app = express().disable("x-powered-by").disable("etag").use(router);
      const server = createServer((req, res: ServerResponse & { locals?: object }) => {
        res.locals = { requestId: findCaller(req)?.requestId ?? "" };
        app(req, res as never);
      });
      const connect = (caller: Caller): Duplex => {
        const [near, far] = duplexPair();
        callers.set(far, caller);
        server.emit("connection", far);
        return near;
      };
      return (caller) => (request) => send(request, () => connect(caller));
    },
  };
}

async function send(request: Request, connect: () => Duplex): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const sent = openRequest({
    createConnection: connect as never,
    method: request.method,
    path: pathname + search,
    headers: Object.fromEntries(request.headers),
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) =>
    sent.once("response", resolve).once("error", reject),
  );
  const leave = () => sent.destroy(new CallerLeft());
  request.signal.addEventListener("abort", leave);
  const given = request.body === null ? null : Readable.fromWeb(request.body as never);
  if (given === null) sent.end();
  else pipeline(given, sent).catch((error: unknown) => sent.destroy(error as Error));
  const answer = await answered.catch((error: unknown) => {
    // A broken request body also breaks the response; report the first error.
    throw given?.errored ?? error;
  });
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const { statusCode: status = 500, headers } = answer;
  const body = chunks.length === 0 ? null : Buffer.concat(chunks);
  const kept = Object.entries(headers).filter(([name]) => name !== "transfer-encoding");
  return new Response(body, { status, headers: kept.map(([name, value]) => [name, String(value)]) });
}
