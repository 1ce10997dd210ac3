import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "../../../src/platform/postgres/index.ts";
import { until } from "../shared/until.ts";

/** A PostgreSQL that is started again whenever it ends, on a disk of its own where this user may mount one. */
export type Database = {
  url(): string;
  socket(): string;
  hasOwnDisk: boolean;
  /** Resolves when the server takes a connection and writes. */
  untilWritable(): Promise<void>;
  kill(): void;
  restart(): Promise<void>;
  fillDisk(): void;
  emptyDisk(): void;
  stop(): Promise<void>;
};

const diskMegabytes = 700;
const settings = { max_connections: "60", shared_buffers: "64MB", max_wal_size: "128MB", wal_keep_size: "0" };

export async function startDatabase(folder: string): Promise<Database> {
  const hasOwnDisk = mount(folder);
  chmodSync(folder, 0o711);
  const dataDir = join(folder, "data");
  const filler = join(folder, "filler");
  let [server, isEnding] = [null as EmbeddedPostgres | null, false];
  let last = { url: "", folder: "" };
  const start = async (): Promise<void> => {
    while (!isEnding) {
      try {
        server = await startEmbeddedPostgres({ dataDir, say: () => undefined, settings });
        last = server;
        void server.exited.then(restartLater);
        return;
      } catch {
        await sleep(500);
      }
    }
  };
  // `stop` also frees the data folder for the next start.
  const restartLater = async () => {
    await server?.stop();
    if (!isEnding) await start();
  };
  await start();
  return {
    hasOwnDisk,
    url: () => last.url,
    socket: () => `${new URL(last.url).searchParams.get("host")!}/.s.PGSQL.5432`,
    untilWritable: () => until("the database can be written", () => isWritable(last.url)),
    kill: () =>
      void process.kill(Number(readFileSync(join(last.folder, "postmaster.pid"), "utf8").split("\n")[0]), "SIGKILL"),
    restart: async () => void (await server?.stop()),
    fillDisk: () => {
      const { bavail, bsize } = statfsSync(folder);
      try {
        writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - 64 * 1024)));
      } catch (error) {
        // The server has taken some of it meanwhile, so that it is full already.
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    },
    emptyDisk: () => rmSync(filler, { force: true }),
    async stop() {
      isEnding = true;
      await server?.stop();
      if (hasOwnDisk) execFileSync("umount", [folder]);
    },
  };
}

/** Asks for what is written to the disk at the end of the transaction. */
async function isWritable(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000, query_timeout: 5000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("CREATE TABLE IF NOT EXISTS drill_write (); DROP TABLE drill_write");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function mount(folder: string): boolean {
  if (process.getuid?.() !== 0) return false;
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${diskMegabytes}m`, "schultor-drill", folder], {
      stdio: "ignore",
    });
    return true;
  } catch {
    return false;
  }
}
