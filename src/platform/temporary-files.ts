import { hash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { readdir, rm, stat, open } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "./clock.ts";
import type { WorkerJob } from "./jobs/worker.ts";

const prefix = "schultor-upload-";
const keptHours = 24;

/** When a process started, as Linux counts it, because numbers of processes are reused; null if it does not run. */
function startOf(pid: number | string): string | null {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in parentheses may hold spaces.
    return line.slice(line.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

const machine = hash("sha256", hostname()).slice(0, 8);
const owner = [machine, process.pid, startOf(process.pid) ?? "unknown"].join("-");

/** A path for content of requests, with the process that must remove the file in its name. */
export const makeTemporaryPath = (): string => join(tmpdir(), `${prefix}${owner}-${randomUUID()}`);

/** Removes files of killed processes, because they hold names. The file system's clock decides their age. */
export const makeUploadSweep = (): WorkerJob => ({
  name: "http.sweepUploads",
  everySeconds: 3600,
  inEveryProcess: true,
  async run() {
    const before = systemClock().getTime() - keptHours * 3_600_000;
    for (const name of (await readdir(tmpdir())).filter((one) => one.startsWith(prefix))) {
      const path = join(tmpdir(), name);
      const stats = await stat(path).catch(() => null);
      if (stats === null || stats.uid !== (process.getuid?.() ?? stats.uid)) continue;
      if (hasEnded(name) || stats.mtimeMs < before) await rm(path, { force: true });
    }
  },
});

/** False for processes of other machines and systems other than Linux: there only the age of the file counts. */
function hasEnded(name: string): boolean {
  const [on, pid, start] = name.slice(prefix.length).split("-");
  return on === machine && pid !== undefined && /^\d+$/.test(start ?? "") && startOf(pid) !== start;
}

/** The body of a response that is too large for the memory: a file that is sent in pieces. */
export class TemporaryFile {
  readonly path: string;
  constructor(path: string) {
    this.path = path;
  }
  /** Opens the file for one reader. From then on it has no name, so that nothing is left of it. */
  async take(): Promise<{ size: number; pieces: AsyncIterable<Buffer> }> {
    const file = await open(this.path);
    await this.remove();
    return { size: (await file.stat()).size, pieces: file.createReadStream() };
  }
  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }
}
