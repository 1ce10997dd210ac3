import { Agent, request, type IncomingHttpHeaders, type IncomingMessage, type RequestListener } from "node:http";
import type { Exchange } from "./exchange-check.ts";

const keptBytes = 1 << 21;
const betweenNeighbours = new Set(["connection", "keep-alive", "transfer-encoding"]);

/**
 * Passes every request on to the service at `port` and its answer back, unchanged, and tells of each exchange that came
 * to its end.
 *
 * Shape: the service sees the caller's loopback address.
 */
export function makeProxy(port: number, tell: (exchange: Exchange) => void): RequestListener & { close(): void } {
  const agent = new Agent({ keepAlive: true });
  const listener: RequestListener = (req, res) => {
    const sent = keep(req);
    const address = req.socket.remoteAddress?.replace("::ffff:", "");
    const ahead = request({
      agent,
      host: address === "::1" ? "::1" : "127.0.0.1",
      ...(address !== undefined && { localAddress: address }),
      port,
      method: req.method,
      path: req.url,
      headers: withoutNeighbours(req.rawHeaders) as unknown as Record<string, string>,
    });
    ahead.on("response", (answer) => {
      const received = keep(answer);
      const closes = answer.headers.connection === "close" ? ["Connection", "close"] : [];
      res.sendDate = false;
      res.writeHead(answer.statusCode!, answer.statusMessage, [...withoutNeighbours(answer.rawHeaders), ...closes]);
      answer.pipe(res);
      answer.on("end", () =>
        tell({
          method: req.method!,
          target: req.url!,
          requestHeaders: oneEach(req.headers),
          requestBody: sent(),
          status: answer.statusCode!,
          headers: oneEach(answer.headers),
          body: received(),
        }),
      );
      // What the service cut off is cut off here too.
      answer.on("error", () => res.destroy());
    });
    ahead.on("error", () => {
      if (!res.headersSent) res.destroy();
    });
    res.on("close", () => {
      if (!res.writableFinished) ahead.destroy();
    });
    req.pipe(ahead);
  };
  return Object.assign(listener, { close: () => agent.destroy() });
}

/** Keeps a body that passes by; null where it is too long, or only a part of it came. */
function keep(message: IncomingMessage): () => Buffer | null {
  const chunks: Buffer[] = [];
  let length = 0;
  message.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= keptBytes) chunks.push(chunk);
  });
  return () => (length <= keptBytes && message.complete ? Buffer.concat(chunks) : null);
}

function withoutNeighbours(rawHeaders: string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!betweenNeighbours.has(rawHeaders[at]!.toLowerCase())) kept.push(rawHeaders[at]!, rawHeaders[at + 1]!);
  return kept;
}

const oneEach = (headers: IncomingHttpHeaders): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
