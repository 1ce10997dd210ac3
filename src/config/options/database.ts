import { leastPoolSize } from "../../platform/database/share-sizes.ts";
import type { Option } from "../option.ts";
import { flag, postgresUrl, text, wholeNumber } from "../values.ts";

export const databaseOptions = {
  DATABASE_URL: {
    value: postgresUrl,
    default: null,
    defaultMeaning: "an embedded PostgreSQL in `DATA_DIR`",
    meaning:
      "The PostgreSQL server (15 or later) for all data. The role must own the database: migrations run at " + "start.",
    example: "postgresql://schultor:secret@db.internal:5432/schultor?sslmode=verify-full",
    secret: true,
  },
  DATABASE_REPLICA_URL: {
    value: postgresUrl,
    default: null,
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
    default: null,
    defaultMeaning: "`true`; in production `false`, and `true` is refused",
    meaning:
      "Loads the demo schools, people and apps into an empty database, and starts the demo apps on the ports " +
      "4000 to 4003.",
    example: "false",
  },
} as const satisfies Record<string, Option>;
