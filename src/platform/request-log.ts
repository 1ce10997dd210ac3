import type { IncomingMessage, ServerResponse } from "node:http";
import { makeUuid } from "./ids.ts";
import type { Clock } from "./clock.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

const saneRequestId = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/;

/** What the rooms leave for the log and the metrics; express calls it by the same name. */
type Locals = { requestId?: string; operation?: string; clientId?: string };

// An address can hold a secret (the id of a running sign-in): of it only words and UUIDs are logged.
function maskPath(path: string): string {
  const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
  const word = /^\.?[a-z][a-z0-9.-]{0,31}$/;
  return path
    .split("/")
    .map((part) => (part === "" || uuid.test(part) || word.test(part) ? part : ":other"))
    .slice(0, 12)
    .join("/");
}

type Watching = {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** Names a request that no bound operation has named. */
  nameOperation(method: string, path: string): string | undefined;
};

/**
 * Gives every request an id and, at its end, a line in the log and a place in the metrics.
 *
 * Shape: an incoming X-Request-Id is kept when it is 8 to 64 harmless characters, else a new one is made; it stands
 *        in `res.locals.requestId` and in the answer's header. Works before express, on what node gives.
 */
export function makeRequestWatch({ clock, log, metrics, nameOperation }: Watching): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const startedAt = performance.now();
    const given = req.headers["x-request-id"];
    const requestId = typeof given === "string" && saneRequestId.test(given) ? given : makeUuid(clock());
    const { url = "/", method = "GET" } = req;
    const locals: Locals = ((res as { locals?: Locals }).locals = { requestId });
    res.setHeader("X-Request-Id", requestId);
    res.once("close", () => {
      const seconds = (performance.now() - startedAt) / 1000;
      const path = url.replace(/[?#].*$/s, "");
      const { operation = nameOperation(method, path), clientId } = locals;
      metrics.httpSeconds.observe({ operation: operation ?? "other", method: knownMethod(method), status: res.statusCode }, seconds);
      if (!log.isLevelEnabled("info") || path.startsWith("/health/") || path === "/metrics") return;
      const cut = res.writableFinished ? {} : { cut: true };
      const durationMs = Math.round(seconds * 10_000) / 10;
      log.info({ requestId, method, path: maskPath(path), status: res.statusCode, durationMs, operation, clientId, ...cut }, "request");
    });
  };
}

const knownMethods = new Set(["GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"]);

const knownMethod = (method: string): string => (knownMethods.has(method) ? method : "other");
