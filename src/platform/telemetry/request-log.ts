import type { IncomingMessage, ServerResponse } from "node:http";
import { makeUuid, uuidPattern, shortCodeOf } from "../crypto/ids.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

const saneRequestId = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/;

type Locals = {
  requestId?: string;
  operation?: string;
  clientId?: string;
  readPersonId?: string;
  code?: string;
  message?: string;
  traceId?: string;
};

const mostParts = 12;

/** Hides all but known words and UUIDs, because a caller can put names and secrets into a path. */
function maskPath(path: string, words: ReadonlySet<string>, isKnown: boolean): string {
  const parts = path.split("/", mostParts + 1);
  const masked = parts.map((part) => (part === "" || words.has(part) || uuidPattern.test(part) ? part : ":other"));
  return parts.length > mostParts || (!isKnown && masked.includes(":other")) ? "/:unknown" : masked.join("/");
}

const mostParameters = 10;
// As the contracts name parameters; other names may be of people.
const parameterName = /^[a-z][a-z-]{0,29}(\.id)?$/;

function maskQuery(url: string): string {
  const at = url.indexOf("?");
  if (at < 0) return "";
  const names = [...new Set(new URLSearchParams(url.slice(at + 1)).keys())].slice(0, mostParameters);
  return `?${names.map((name) => `${parameterName.test(name) ? name : "…"}=…`).join("&")}`;
}

type Watching = {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  nameOperation(method: string, path: string): string | undefined;
  pathWords: ReadonlySet<string>;
  onAnswered?(answered: Answered): void;
};

export type Answered = {
  operation: string | undefined;
  clientId: string | undefined;
  /** Whose data the response has, if the request does not name the person; never logged. */
  readPersonId: string | undefined;
  code: string | undefined;
  message: string | undefined;
  requestId: string;
  url: string;
  /** The path as the log has it, and the names of the query parameters. */
  maskedUrl: string;
  status: number;
  durationMs: number;
};

/** Gives a request an id, a log line and metrics. A well-formed X-Request-Id is kept. Runs before express. */
export function makeRequestWatch(watching: Watching): (req: IncomingMessage, res: ServerResponse) => void {
  const { clock, log, metrics, nameOperation, pathWords, onAnswered } = watching;
  return (req, res) => {
    const startedAt = performance.now();
    const value = req.headers["x-request-id"];
    const requestId = typeof value === "string" && saneRequestId.test(value) ? value : makeUuid(clock());
    const { url = "/", method = "GET" } = req;
    const locals: Locals = ((res as { locals?: Locals }).locals = { requestId });
    res.setHeader("X-Request-Id", requestId);
    res.once("close", () => {
      const seconds = (performance.now() - startedAt) / 1000;
      const path = url.replace(/[?#].*$/s, "");
      const { operation = nameOperation(method, path), clientId, readPersonId, code, message, traceId } = locals;
      const { statusCode: status } = res;
      metrics.httpSeconds.observe({ operation: operation ?? "other", method: knownMethod(method), status }, seconds);
      const durationMs = Math.round(seconds * 10_000) / 10;
      const maskedPath = maskPath(path, pathWords, operation !== undefined);
      const maskedUrl = `${maskedPath}${maskQuery(url)}`;
      const caller = { operation, clientId, readPersonId };
      onAnswered?.({ ...caller, code, message, requestId, url, maskedUrl, status, durationMs });
      if (!log.isLevelEnabled("info") || path.startsWith("/health/") || path === "/metrics") return;
      const refused = status >= 400 ? { shortCode: shortCodeOf(requestId) } : {};
      const cut = res.writableFinished ? {} : { cut: true };
      const traced = traceId === undefined ? {} : { traceId };
      const answered = { requestId, method, path: maskedPath, status, durationMs, operation, clientId };
      log.info({ ...answered, ...refused, ...cut, ...traced }, "request");
    });
  };
}

const knownMethods = new Set(["GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"]);

const knownMethod = (method: string): string => (knownMethods.has(method) ? method : "other");
