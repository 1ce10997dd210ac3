/*
 * Traces as OpenTelemetry has them, off by default.
 *
 * Invariants: its packages are loaded by open-telemetry.ts alone, where traces are switched on; spans hold names of
 *             this code base, ids of events, counts and status codes, and nothing that a caller wrote.
 */
export { traceRequest } from "./request.ts";
export { traceQueries } from "./queries.ts";
export { currentTraceparent, startSpan, startTracing, type Span } from "./spans.ts";
