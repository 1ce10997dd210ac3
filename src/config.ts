import { availableParallelism } from "node:os";
import type { z } from "zod";
import { leastPoolSize } from "./platform/share-sizes.ts";
import {
  addressList,
  flag,
  httpUrl,
  keyList,
  matching,
  oneOf,
  postgresUrl,
  secondsList,
  text,
  wholeNumber,
} from "./config-values.ts";

type Option<Value extends z.ZodType = z.ZodType> = {
  value: Value;
  /** Taken when the variable is not set; null: the option then has no value, or `defaultMeaning` says which. */
  default: string | null;
  defaultMeaning?: string;
  meaning: string;
  example: string;
  /** Its value is never printed. */
  secret?: true;
};

// Known to everybody who can read this file: good for a laptop, refused in production.
const developmentKey = Buffer.from("schultor: only for development!!").toString("base64");

/** Every option: its meaning here is the operator's manual, and the table in the README is made from it. */
export const options = {
  NODE_ENV: {
    value: oneOf("production", "development", "test"),
    default: "development",
    meaning:
      "`production` refuses whatever is only fit for development (demo world, default keys, http addresses) and logs JSON lines; anything else logs for reading and loads the demo world.",
    example: "production",
  },
  ISSUER_URL: {
    value: httpUrl("without path"),
    default: null,
    defaultMeaning: "`http://localhost:<PORT>`",
    meaning:
      "Address of the sign-on as browsers and apps see it; it stands in every ID token as `iss`, and every address that the service hands out is built from it. Changing it later breaks every app.",
    example: "https://login.example.org",
  },
  BASE_URL: {
    value: httpUrl("path allowed"),
    default: null,
    defaultMeaning: "`ISSUER_URL`",
    meaning:
      "Address under which the IDM API and the Schulconnex endpoints are reached, when it is not that of the sign-on. Its path becomes the prefix of theirs.",
    example: "https://api.example.org",
  },
  PORT: {
    value: wholeNumber(0, 65_535),
    default: "3000",
    meaning: "TCP port to listen on; 0 takes a free one.",
    example: "8080",
  },
  HOST: {
    value: matching(/^[A-Za-z0-9.:_-]+$/, "Write an address or host name, such as 0.0.0.0."),
    default: null,
    defaultMeaning: "`localhost`; in production `::` (every address)",
    meaning:
      "Address to listen on. `localhost` stands for both loopback addresses, so that a demo world is not open to the network.",
    example: "0.0.0.0",
  },
  TRUSTED_PROXIES: {
    value: addressList,
    default: null,
    defaultMeaning: "none",
    meaning:
      "Addresses or networks of the reverse proxies in front of the service, separated by commas. Only their `X-Forwarded-For` is believed; it decides which address a sign-in counts for.",
    example: "10.0.0.0/8",
  },
  PLATFORM: {
    value: matching(/^[a-z0-9][a-z0-9-]{0,31}$/, "Write lower-case letters, digits and hyphens."),
    default: "schultor",
    meaning:
      "The operator's name inside scope identifiers: `urn:<PLATFORM>:idm:v1:schools:read`. Apps write it into their requests, so it stays as it is once apps exist.",
    example: "schultor",
  },
  ROLE: {
    value: oneOf("all", "web", "worker"),
    default: "all",
    meaning:
      "What this process does: answer requests (`web`), run the jobs (`worker`: sweeps, key rotation, logout messages, webhooks), or both. Any number of each may share one database.",
    example: "web",
  },
  DATABASE_URL: {
    value: postgresUrl,
    default: null,
    defaultMeaning: "an embedded PostgreSQL in `DATA_DIR`",
    meaning:
      "The PostgreSQL server (15 or later) that holds everything. The role must own the database: migrations run at start.",
    example: "postgresql://schultor:secret@db.internal:5432/schultor?sslmode=verify-full",
    secret: true,
  },
  DATABASE_REPLICA_URL: {
    value: postgresUrl,
    default: null,
    defaultMeaning: "`DATABASE_URL`",
    meaning:
      "A streaming replica for the reads of the IDM API and the Schulconnex endpoints. They may then be as old as the replica is behind.",
    example: "postgresql://schultor:secret@replica.internal:5432/schultor",
    secret: true,
  },
  DATABASE_POOL_SIZE: {
    value: wholeNumber(leastPoolSize, 1000),
    default: "20",
    meaning:
      "Database connections this process opens at most, per server. They are split into shares (sign-on, token endpoint, first sign-ins, token checks, reads, changes, jobs), so that one kind of work takes none from the others. All processes together must stay below the server's `max_connections`.",
    example: "40",
  },
  LISTS_PER_APP: {
    value: wholeNumber(1, 1000),
    default: "32",
    meaning:
      "Lists that one app may have open in this process at the same time: waiting, being read or being sent. More are answered with 429; eight times as many of all apps together with 503.",
    example: "64",
  },
  LIST_WAIT_SECONDS: {
    value: wholeNumber(1, 60),
    default: "20",
    meaning: "Time that a list waits for its turn to be read before it is answered with 429 or 503.",
    example: "10",
  },
  LIST_STALL_SECONDS: {
    value: wholeNumber(1, 100),
    default: "30",
    meaning: "Time in which a reader must take the next 64 KiB of a list. A slower one is cut off.",
    example: "60",
  },
  LIST_TOTAL_SECONDS: {
    value: wholeNumber(1, 7200),
    default: "900",
    meaning: "Time in which a reader must take a whole list. A slower one is cut off; it can read pages instead.",
    example: "1800",
  },
  DATA_DIR: {
    value: text,
    default: ".data",
    meaning: "Folder of the embedded PostgreSQL. Not used with `DATABASE_URL`.",
    example: "/var/lib/schultor",
  },
  ALLOW_EMBEDDED_DATABASE: {
    value: flag,
    default: "false",
    meaning:
      "Lets production run on the embedded PostgreSQL: one process on one machine, and backups are yours to arrange.",
    example: "true",
  },
  DEMO_WORLD: {
    value: flag,
    default: null,
    defaultMeaning: "`true`; in production `false`, and `true` is refused",
    meaning: "Loads the demo schools, people and apps into an empty database, and starts the demo app on port 4000.",
    example: "false",
  },
  ENCRYPTION_KEYS: {
    value: keyList,
    default: developmentKey,
    defaultMeaning: "a published key; refused in production",
    meaning:
      "Keys that encrypt signing keys and other secrets in the database: 32 bytes in base64, separated by commas. The first encrypts, each can decrypt. To change the key, put the new one first and keep the old one behind it, restart, run `npm run schultor -- re-encrypt`, and take the old one away. A start with keys that do not open what the database holds is refused.",
    example: "output of `openssl rand -base64 32`",
    secret: true,
  },
  AUTHORIZATION_CODE_SECONDS: {
    value: wholeNumber(5, 600),
    default: "60",
    meaning: "Time an app has to exchange an authorization code.",
    example: "60",
  },
  ACCESS_TOKEN_SECONDS: {
    value: wholeNumber(60, 86_400),
    default: "3600",
    meaning: "Lifetime of an access token.",
    example: "900",
  },
  ID_TOKEN_SECONDS: {
    value: wholeNumber(60, 86_400),
    default: "3600",
    meaning: "Lifetime of an ID token.",
    example: "3600",
  },
  REFRESH_TOKEN_SECONDS: {
    value: wholeNumber(3600, 31_536_000),
    default: "2592000",
    meaning: "Lifetime of a refresh token from its last use; every use answers a new one.",
    example: "1209600",
  },
  REFRESH_GRACE_SECONDS: {
    value: wholeNumber(0, 120),
    default: "10",
    meaning:
      "Time in which a refresh token used twice answers the same new tokens (two tabs, a lost answer). After it, a second use revokes the whole family.",
    example: "10",
  },
  SESSION_SECONDS: {
    value: wholeNumber(300, 2_592_000),
    default: "36000",
    meaning: "Time a browser stays signed in.",
    example: "28800",
  },
  RESTORE_WINDOW_DAYS: {
    value: wholeNumber(1, 3650),
    default: "30",
    meaning: "Time for which a deleted person can still be restored; then they are gone for good.",
    example: "30",
  },
  CHANGE_FEED_DAYS: {
    value: wholeNumber(30, 3650),
    default: "35",
    meaning: "Days for which the change feed keeps what apps were told. The contract promises them 30.",
    example: "35",
  },
  AUDIT_DAYS: {
    value: wholeNumber(30, 3650),
    default: "400",
    meaning:
      "Days for which the audit log keeps who did what, as ids and codes. The id of a person who is deleted for good goes at once.",
    example: "400",
  },
  IMPORT_HOLD_PERCENT: {
    value: wholeNumber(0, 100),
    default: null,
    defaultMeaning: "a third",
    meaning:
      "What share of a school's people or groups an import may remove; one that would remove more is held until somebody confirms it. 100 holds none.",
    example: "10",
  },
  PASSWORD_HASH_CONCURRENCY: {
    value: wholeNumber(1, 64),
    default: String(Math.max(1, Math.min(4, availableParallelism()))),
    defaultMeaning: "the number of processors, at most 4",
    meaning:
      "Passwords checked at the same time; each takes a processor for some 20 ms and 19 MiB of memory. Further sign-ins wait in line.",
    example: "4",
  },
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: {
    value: flag,
    default: "false",
    meaning:
      "Lets the service call apps at private and loopback addresses (webhooks, logout messages). For development only; refused in production.",
    example: "true",
  },
  WEBHOOK_TIMEOUT_SECONDS: {
    value: wholeNumber(1, 60),
    default: "10",
    meaning: "Time an app has to answer a webhook.",
    example: "10",
  },
  WEBHOOK_RETRY_SECONDS: {
    value: secondsList,
    default: "5,300,1800",
    meaning:
      "Times after which a failed delivery of a webhook is tried again, give or take a fifth, separated by commas. The contract promises apps three retries.",
    example: "5,300,1800",
  },
  WEBHOOK_DISABLE_AFTER_DAYS: {
    value: wholeNumber(1, 365),
    default: "5",
    meaning:
      "Days of nothing but failures after which an endpoint is disabled and its events are dropped. Until then they wait.",
    example: "5",
  },
  WEBHOOK_LOG_DAYS: {
    value: wholeNumber(1, 3650),
    default: "30",
    meaning:
      "Days for which deliveries and their attempts are kept, for looking into them and for delivering them again.",
    example: "30",
  },
  WEBHOOK_CONCURRENCY: {
    value: wholeNumber(1, 10_000),
    default: "512",
    meaning:
      "Webhooks that this process has under way at the same time at most; one endpoint gets no more than 8 of them.",
    example: "512",
  },
  LOG_LEVEL: {
    value: oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
    default: "info",
    meaning: "The least important line that is still logged. Requests are `info`.",
    example: "warn",
  },
  METRICS_PORT: {
    value: wholeNumber(0, 65_535),
    default: null,
    defaultMeaning: "none: `/metrics` is on `PORT`",
    meaning:
      "A port of its own for `/metrics` and the health checks, to be kept inside the network. Production needs this or `METRICS_TOKEN`.",
    example: "9464",
  },
  METRICS_TOKEN: {
    value: matching(
      /^[\x21-\x7e]{16,}$/,
      "Write at least 16 letters, digits or signs without spaces, such as the output of: openssl rand -hex 32",
    ),
    default: null,
    defaultMeaning: "none: `/metrics` is open",
    meaning: "Bearer token that whoever reads `/metrics` must send.",
    example: "output of `openssl rand -hex 32`",
    secret: true,
  },
  SHUTDOWN_GRACE_SECONDS: {
    value: wholeNumber(0, 600),
    default: "20",
    meaning:
      "Time that running requests and jobs get to end after SIGTERM. Give the supervisor a few seconds more than this before it kills.",
    example: "20",
  },
} as const satisfies Record<string, Option>;

