import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, readlinkSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Binaries } from "./binaries.ts";
import { type Cluster, databaseRole, urlOf } from "./cluster.ts";
import { DatabaseStartError } from "./start-error.ts";

/** Marks our servers on their command line, so that a later start recognises them. */
const clusterName = "schultor-embedded";
const pollMs = 20;
const logLimitBytes = 10_000_000;

type Postmaster = {
  exited: Promise<void>;
  stop(): Promise<void>;
};

type StartOptions = { cluster: Cluster; binaries: Binaries; logFile: string; settings: Record<string, string> };

export async function startPostmaster(options: StartOptions): Promise<Postmaster> {
  // The sessions of a killed server may need a moment to end.
  const giveUpAt = performance.now() + 30_000;
  rotateLog(options.logFile);
  for (;;) {
    const logStart = existsSync(options.logFile) ? statSync(options.logFile).size : 0;
    const child = spawnServer(options);
    const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()).once("error", () => resolve()));
    if (await becomesReady(child, exited, options.cluster)) return supervise(child, exited);
    const said = readFileSync(options.logFile).subarray(logStart).toString();
    if (!/pre-existing shared memory block/.test(said) || performance.now() > giveUpAt) throw explain(said, options);
    await sleep(200);
  }
}

/** Stops our server that an earlier start left, and removes a dead one's files. Refuses if the server is not ours. */
export async function clearLeftovers({ folder }: Cluster): Promise<void> {
  const pid = readPid(join(folder, "postmaster.pid"));
  const command = pid === null ? null : postmasterCommand(pid, folder);
  if (pid === null || command === null) {
    // The pid may belong to another program now, which PostgreSQL would mistake for a server.
    for (const name of ["postmaster.pid", ".s.PGSQL.5432", ".s.PGSQL.5432.lock"])
      rmSync(join(folder, name), { force: true });
    return;
  }
  if (!command.includes(clusterName)) {
    throw new DatabaseStartError(
      `A PostgreSQL server (pid ${pid}) that was started by hand is using ${folder}. Stop it first: kill -INT ${pid}`,
    );
  }
  for (const [signal, seconds] of [
    ["SIGINT", 60],
    ["SIGQUIT", 30],
  ] as const) {
    process.kill(pid, signal);
    const giveUpAt = performance.now() + seconds * 1000;
    while (performance.now() < giveUpAt) {
      if (postmasterCommand(pid, folder) === null) return;
      await sleep(pollMs);
    }
  }
  throw new DatabaseStartError(
    `An earlier PostgreSQL server (pid ${pid}) on ${folder} does not stop. End it (kill -9 ${pid}) and start again.`,
  );
}

function rotateLog(file: string): void {
  if (existsSync(file) && statSync(file).size > logLimitBytes) renameSync(file, `${file}.1`);
}

function spawnServer({ cluster, binaries, logFile, settings }: StartOptions): ChildProcess {
  const log = openSync(logFile, "a", 0o600);
  const flags = Object.entries({ ...settings, cluster_name: clusterName }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ]);
  // Detached, because Ctrl-C must not stop the server before us.
  const child = spawn(join(binaries.folder, "postgres"), ["-D", cluster.folder, ...flags], {
    ...cluster.user,
    cwd: "/",
    env: { LC_ALL: "C", TZ: "UTC" },
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  child.unref();
  return child;
}

async function becomesReady(child: ChildProcess, exited: Promise<void>, { folder }: Cluster): Promise<boolean> {
  const server = { isRunning: true };
  void exited.then(() => (server.isRunning = false));
  while (server.isRunning) {
    const lines = readLines(join(folder, "postmaster.pid"));
    if (lines[0] === String(child.pid) && lines[7]?.trim() === "ready") return true;
    await sleep(pollMs);
  }
  return false;
}

function supervise(child: ChildProcess, exited: Promise<void>): Postmaster {
  const signal = (name: "SIGINT" | "SIGQUIT") =>
    child.exitCode === null && child.signalCode === null && child.kill(name);
  const atExit = () => void signal("SIGINT");
  process.on("exit", atExit);
  void exited.then(() => process.off("exit", atExit));
  return {
    exited,
    async stop() {
      child.ref();
      signal("SIGINT");
      const late = setTimeout(() => signal("SIGQUIT"), 60_000);
      await exited;
      clearTimeout(late);
    },
  };
}

function explain(said: string, { cluster, logFile }: StartOptions): DatabaseStartError {
  const lines = said.trim().split("\n").slice(-8).join("\n  ");
  const advice = /No space left on device/.test(said)
    ? "The disk is full. Make room and start again; nothing that was confirmed is lost."
    : "If the files are damaged, restore them from a backup, or move the folder away to start with an empty database.";
  return new DatabaseStartError(
    `The embedded PostgreSQL did not start on ${cluster.folder}. ${advice} Its last lines (all of them: ${logFile}):\n  ${lines}`,
  );
}

function postmasterCommand(pid: number, folder: string): string | null {
  try {
    if (process.platform === "linux") {
      if (
        readlinkSync(`/proc/${pid}/cwd`) !== folder ||
        !basename(readlinkSync(`/proc/${pid}/exe`)).startsWith("postgres")
      )
        return null;
      return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    }
    const command = execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return command.includes("postgres") && command.includes(folder) ? command : null;
  } catch {
    return null;
  }
}

function readPid(file: string): number | null {
  const pid = Number(readLines(file)[0]);
  return Number.isInteger(pid) && pid > 1 ? pid : null;
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}

export function findRunningServer(dataDir: string): string | null {
  const file = join(resolve(dataDir), "postgres", "postmaster.pid");
  if (!existsSync(file)) return null;
  const [pid, , , , socketFolder, , , status] = readFileSync(file, "utf8").split("\n");
  if (!isAlive(Number(pid)) || status?.trim() !== "ready" || !socketFolder) return null;
  return urlOf(databaseRole, socketFolder);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
