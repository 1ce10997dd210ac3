import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from "@opentelemetry/api";
import type { Context, Span as ApiSpan, SpanContext } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type ReadableSpan,
  type SpanExporter,
} from "@opentelemetry/sdk-trace";
import type { Span, Tracer, TraceSettings } from "./spans.ts";

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT };
const sendTimeoutMs = 5000;

export function makeTracer(settings: TraceSettings, onFailure: (message: string) => void): Tracer {
  const exporter = new OTLPTraceExporter({
    url: `${settings.endpoint}/v1/traces`,
    headers: { ...settings.headers },
    timeoutMillis: sendTimeoutMs,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": settings.serviceName }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(settings.share) }),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: tellingFailures(exporter, onFailure), exportTimeoutMillis: sendTimeoutMs }),
    ],
  });
  const tracer = provider.getTracer("schultor");
  return {
    start(name, { kind, parent, link, attributes = {} }) {
      const context = contextOf(parent);
      if (context === null) return null;
      const linked = link === undefined ? null : readTraceparent(link);
      const links = linked === null ? [] : [{ context: linked }];
      return presentSpan(tracer.startSpan(name, { kind: kinds[kind], attributes, links }, context));
    },
    close: () => provider.shutdown(),
  };
}

function contextOf(parent: Span | string | undefined): Context | null {
  if (parent === undefined) return ROOT_CONTEXT;
  const text = typeof parent === "string" ? parent : parent.traceparent;
  const context = text === null ? null : readTraceparent(text);
  return context === null
    ? null
    : trace.setSpanContext(ROOT_CONTEXT, { ...context, isRemote: typeof parent === "string" });
}

/** Source: W3C Trace Context, version 00. */
function readTraceparent(text: string): SpanContext | null {
  const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags!, 16) & TraceFlags.SAMPLED, isRemote: true };
}

function presentSpan(span: ApiSpan): Span {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceId,
    traceparent: (traceFlags & TraceFlags.SAMPLED) === 0 ? null : `00-${traceId}-${spanId}-01`,
    rename: (name) => void span.updateName(name),
    end(attributes = {}, failed = false) {
      span.setAttributes(attributes);
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function tellingFailures(exporter: SpanExporter, onFailure: (message: string) => void): SpanExporter {
  let isFailing = false;
  return {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        if (result.error !== undefined && !isFailing) onFailure(result.error.message);
        isFailing = result.error !== undefined;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush === undefined ? {} : { forceFlush: () => exporter.forceFlush!() }),
  };
}
