import { AsyncLocalStorage } from "node:async_hooks";

/** Values of spans: names of this code base, ids of events, counts and status codes; nothing that a caller wrote. */
export type Attributes = Readonly<Record<string, string | number>>;

export type Span = {
  readonly traceId: string;
  /** The span as the header of W3C Trace Context names it; null if the trace is not among those that are kept. */
  readonly traceparent: string | null;
  rename(name: string): void;
  end(attributes?: Attributes, failed?: boolean): void;
};

export type SpanStart = {
  kind: "server" | "client";
  /** A span of this process, or one that this service stored as `traceparent`. */
  parent?: Span | string | undefined;
  /** A `traceparent` of others: shown beside the span, and never believed. */
  link?: string | undefined;
  attributes?: Attributes;
};

export type Tracer = {
  /** Null for a stored parent that cannot be read. */
  start(name: string, start: SpanStart): Span | null;
  /** Sends what is left. */
  close(): Promise<void>;
};

export type TraceSettings = {
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  /** Of the requests, from 0 to 1. */
  share: number;
};

let tracer: Tracer | null = null;
const active = new AsyncLocalStorage<Span>();

/** Switches traces on for this process. Shape: answers the function that ends them. */
export async function startTracing(
  settings: TraceSettings | null,
  onFailure: (message: string) => void,
): Promise<() => Promise<void>> {
  if (settings === null) return () => Promise.resolve();
  const { makeTracer } = await import("./open-telemetry.ts");
  const made = makeTracer(settings, onFailure);
  tracer = made;
  return async () => {
    tracer = null;
    await made.close();
  };
}

export const isTracing = (): boolean => tracer !== null;

/** Starts a span without parent in this process; null while traces are off. */
export const startSpan = (name: string, start: SpanStart): Span | null => tracer?.start(name, start) ?? null;

/** Runs `work` so that what it starts are children of the span. */
export const inSpan = <T>(span: Span, work: () => T): T => active.run(span, work);

/** Starts a child of the span that runs; null where none runs or the trace is not kept. */
export function startChild(name: string, attributes: Attributes): Span | null {
  const parent = active.getStore();
  if (parent === undefined || parent.traceparent === null) return null;
  return startSpan(name, { kind: "client", parent, attributes });
}

/** The span that runs, to be stored with what it causes. */
export const currentTraceparent = (): string | null => active.getStore()?.traceparent ?? null;
