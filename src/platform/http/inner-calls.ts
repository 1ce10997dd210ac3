import { channel } from "node:diagnostics_channel";
import { IncomingMessage, ServerResponse } from "node:http";
import { Duplex, finished, PassThrough, Readable } from "node:stream";
import express, { type Router } from "express";
import { CallerLeft } from "../concurrency/caller.ts";

export const innerOrigin = "http://inside.invalid";

/** `url` is path and query. The names of headers are in lower case. */
type InnerRequest = {
  method: string;
  url: string;
  headers?: Record<string, string>;
  body?: Buffer | Readable | undefined;
  signal?: AbortSignal | undefined;
  /** Whether a body without an error is returned as a stream, as soon as it begins. */
  isFile?: boolean;
};
type InnerResponse = { status: number; headers: Headers; body: Buffer | Readable };
export type InnerFetch = (request: Request) => Promise<Response>;

/** Publishes the method and address of each call, for diagnostics and tests. */
const innerCalls = channel("schultor.inner-calls");

/** Calls routers of this process as functions, without a token; `findCaller` returns null for other requests. */
export function makeInnerCalls<Caller extends { requestId: string }>(): {
  findCaller(req: IncomingMessage): Caller | null;
  serve(router: Router): (caller: Caller, request: InnerRequest) => Promise<InnerResponse>;
} {
  const callers = new WeakMap<Duplex, Caller>();
  return {
    findCaller: ({ socket }) => callers.get(socket) ?? null,
    serve(router) {
      const app = express().disable("x-powered-by").disable("etag").use(router);
      return (caller, request) => {
        const socket = new Duplex({ read: () => undefined, write: (_piece, _encoding, done) => done() });
        callers.set(socket, caller);
        innerCalls.publish({ method: request.method, url: request.url });
        const req = makeRequest(socket, request);
        const { res, response } = makeResponse(req, request);
        Object.assign(res, { locals: { requestId: caller.requestId } });
        app(req, res as never);
        return response;
      };
    },
  };
}

/** For callers that have a `Request` of the web. */
export const fetchInside =
  (call: (request: InnerRequest) => Promise<InnerResponse>): InnerFetch =>
  async ({ method, url, headers, body, signal }) => {
    const { pathname, search } = new URL(url);
    const answer = await call({
      method,
      url: pathname + search,
      headers: Object.fromEntries(headers),
      body: body === null ? undefined : Readable.fromWeb(body as never),
      signal,
    });
    const { body: bytes } = answer;
    if (bytes instanceof Readable) return new Response(Readable.toWeb(bytes) as ReadableStream, answer);
    return new Response(bytes.length === 0 ? null : Uint8Array.from(bytes), answer);
  };

/** The request as express reads it, with the body that a socket would bring. */
function makeRequest(socket: Duplex, { method, url, headers = {}, body }: InnerRequest): IncomingMessage {
  const req = new IncomingMessage(socket as never);
  const length = Buffer.isBuffer(body) ? { "content-length": String(body.length) } : { "transfer-encoding": "chunked" };
  Object.assign(req, { method, url, headers: { ...headers, ...(body !== undefined && length) }, httpVersion: "1.1" });
  const end = () => {
    req.complete = true;
    req.push(null);
  };
  if (body instanceof Readable) {
    req._read = () => void body.resume();
    body.pause();
    body.on("data", (piece) => void (req.push(piece) || body.pause()));
    finished(body, { writable: false }, (error) => void (error || end()));
  } else {
    req._read = () => undefined;
    if (body !== undefined) req.push(body);
    end();
  }
  return req;
}

function makeResponse(
  req: IncomingMessage,
  { body, signal, isFile = false }: InnerRequest,
): { res: ServerResponse; response: Promise<InnerResponse> } {
  const res = new ServerResponse(req);
  const pieces: Buffer[] = [];
  const { promise: response, resolve, reject } = Promise.withResolvers<InnerResponse>();
  let file: PassThrough | null = null;
  const toHeaders = () =>
    new Headers(Object.entries(res.getHeaders()).map(([name, value]): [string, string] => [name, String(value)]));
  const beginFile = () => {
    file = new PassThrough().on("drain", () => res.emit("drain")).once("close", leave);
    resolve({ status: res.statusCode, headers: toHeaders(), body: file });
  };
  const keep = (piece: unknown) => {
    if (!res.headersSent) res.writeHead(res.statusCode);
    if (file !== null) return file.write(piece);
    if (typeof piece === "string" || piece instanceof Uint8Array) pieces.push(Buffer.from(piece as Uint8Array));
    return true;
  };
  const close = () => {
    signal?.removeEventListener("abort", leave);
    res.destroyed = true;
    res.emit("close");
  };
  const breakOff = (error: Error) => {
    if (res.destroyed) return;
    close();
    file?.destroy(error);
    req.destroy(error);
    reject(error);
  };
  function leave() {
    breakOff(new CallerLeft());
  }
  const { writeHead } = ServerResponse.prototype;
  Object.assign(res, {
    // Keeps the headers, which node writes into the text of the head alone.
    writeHead(status: number, headers: Record<string, string | number> = {}) {
      for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
      writeHead.call(res, status);
      if (isFile && status < 300) beginFile();
      return res;
    },
    write: keep,
    end(piece?: unknown) {
      if (res.writableEnded) return res;
      if (file === null) keep(piece);
      else file.off("close", leave).end();
      Object.assign(res, { finished: true });
      process.nextTick(() => {
        if (res.destroyed) return;
        res.emit("finish");
        close();
        resolve({ status: res.statusCode, headers: toHeaders(), body: Buffer.concat(pieces) });
      });
      return res;
    },
    destroy() {
      breakOff(new Error("The response broke off."));
      return res;
    },
  });
  if (body instanceof Readable) finished(body, { writable: false }, (error) => void (error && breakOff(error)));
  signal?.addEventListener("abort", leave);
  if (signal?.aborted === true) leave();
  return { res, response };
}
