import {
  createServer,
  type RequestListener,
  type Server as HttpServer,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isAmbiguous, pathOfTarget } from "./request-framing.ts";

export type Server = {
  port: number;
  /** Until this is called every request but /health/live is answered with 503. */
  serve(handler: RequestListener): void;
  isStopping(): boolean;
  /** Accepts nothing new, lets running requests end; answers how many had to be cut off when the time was up. */
  stop(graceSeconds: number): Promise<{ cutOff: number }>;
};

// keepAliveTimeout is longer than the 60 s of common load balancers, so that the balancer closes first.
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

/**
 * Opens the port at once, so that a taken port and a live process show before anything else is started.
 *
 * Shape:  host `localhost` listens on both loopback addresses.
 * Errors: EADDRINUSE, EACCES and the like from `listen`.
 */
export async function openServer({
  host,
  port,
  limits = {},
}: {
  host: string;
  port: number;
  limits?: ServerOptions;
}): Promise<Server> {
  const running = new Set<ServerResponse>();
  const refused = new WeakSet<Socket>();
  const servers: HttpServer[] = [];
  let handler = answerWhileStarting;
  let stopping = false;

  const listener: RequestListener = (req, res) => {
    // What came behind a request that was refused may be a part of it.
    if (refused.has(req.socket)) return;
    running.add(res);
    // Each part of the service that works for the answer listens for its end; Node warns of more than ten.
    res.setMaxListeners(32);
    // Node would take the machine's time, from which browsers count when a cookie of ours expires.
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
      const given = new AbortController();
      const late = sleep(graceSeconds * 1000, "late", { signal: given.signal }).catch(() => "stopped");
      const outcome = await Promise.race([closed, late]);
      given.abort();
      const cutOff = outcome === "late" ? running.size : 0;
      for (const server of servers) server.closeAllConnections();
      await closed;
      return { cutOff };
    },
  };
}

function listen(server: HttpServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    // Left out, the address is every one there is, also where there is no IPv6.
    server.listen({ ...(host !== "::" && { host }), port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
