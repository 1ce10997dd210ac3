import type { Option } from "../option.ts";
import { matching, oneOf, wholeNumber } from "../values.ts";

/** Logs, metrics and the stop. */
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
      "A port of its own for `/metrics` and the health checks, reachable only inside the network. Production needs " +
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
    meaning: "Bearer token that a reader of `/metrics` must send.",
    example: "output of `openssl rand -hex 32`",
    secret: true,
  },
  SHUTDOWN_GRACE_SECONDS: {
    value: wholeNumber(0, 600),
    default: "20",
    meaning:
      "Time that running requests and jobs get to end after SIGTERM. Give the supervisor a few seconds more " +
      "than this before it kills.",
    example: "20",
  },
} as const satisfies Record<string, Option>;
