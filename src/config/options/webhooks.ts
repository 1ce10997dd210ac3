import type { Option } from "../option.ts";
import { flag, secondsList, wholeNumber } from "../values.ts";

export const webhookOptions = {
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: {
    value: flag,
    default: "false",
    meaning:
      "Lets the service call apps at private and loopback addresses (webhooks, logout messages). For " +
      "development only; refused in production.",
    example: "true",
  },
  WEBHOOK_TIMEOUT_SECONDS: {
    value: wholeNumber(1, 60),
    default: "10",
    meaning: "Time in which an app has to respond to a webhook.",
    example: "10",
  },
  WEBHOOK_RETRY_SECONDS: {
    value: secondsList,
    default: "5,300,1800",
    meaning:
      "Delays after which a failed webhook delivery is retried, plus or minus a fifth, separated by commas. The " +
      "contract promises apps three retries.",
    example: "5,300,1800",
  },
  WEBHOOK_DISABLE_AFTER_DAYS: {
    value: wholeNumber(1, 365),
    default: "5",
    meaning:
      "Days with only failures after which an endpoint is disabled and its events are dropped. Until then its " +
      "events wait.",
    example: "5",
  },
  WEBHOOK_LOG_DAYS: {
    value: wholeNumber(1, 3650),
    default: "30",
    meaning: "Days for which deliveries and their attempts are kept, for inspection and redelivery.",
    example: "30",
  },
  WEBHOOK_CONCURRENCY: {
    value: wholeNumber(1, 10_000),
    default: "512",
    meaning: "Maximum number of webhook requests of this process at the same time, at most 8 of them to one endpoint.",
    example: "512",
  },
} as const satisfies Record<string, Option>;
