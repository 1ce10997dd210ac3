import type { Client } from "openapi-fetch";
import type { paths } from "../../../generated/openapi/admin.ts";
import type { Config } from "../../config/index.ts";
import { systemClock } from "../../platform/clock.ts";
import type { Machine, Screen } from "../command.ts";
import { makeDatabaseOfCall } from "./database.ts";

export type OpenMachine = { machine: Machine; connect(): Promise<Client<paths>>; close(): Promise<void> };
export type Failure = { message: string; code: string };

/** The machine of the service, which the package for partners does not have. */
export type Local = {
  open(screen: Screen): Promise<OpenMachine>;
  /** Null for an error that is not the database's. */
  explain(error: unknown): Promise<Failure | null>;
};

export const makeLocal = (readConfig: () => Promise<Config>): Local => ({
  open: async (screen) => openMachine(await readConfig(), screen),
  explain,
});

function openMachine(config: Config, screen: Screen): OpenMachine {
  const database = makeDatabaseOfCall(config, screen.tell);
  let clock = systemClock;
  let closeApi: (() => Promise<void>) | undefined;
  const machine: Machine = {
    ...screen,
    config,
    clock: () => clock(),
    origin: () => ({ at: clock(), actorId: "command-line" }),
    withDatabase: async (work) => {
      const opened = await database.get();
      ({ clock } = opened);
      return work(opened);
    },
  };
  return {
    machine,
    connect: async () => {
      const { connectLocal } = await import("./connect.ts");
      const { api, close } = connectLocal(machine);
      closeApi = close;
      return api;
    },
    close: async () => {
      await closeApi?.();
      await database.close();
    },
  };
}

const undefinedTable = "42P01";

async function explain(error: unknown): Promise<Failure | null> {
  const { code } = error as { code?: unknown };
  if (code === undefinedTable) {
    const empty = "The database is empty. Start the service once, or run the command migrate.";
    return { message: empty, code: "database_empty" };
  }
  const { DatabaseStartError, explainDatabaseError } = await import("../../platform/postgres/index.ts");
  const message = error instanceof DatabaseStartError ? error.message : explainDatabaseError(error);
  return message === null ? null : { message, code: "database_unavailable" };
}
