import type { IncomingMessage, ServerResponse } from "node:http";
import { inSpan, startSpan } from "./spans.ts";

type NameOperation = (method: string, path: string) => string | undefined;

/** `traceparent` becomes a link, not the parent: callers could join foreign traces. */
export function traceRequest(
  { req, res, nameOperation }: { req: IncomingMessage; res: ServerResponse; nameOperation: NameOperation },
  handle: () => void,
): void {
  const { method = "GET", url = "/", headers } = req;
  const path = url.replace(/[?#].*$/s, "");
  const isWatching = path.startsWith("/health/") || path === "/metrics";
  const link = typeof headers["traceparent"] === "string" ? headers["traceparent"] : undefined;
  const span = isWatching ? null : startSpan("request", { kind: "server", link });
  if (span === null) return handle();
  const locals = ((res as { locals?: { operation?: string; traceId?: string } }).locals ??= {});
  locals.traceId = span.traceId;
  res.once("close", () => {
    const operation = locals.operation ?? nameOperation(method, path) ?? "other";
    span.rename(operation);
    span.end({ "schultor.operation": operation, "http.response.status_code": res.statusCode }, res.statusCode >= 500);
  });
  inSpan(span, handle);
}
