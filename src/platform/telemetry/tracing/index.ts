/*
 * Traces as OpenTelemetry has them, off by default.
 *
 * Invariants: its packages are loaded by open-telemetry.ts alone, where traces are switched on; spans hold names of
 *             this code base, ids of events, counts and status codes, and nothing that a caller wrote.
 */
import { useTracer, type TraceSettings } from "./spans.ts";

export { traceRequest } from "./request.ts";
export { traceQueries } from "./queries.ts";
export { currentTraceparent, startSpan, type Span } from "./spans.ts";

export async function startTracing(
  settings: TraceSettings | null,
  onFailure: (message: string) => void,
): Promise<() => Promise<void>> {
  if (settings === null) return () => Promise.resolve();
  const { makeTracer } = await import("./open-telemetry.ts");
  return useTracer(makeTracer(settings, onFailure));
}