export type OptionName = keyof typeof options;
type Values = {
  [Name in OptionName]:
    z.output<(typeof options)[Name]["value"]> | ((typeof options)[Name]["default"] extends null ? undefined : never);
};

export class ConfigError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(
      `The configuration has ${problems.length} problem(s):\n${problems.map((problem) => `  - ${problem}`).join("\n")}`,
    );
    this.name = "ConfigError";
    this.problems = problems;
  }
}

export type Config = ReturnType<typeof arrange>;

function arrange(values: Values) {
  const production = values.NODE_ENV === "production";
  const issuerUrl = values.ISSUER_URL ?? `http://localhost:${values.PORT}`;
  return {
    production,
    issuerUrl,
    baseUrl: values.BASE_URL ?? issuerUrl,
    port: values.PORT,
    host: values.HOST ?? (production ? "::" : "localhost"),
    trustedProxies: values.TRUSTED_PROXIES ?? [],
    platform: values.PLATFORM,
    role: values.ROLE,
    databaseUrl: values.DATABASE_URL,
    databaseReplicaUrl: values.DATABASE_REPLICA_URL,
    databasePoolSize: values.DATABASE_POOL_SIZE,
    lists: {
      openPerApp: values.LISTS_PER_APP,
      waitSeconds: values.LIST_WAIT_SECONDS,
      stallSeconds: values.LIST_STALL_SECONDS,
      totalSeconds: values.LIST_TOTAL_SECONDS,
    },
    dataDir: values.DATA_DIR,
    demoWorld: values.DEMO_WORLD ?? !production,
    encryptionKeys: values.ENCRYPTION_KEYS,
    lifetimes: {
      codeSeconds: values.AUTHORIZATION_CODE_SECONDS,
      accessTokenSeconds: values.ACCESS_TOKEN_SECONDS,
      idTokenSeconds: values.ID_TOKEN_SECONDS,
      refreshTokenSeconds: values.REFRESH_TOKEN_SECONDS,
      refreshGraceSeconds: values.REFRESH_GRACE_SECONDS,
      sessionSeconds: values.SESSION_SECONDS,
    },
    restoreWindowDays: values.RESTORE_WINDOW_DAYS,
    importHoldShare: values.IMPORT_HOLD_PERCENT === undefined ? 1 / 3 : values.IMPORT_HOLD_PERCENT / 100,
    changeFeedDays: values.CHANGE_FEED_DAYS,
    auditDays: values.AUDIT_DAYS,
    passwordHashConcurrency: values.PASSWORD_HASH_CONCURRENCY,
    allowPrivateAddresses: values.WEBHOOK_ALLOW_PRIVATE_ADDRESSES,
    webhooks: {
      timeoutMs: values.WEBHOOK_TIMEOUT_SECONDS * 1000,
      retrySeconds: values.WEBHOOK_RETRY_SECONDS,
      disableAfterDays: values.WEBHOOK_DISABLE_AFTER_DAYS,
      logDays: values.WEBHOOK_LOG_DAYS,
      concurrency: values.WEBHOOK_CONCURRENCY,
    },
    logLevel: values.LOG_LEVEL,
    metricsPort: values.METRICS_PORT,
    metricsToken: values.METRICS_TOKEN,
    shutdownGraceSeconds: values.SHUTDOWN_GRACE_SECONDS,
  };
}

