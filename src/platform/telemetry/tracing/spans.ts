import { AsyncLocalStorage } from "node:async_hooks";

type Attributes = Readonly<Record<string, string | number>>;

export type Span = {
  readonly traceId: string;
  readonly traceparent: string | null;
  rename(name: string): void;
  end(attributes?: Attributes, failed?: boolean): void;
};

type SpanStart = {
  kind: "server" | "client";
  /** A span, or a stored `traceparent` of this service. */
  parent?: Span | string | undefined;
  /** A caller's `traceparent`, not trusted. */
  link?: string | undefined;
  attributes?: Attributes;
};

export type Tracer = {
  start(name: string, start: SpanStart): Span | null;
  close(): Promise<void>;
};

export type TraceSettings = {
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  share: number;
};

let tracer: Tracer | null = null;
const active = new AsyncLocalStorage<Span>();

/** Returns what ends the traces. */
export function useTracer(made: Tracer): () => Promise<void> {
  tracer = made;
  return async () => {
    tracer = null;
    await made.close();
  };
}

export const isTracing = (): boolean => tracer !== null;

export const startSpan = (name: string, start: SpanStart): Span | null => tracer?.start(name, start) ?? null;

export const inSpan = <T>(span: Span, work: () => T): T => active.run(span, work);

export function startChild(name: string, attributes: Attributes): Span | null {
  const parent = active.getStore();
  if (parent === undefined || parent.traceparent === null) return null;
  return startSpan(name, { kind: "client", parent, attributes });
}

export const currentTraceparent = (): string | null => active.getStore()?.traceparent ?? null;
