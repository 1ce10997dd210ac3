import { leastPoolSize } from "../../platform/database/share-sizes.ts";
import { addressList, flag, httpUrl, matching, oneOf, postgresUrl, source, text, wholeNumber } from "../values.ts";
import type { Option } from "../values.ts";

export const serviceOptions = {
  NODE_ENV: {
    value: oneOf("production", "development", "test"),
    default: "development",
    meaning:
      "`production` refuses settings for development (demo world, default keys, http) and logs JSON lines; " +
      "other values log readable lines and load the demo world.",
    example: "production",
  },
  ISSUER_URL: {
    value: httpUrl("without path"),
    defaultMeaning: "`http://localhost:<PORT>`",
    meaning:
      "Address of the sign-on as seen by browsers and apps. It is the `iss` of every ID token and the base of " +
      "every address of the service. If it changes later, every app has to be reconfigured.",
    example: "https://login.example.org",
  },
  BASE_URL: {
    value: httpUrl("path allowed"),
    defaultMeaning: "`ISSUER_URL`",
    meaning:
      "Address of the IDM API and the Schulconnex endpoints if it differs from the sign-on's. Its path becomes " +
      "the prefix of their paths.",
    example: "https://api.example.org",
  },
  PORT: {
    value: wholeNumber(0, 65_535),
    default: "3000",
    meaning: "TCP port to listen on; 0 chooses a free one.",
    example: "8080",
  },
  HOST: {
    value: matching(/^[A-Za-z0-9.:_-]+$/, "Write an address or host name, such as 0.0.0.0."),
    defaultMeaning: "`localhost`; in production `::` (every address)",
    meaning:
      "Address to listen on. `localhost` means both loopback addresses, so that a demo world is not open to the " +
      "network.",
    example: "0.0.0.0",
  },
  TRUSTED_PROXIES: {
    value: addressList,
    defaultMeaning: "none",
    meaning:
      "Addresses or networks of the reverse proxies in front of the service, separated by commas. Only their " +
      "`X-Forwarded-For` is trusted; it determines the client address for the sign-in limits.",
    example: "10.0.0.0/8",
  },
  PLATFORM: {
    value: matching(/^[a-z0-9][a-z0-9-]{0,31}$/, "Write lower-case letters, digits and hyphens."),
    default: "schultor",
    meaning:
      "The operator's name inside scope identifiers: `urn:<PLATFORM>:idm:v1:schools:read`. Apps write it into " +
      "their requests, so it must not change once apps exist.",
  },
  ROLE: {
    value: oneOf("all", "web", "worker"),
    default: "all",
    meaning:
      "What this process does: handle requests (`web`), run the jobs (`worker`: sweeps, key rotation, logout " +
      "messages, webhooks), or both. Any number of each can share one database.",
    example: "web",
  },
  WEB_CONCURRENCY: {
    value: wholeNumber(1, 256),
    defaultMeaning: "the number of processors in production, else `1`",
    meaning:
      "Processes that handle requests together on one port, each on one processor. With more than one, " +
      "`ROLE=all` has an additional process for the jobs. The first process starts the others, replaces " +
      "processes that end, and returns the sum of all in `/metrics`. `ROLE=worker` is always one process.",
    example: "4",
  },
  PACKAGES_SOURCE: {
    value: source,
    defaultMeaning: "no repository, and the licence in the file LICENSE",
    meaning:
      "Repository and licence (SPDX) that the packages at `/downloads` name: an address and an identifier, " +
      "separated by a space.",
    example: "https://git.example.org/schultor EUPL-1.2",
  },
  DATABASE_URL: {
    value: postgresUrl,
    defaultMeaning: "an embedded PostgreSQL in `DATA_DIR`",
    meaning:
      "The PostgreSQL server (15 or later) for all data. The role must own the database: migrations run at " + "start.",
    example: "postgresql://schultor:secret@db.internal:5432/schultor?sslmode=verify-full",
    secret: true,
  },
  DATABASE_REPLICA_URL: {
    value: postgresUrl,
    defaultMeaning: "`DATABASE_URL`",
    meaning:
      "A streaming replica for the reads of the IDM API and the Schulconnex endpoints; one address may stand for several. " +
      "If it is unavailable or too far behind, the primary is used.",
    example: "postgresql://schultor:secret@replica.internal:5432/schultor",
    secret: true,
  },
  DATABASE_REPLICA_MAX_AGE_SECONDS: {
    value: wholeNumber(1, 3600),
    default: "5",
    meaning: "Maximum age in seconds of data that is read from the replica.",
    example: "30",
  },
  DATABASE_POOL_SIZE: {
    value: wholeNumber(leastPoolSize, 1000),
    default: "22",
    meaning:
      "Maximum number of database connections of each process, per server. They are split into shares (sign-on, " +
      "token endpoint, first sign-ins, token checks, reads, changes, imports, jobs), so that one kind of work " +
      "cannot use the connections of another. All processes together (`WEB_CONCURRENCY`, and one for jobs) must " +
      "stay below the server's `max_connections`; a start that may exceed it logs a warning.",
    example: "40",
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
    meaning: "Allows production to use the embedded PostgreSQL: on one machine, without its own backups.",
    example: "true",
  },
  DEMO_WORLD: {
    value: flag,
    defaultMeaning: "`true`; in production `false`, and `true` is refused",
    meaning:
      "Loads the demo schools, people and apps into an empty database, and starts the demo apps on the ports " +
      "4000 to 4003.",
    example: "false",
  },
  LISTS_PER_APP: {
    value: wholeNumber(1, 1000),
    default: "32",
    meaning:
      "Lists that one app may have open in each process at the same time: waiting, being read or being sent. " +
      "Further lists get 429, or 503 beyond eight times this number for all apps together.",
    example: "64",
  },
  LIST_WAIT_SECONDS: {
    value: wholeNumber(1, 60),
    default: "20",
    meaning: "Time that a list waits for its turn to be read before it gets 429 or 503.",
    example: "10",
  },
  LIST_STALL_SECONDS: {
    value: wholeNumber(1, 100),
    default: "30",
    meaning: "Time in which a client must read the next 64 KiB of a list. Slower clients are disconnected.",
    example: "60",
  },
  LIST_TOTAL_SECONDS: {
    value: wholeNumber(1, 7200),
    default: "900",
    meaning:
      "Time in which a client must read a whole list. Slower clients are disconnected; they can read pages " +
      "instead.",
    example: "1800",
  },
} as const satisfies Record<string, Option>;
