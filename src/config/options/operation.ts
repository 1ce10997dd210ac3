import { flag, headerList, httpUrl, matching, oneOf, secondsList, share, text, wholeNumber } from "../values.ts";
import type { Option } from "../values.ts";

export const operationOptions = {
  RESTORE_WINDOW_DAYS: {
    value: wholeNumber(1, 3650),
    default: "30",
    meaning: "Time in which a deleted person can be restored; after it they are deleted for good.",
  },
  SUPPORT_ROLE_DAYS: {
    value: wholeNumber(1, 90),
    default: "14",
    meaning: "Maximum duration of the role SUPPORT. Changing it does not change roles that were already given.",
  },
  HANDOVER_DAYS: {
    value: wholeNumber(1, 365),
    default: "30",
    meaning: "Time in which a school can accept pupils whom another school hands over.",
  },
  AGREEMENTS: {
    value: oneOf("off", "required"),
    default: "off",
    meaning:
      "`required`: sync to an app can be switched on at a school only after the school agreed to the app's agreement, and schools do not give what an app gets later until they agree to it.",
    example: "required",
  },
  CHANGE_FEED_DAYS: {
    value: wholeNumber(30, 3650),
    default: "35",
    meaning: "Days for which the change feed keeps events. The contract promises 30.",
  },
  ERASURE_OVERDUE_DAYS: {
    value: wholeNumber(1, 365),
    default: "30",
    meaning:
      "Days after which schools, partners and operators see that an app has not confirmed an erasure. " +
      "People are deleted here without waiting for it.",
    example: "14",
  },
  ERASURE_DAYS: {
    value: wholeNumber(30, 3650),
    default: "365",
    meaning:
      "Days for which an erasure is kept that an app has not confirmed, or for which it said that it keeps data. " +
      "What was confirmed is deleted after 30 days.",
  },
  IDENTIFIER_CHANGES_DAYS: {
    value: wholeNumber(90, 3650),
    default: "90",
    meaning:
      "Days after the cut-over for which an app that was moved to ids of its own can read what its old ids have become.",
  },
  AUDIT_DAYS: {
    value: wholeNumber(30, 3650),
    default: "400",
    meaning:
      "Days for which the audit log is kept. It is deleted by the month: an entry is deleted with the last " +
      "entry of its month. The id of a person who is deleted for good is removed immediately.",
  },
  PRIVACY_RECORD_DAYS: {
    value: wholeNumber(30, 3650),
    default: "1095",
    meaning:
      "Days for which it is kept what an app could read about a person, after it no longer could; it is deleted " +
      "with a person who is deleted for good. Closed data requests are kept for as long.",
  },
  IMPORTS_AT_ONCE: {
    value: wholeNumber(1, 100),
    defaultMeaning: "one for every two processors, 4 at most",
    meaning:
      "Rosters that all processes together read at the same time, and apply at the same time; as many small ones beside " +
      "each. Others wait in a queue in which schools take turns. Each uses one connection and about one processor of " +
      "PostgreSQL. With a number here, a process takes three connections more than that from `DATABASE_POOL_SIZE`.",
    example: "2",
  },
  IMPORT_HOLD_PERCENT: {
    value: wholeNumber(0, 100),
    defaultMeaning: "a third",
    meaning:
      "Share of a school's people or groups that an import may remove. An import that would remove more is held " +
      "until an operator confirms it. With 100 no import is held.",
    example: "10",
  },
  ROSTER_FETCH_SECONDS: {
    value: wholeNumber(1, 3600),
    default: "900",
    meaning: "How long the source of a roster connection may take to send its roster.",
    example: "1800",
  },
  ROSTER_FOLDER: {
    value: matching(/^\//, "Write an absolute path, such as /var/lib/schultor/rosters."),
    defaultMeaning: "none: no roster is read from a folder",
    meaning:
      "The only folder that roster connections of the kind `FOLDER` read from. Only operators create such connections; " +
      "symbolic links that lead out of it are refused.",
    example: "/var/lib/schultor/rosters",
  },
  SFTP_PORT: {
    value: wholeNumber(0, 65_535),
    defaultMeaning: "none: no roster is taken over SFTP",
    meaning:
      "The port on `HOST` at which programs of schools send rosters over SFTP, with the keys of roster connections of the " +
      "kind `SFTP`. All processes have the same host key; the log says its fingerprint at each start.",
    example: "2222",
  },
  SFTP_ADDRESS: {
    value: matching(
      /^sftp:\/\/[^\s/:@]+(:\d{1,5})?$/,
      "Write sftp:// with host and port, such as sftp://roster.example.org:22.",
    ),
    defaultMeaning: "the host of `ISSUER_URL` with `SFTP_PORT`",
    meaning:
      "The address that schools are shown for SFTP, where a firewall, a NAT or a name of its own leads to `SFTP_PORT`.",
    example: "sftp://roster.example.org:22",
  },
  SMTP_URL: {
    value: matching(
      /^smtps?:\/\/[^\s]+$/,
      "Write smtp:// or smtps:// with host and port, such as smtps://user:secret@mail.example.org:465.",
    ),
    defaultMeaning: "none: no mail is sent",
    meaning:
      "The mail server through which the addresses of roster connections are told of failures and of previews that wait. " +
      "The mail names no people.",
    example: "smtps://user:secret@mail.example.org:465",
    secret: true,
  },
  MAIL_FROM: {
    value: matching(/^[^\s@<>]+@[^\s@<>]+$/, "Write a mail address, such as schultor@example.org."),
    defaultMeaning: "`schultor@` and the host of `ISSUER_URL`",
    meaning: "The sender of mail.",
    example: "schultor@example.org",
  },
  RETENTION_LEFT_MONTHS: {
    value: wholeNumber(0, 240),
    default: "0",
    meaning:
      "Months for which a person who left their last school is kept before the soft deletion, at schools where neither " +
      "the school nor its state has a retention policy. With 0 the roster that no longer names them deletes them at once.",
    example: "12",
  },
  RETENTION_LEFT_MONTHS_MAX: {
    value: wholeNumber(0, 240),
    default: "24",
    meaning: "The longest such period that a school or a state may choose.",
  },
  RETENTION_INACTIVE_MONTHS: {
    value: wholeNumber(0, 240),
    default: "0",
    meaning:
      "Months without a sign-in after which a person is soft-deleted, at schools without a policy. It concerns people " +
      "who can sign in and whom no roster names. With 0 nobody is.",
    example: "12",
  },
  RETENTION_INACTIVE_MONTHS_MIN: {
    value: wholeNumber(1, 240),
    default: "6",
    meaning: "The shortest such period that a school or a state may choose, except 0 for never.",
  },
  RETENTION_RESTORE_DAYS_MIN: {
    value: wholeNumber(1, 3650),
    default: "7",
    meaning: "The shortest time that a school or a state may choose in place of `RESTORE_WINDOW_DAYS`.",
    example: "14",
  },
  RETENTION_RESTORE_DAYS_MAX: {
    value: wholeNumber(1, 3650),
    default: "90",
    meaning: "The longest time that a school or a state may choose in place of `RESTORE_WINDOW_DAYS`.",
    example: "60",
  },
  RETENTION_AUDIT_DAYS_MIN: {
    value: wholeNumber(1, 3650),
    default: "90",
    meaning:
      "The shortest time for which a school or a state may keep its audit log. The longest is `AUDIT_DAYS`, which is " +
      "also the time at schools without a policy.",
    example: "180",
  },
  RETENTION_NOTICE_DAYS: {
    value: wholeNumber(1, 90),
    default: "14",
    meaning:
      'How long before a soft deletion the people concerned are on the page "Today", and how long a changed policy ' +
      "deletes nobody.",
    example: "30",
  },
  RETENTION_HOLD_PEOPLE: {
    value: wholeNumber(0, 100_000),
    default: "20",
    meaning:
      "A run of the retention that would soft-delete more people of a school than this, and more than " +
      "`RETENTION_HOLD_PERCENT` of its people, is held until staff release it.",
    example: "10",
  },
  RETENTION_HOLD_PERCENT: {
    value: wholeNumber(0, 100),
    default: "25",
    meaning: "See `RETENTION_HOLD_PEOPLE`. With 100 no run is held.",
    example: "10",
  },
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
  },
  WEBHOOK_RETRY_SECONDS: {
    value: secondsList,
    default: "5,300,1800",
    meaning:
      "Delays after which a failed webhook delivery is retried, plus or minus a fifth, separated by commas. The " +
      "contract promises apps three retries.",
  },
  WEBHOOK_DISABLE_AFTER_DAYS: {
    value: wholeNumber(1, 365),
    default: "5",
    meaning:
      "Days with only failures after which an endpoint is disabled and its events are dropped. Until then its " +
      "events wait.",
  },
  WEBHOOK_LOG_DAYS: {
    value: wholeNumber(1, 3650),
    default: "30",
    meaning: "Days for which deliveries and their attempts are kept, for inspection and redelivery.",
  },
  WEBHOOK_CONCURRENCY: {
    value: wholeNumber(1, 10_000),
    default: "512",
    meaning: "Maximum number of webhook requests of this process at the same time, at most 8 of them to one endpoint.",
  },
  LOG_LEVEL: {
    value: oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
    default: "info",
    meaning: "The lowest level that is logged. Requests are `info`.",
    example: "warn",
  },
  METRICS_PORT: {
    value: wholeNumber(0, 65_535),
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
    defaultMeaning: "none: `/metrics` is open",
    meaning: "Bearer token required for `/metrics`.",
    example: "output of `openssl rand -hex 32`",
    secret: true,
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    value: httpUrl("path allowed"),
    defaultMeaning: "none: no traces, and OpenTelemetry is not loaded",
    meaning:
      "Collector that receives traces, as OTLP over HTTP with JSON; `/v1/traces` is appended. A trace follows a " +
      "request through its SQL statements to the webhooks that it causes.",
    example: "http://127.0.0.1:4318",
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    value: headerList,
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
  },
} as const satisfies Record<string, Option>;
