import type { Option } from "../option.ts";
import { headerList, httpUrl, matching, oneOf, share, text, wholeNumber } from "../values.ts";

export const operationOptions = {
  LOG_LEVEL: {
    value: oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
    default: "info",
    meaning: "The lowest level that is logged. Requests are `info`.",
    example: "warn",
  },
  METRICS_PORT: {
    value: wholeNumber(0, 65_535),
    default: null,
    defaultMeaning: "none: `/metrics` is on `PORT`",
    meaning:
      "Separate port for `/metrics` and the health checks, reachable only inside the network. Production needs " +
      "this or `METRICS_TOKEN`.",
    example: "9464",
  },
  METRICS_TOKEN: {
    value: matching(
      /^[\x21-\x7e]{16,}$/,
      "Write at least 16 letters, digits or signs without spaces, such as the output of: openssl rand -hex 32",
    ),
    default: null,
    defaultMeaning: "none: `/metrics` is open",
    meaning: "Bearer token required for `/metrics`.",
    example: "output of `openssl rand -hex 32`",
    secret: true,
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    value: httpUrl("path allowed"),
    default: null,
    defaultMeaning: "none: no traces, and OpenTelemetry is not loaded",
    meaning:
      "Collector that receives traces, as OTLP over HTTP with JSON; `/v1/traces` is appended. A trace follows a " +
      "request through its SQL statements to the webhooks that it causes.",
    example: "http://127.0.0.1:4318",
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    value: headerList,
    default: null,
    defaultMeaning: "none",
    meaning: "Headers that the collector requires: `name=value`, separated by commas.",
    example: "authorization=Bearer%20secret",
    secret: true,
  },
  OTEL_SERVICE_NAME: {
    value: text,
    default: "schultor",
    meaning: "Name of this service in traces.",
    example: "schultor-web",
  },
  OTEL_TRACES_SAMPLER_ARG: {
    value: share,
    default: "1",
    meaning: "Share of the requests whose traces are kept, from 0 to 1, each with everything that it causes.",
    example: "0.01",
  },
  SHUTDOWN_GRACE_SECONDS: {
    value: wholeNumber(0, 600),
    default: "20",
    meaning:
      "Time that running requests and jobs have to finish after SIGTERM. Configure the supervisor to kill the " +
      "process a few seconds later than this.",
    example: "20",
  },
} as const satisfies Record<string, Option>;