/** Puts the port that was found free into addresses that were to follow it. */
export function settlePort(config: Config, port: number): Config {
  if (config.port !== 0) return config;
  const settle = (url: string) => url.replace(/^http:\/\/localhost:0$/, `http://localhost:${port}`);
  return { ...config, port, issuerUrl: settle(config.issuerUrl), baseUrl: settle(config.baseUrl) };
}

/** What single values cannot tell. Values that were refused already are undefined here. */
function findConflicts(values: Partial<Values>): string[] {
  const rules: [wrong: boolean, problem: string][] = [
    [
      values.ROLE !== undefined && values.ROLE !== "all" && values.DATABASE_URL === undefined,
      `ROLE=${values.ROLE} needs DATABASE_URL: the embedded PostgreSQL belongs to one process, which then has to do everything.`,
    ],
    [
      values.DATABASE_REPLICA_URL !== undefined && values.DATABASE_URL === undefined,
      "DATABASE_REPLICA_URL needs DATABASE_URL: the embedded PostgreSQL has no replica.",
    ],
    [
      values.METRICS_PORT !== undefined && values.METRICS_PORT !== 0 && values.METRICS_PORT === values.PORT,
      "METRICS_PORT is the same as PORT. Choose another one, or leave it out and set METRICS_TOKEN.",
    ],
  ];
  return rules.filter(([wrong]) => wrong).map(([, problem]) => problem);
}

