/*
 * Traces as OpenTelemetry has them, off by default.
 *
 * Invariants: its packages are loaded by open-telemetry.ts alone, where traces are switched on; spans hold names of
 *             this code base, ids of events, counts and status codes, and nothing that a caller wrote.
 */
import { useTracer, type TraceSettings, inSpan, startSpan, isTracing, startChild } from "./spans.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type pg from "pg";

export { currentTraceparent, startSpan, type Span } from "./spans.ts";

export async function startTracing(settings: TraceSettings | null, onFailure: (message: string) => void) {
  if (settings === null) return () => Promise.resolve();
  const { makeTracer } = await import("./open-telemetry.ts");
  return useTracer(makeTracer(settings, onFailure));
}

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

type Query = (...args: unknown[]) => unknown;

export function traceQueries(pool: pg.Pool): void {
  if (!isTracing()) return;
  pool.on("connect", (client) => {
    const query = client.query.bind(client) as Query;
    client.query = traced(query) as typeof client.query;
  });
  // pool.query would use the context of the caller that released the connection.
  pool.query = (async (...args: unknown[]) => {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      return await (client.query as Query)(...args);
    } catch (error) {
      broken = error as Error;
      throw error;
    } finally {
      client.release(broken);
    }
  }) as typeof pool.query;
}

const traced =
  (query: Query): Query =>
  (...args) => {
    const [config] = args as [string | { name?: string; text?: string } | undefined];
    const text = typeof config === "string" ? config : config?.text;
    if (text === undefined || typeof args.at(-1) === "function") return query(...args);
    const name = (typeof config === "object" ? config.name : undefined) ?? describe(text);
    const span = startChild(name, { "db.system.name": "postgresql", "db.query.summary": name });
    const result = query(...args);
    if (span === null || !(result instanceof Promise)) return result;
    return result.then(
      (answer: unknown) => {
        span.end();
        return answer;
      },
      (error: unknown) => {
        span.end({}, true);
        throw error;
      },
    );
  };

function describe(text: string): string {
  const [verb = "statement"] = /[A-Za-z]+/.exec(text) ?? [];
  const [, table] = /"public"\."(\w+)"/.exec(text) ?? [];
  return table === undefined ? verb.toUpperCase() : `${verb.toUpperCase()} ${table}`;
}
