import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener, Server as HttpServer, ServerOptions, ServerResponse, IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export type Server = {
  port: number;
  serve(handler: RequestListener): void;
  isStopping(): boolean;
  stop(graceSeconds: number): Promise<{ cutOff: number }>;
};

// keepAliveTimeout exceeds the 60 s of common load balancers, so that the balancer closes first.
const standardLimits = {
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5000,
  maxHeaderSize: 16_384,
};
const silenceMs = 120_000;

const answerWhileStarting: RequestListener = (req, res) => {
  const live = req.url === "/health/live";
  res.writeHead(live ? 200 : 503, {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    ...(live ? {} : { "Retry-After": "2" }),
  });
  res.end(JSON.stringify(live ? { status: "live" } : { status: "not_ready", missing: ["the service is starting"] }));
};

type ListenOptions = { host: string; port: number; limits?: ServerOptions };

/** Opens the port first, so that a taken port shows at once. `localhost` is both loopback addresses. */
export async function openServer({ host, port, limits = {} }: ListenOptions): Promise<Server> {
  const running = new Set<ServerResponse>();
  const refused = new WeakSet<Socket>();
  const servers: HttpServer[] = [];
  let handler = answerWhileStarting;
  let stopping = false;

  const listener: RequestListener = (req, res) => {
    // What follows a refused request may be part of it.
    if (refused.has(req.socket)) return;
    running.add(res);
    // Several parts of the service listen for the end of a response; Node warns above ten.
    res.setMaxListeners(32);
    // Node would use the machine's clock, from which browsers compute the expiry of our cookies.
    res.setHeader("Date", new Date(Date.now()).toUTCString());
    if (stopping) res.setHeader("Connection", "close");
    res.once("close", () => {
      running.delete(res);
      if (stopping) setImmediate(() => servers.forEach((server) => server.closeIdleConnections()));
    });
    const path = pathOfTarget(req.url ?? "");
    if (path === null || isAmbiguous(req)) {
      refused.add(req.socket);
      return void res.writeHead(400, { Connection: "close" }).end();
    }
    req.url = path;
    handler(req, res);
  };
  const open = async (address: string, at: number) => {
    const server = createServer({ ...standardLimits, ...limits }, listener);
    server.setTimeout(silenceMs);
    await listen(server, address, at);
    return server;
  };

  const first = await open(host === "localhost" ? "127.0.0.1" : host, port);
  servers.push(first);
  const opened = (first.address() as AddressInfo).port;
  if (host === "localhost") {
    const second = await open("::1", opened).catch((error: unknown) => {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT") return null;
      first.close();
      throw error;
    });
    if (second !== null) servers.push(second);
  }

  return {
    port: opened,
    serve: (next) => {
      handler = next;
    },
    isStopping: () => stopping,
    async stop(graceSeconds) {
      stopping = true;
      for (const res of running) if (!res.headersSent) res.setHeader("Connection", "close");
      const closed = Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      const aborted = new AbortController();
      const late = sleep(graceSeconds * 1000, "late", { signal: aborted.signal }).catch(() => "stopped");
      const outcome = await Promise.race([closed, late]);
      aborted.abort();
      const cutOff = outcome === "late" ? running.size : 0;
      for (const server of servers) server.closeAllConnections();
      await closed;
      return { cutOff };
    },
  };
}

async function listen(server: HttpServer, host: string, port: number): Promise<void> {
  // Without a host Node listens on all addresses, with or without IPv6.
  server.listen({ ...(host !== "::" && { host }), port });
  await once(server, "listening");
}

const hasSeveralHosts = ({ rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length > 1;

/** Whether a proxy may have parsed the request differently (RFC 9112 sections 3.2 and 6.1). */
function isAmbiguous(req: IncomingMessage): boolean {
  const { host = "", "transfer-encoding": coding } = req.headers;
  if (req.httpVersion === "0.9" || hasSeveralHosts(req) || !/^[\w.~%[\]:-]*$/.test(host)) return true;
  return coding !== undefined && (coding.toLowerCase() !== "chunked" || req.httpVersion === "1.0");
}

function pathOfTarget(target: string): string | null {
  if (target.startsWith("/") || target === "*") return target;
  const [, path] = /^https?:\/\/[^/?#]*([^#]*)/i.exec(target) ?? [];
  if (path === undefined) return null;
  return path.startsWith("/") ? path : `/${path}`;
}
