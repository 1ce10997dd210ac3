import type { RequestHandler, Response } from "express";
import { makeUuid } from "./ids.ts";
import type { Clock } from "./clock.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

const saneRequestId = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/;

/** What the rooms leave in `res.locals` for the log and the metrics. */
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

/**
 * Gives every request an id and, at its end, a line in the log and a place in the metrics.
 *
 * Shape: an incoming X-Request-Id is kept when it is 8 to 64 harmless characters, else a new one is made; it stands
 *        in `res.locals.requestId` and in the answer's header.
 */
export function logRequests({ clock, log, metrics }: { clock: Clock; log: Log; metrics: Metrics }): RequestHandler {
  return (req, res: Response<unknown, Locals>, next) => {
    const startedAt = performance.now();
    const given = req.headers["x-request-id"];
    const requestId = typeof given === "string" && saneRequestId.test(given) ? given : makeUuid(clock());
    const path = maskPath(req.originalUrl.replace(/[?#].*$/s, ""));
    res.locals.requestId = requestId;
    res.set("X-Request-Id", requestId);
    res.once("close", () => {
      const seconds = (performance.now() - startedAt) / 1000;
      const { operation, clientId } = res.locals;
      const cut = res.writableFinished ? {} : { cut: true };
      metrics.httpSeconds.observe({ operation: operation ?? "other", method: knownMethod(req.method), status: res.statusCode }, seconds);
      if (req.path.startsWith("/health/") || req.path === "/metrics") return;
      const durationMs = Math.round(seconds * 10_000) / 10;
      log.info({ requestId, method: req.method, path, status: res.statusCode, durationMs, operation, clientId, ...cut }, "request");
    });
    next();
  };
}

function knownMethod(method: string): string {
  return ["GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"].includes(method) ? method : "other";
}
