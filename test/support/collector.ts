import { serve } from "./serve.ts";

type Attribute = { key: string; value: { stringValue?: string; intValue?: number } };

/** A span as OTLP has it. */
export type CollectedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Attribute[];
  links?: { traceId: string; spanId: string }[];
  status: { code?: number };
};

type Sent = { resourceSpans: { scopeSpans: { spans: CollectedSpan[] }[] }[] };

export type Collector = { url: string; spans: CollectedSpan[]; bodies: string[]; paths: string[] };

/** A collector of OpenTelemetry that keeps what it gets as OTLP over HTTP with JSON; ends with the test file. */
export async function startCollector(status = 200): Promise<Collector> {
  const collector: Collector = { url: "", spans: [], bodies: [], paths: [] };
  collector.url = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      collector.paths.push(request.url ?? "");
      collector.bodies.push(body);
      const sent = JSON.parse(body) as Sent;
      for (const { scopeSpans } of sent.resourceSpans)
        for (const { spans } of scopeSpans) collector.spans.push(...spans);
      response.writeHead(status, { "Content-Type": "application/json" }).end("{}");
    });
  });
  return collector;
}