function findUnfitForProduction(values: Partial<Values>, env: NodeJS.ProcessEnv): string[] {
  const rules: [wrong: boolean, problem: string][] = [
    [
      env["ISSUER_URL"] === undefined,
      "ISSUER_URL is missing. Set it to the https address of the sign-on, for example ISSUER_URL=https://login.example.org.",
    ],
    [
      values.ISSUER_URL?.startsWith("http:") === true,
      "ISSUER_URL must start with https:// in production: passwords and tokens travel over it.",
    ],
    [
      values.BASE_URL?.startsWith("http:") === true,
      "BASE_URL must start with https:// in production: tokens and pupils' names travel over it.",
    ],
    [env["ENCRYPTION_KEYS"] === undefined, "ENCRYPTION_KEYS is missing. Make one with: openssl rand -base64 32"],
    [
      env["ENCRYPTION_KEYS"] !== undefined &&
        values.ENCRYPTION_KEYS?.some((key) => key.toString("base64") === developmentKey) === true,
      "ENCRYPTION_KEYS holds the published development key. Make one of your own with: openssl rand -base64 32",
    ],
    [
      values.ENCRYPTION_KEYS?.some((key) => new Set(key).size < 8) === true,
      "ENCRYPTION_KEYS holds a key that is no random one. Make one with: openssl rand -base64 32",
    ],
    [
      env["DATABASE_URL"] === undefined && values.ALLOW_EMBEDDED_DATABASE !== true,
      "DATABASE_URL is missing. Set it to your PostgreSQL server, or ALLOW_EMBEDDED_DATABASE=true to run on the embedded one.",
    ],
    [values.DEMO_WORLD === true, "DEMO_WORLD=true is refused in production: its passwords are published. Remove it."],
    [
      values.WEBHOOK_ALLOW_PRIVATE_ADDRESSES === true,
      "WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true is refused in production: it lets apps reach your inner network through the service. Remove it.",
    ],
    [
      env["METRICS_PORT"] === undefined && env["METRICS_TOKEN"] === undefined,
      "METRICS_PORT and METRICS_TOKEN are both missing: /metrics would be open to everybody. Set one of them.",
    ],
  ];
  return rules.filter(([wrong]) => wrong).map(([, problem]) => problem);
}

/**
 * Reads the whole configuration from the environment.
 *
 * Errors: one ConfigError that names every problem and what to do about it; it never repeats a secret.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries<Option>(options)) {
    const given = env[name] ?? option.default ?? undefined;
    if (given === undefined) continue;
    if (given.trim() === "") {
      problems.push(`${name} is set but empty. Give it a value, or remove it to get the default.`);
      continue;
    }
    const result = option.value.safeParse(given);
    if (result.success) values[name] = result.data;
    else
      problems.push(`${name}${option.secret ? "" : `=${given}`} is not understood. ${result.error.issues[0]?.message}`);
  }
  problems.push(...findConflicts(values));
  if (env["NODE_ENV"] === "production") problems.push(...findUnfitForProduction(values, env));
  if (problems.length > 0) throw new ConfigError(problems);
  return arrange(values as Values);
}
