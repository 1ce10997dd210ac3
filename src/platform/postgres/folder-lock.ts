import { accessSync, constants, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../clock.ts";
import { DatabaseStartError } from "./start-error.ts";

/** The kernel holds the lock (through SQLite), so it ends with the process. Errors: DatabaseStartError. */
export function lockFolder(folder: string): { release(): void } {
  const lock = openLock(folder);
  try {
    lock.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
  } catch (cause) {
    lock.close();
    throw new DatabaseStartError(explain(cause, folder), { cause });
  }
  writeFileSync(join(folder, "owner.json"), JSON.stringify({ pid: process.pid, since: systemClock().toISOString() }), {
    mode: 0o600,
  });
  return { release: () => lock.close() };
}

const busy = 5;
const full = 13;

function explain(error: unknown, folder: string): string {
  const code = error instanceof Error && "errcode" in error ? error.errcode : null;
  if (code === busy) {
    const owner = describeOwner(join(folder, "owner.json"));
    return `The data folder ${folder} is in use by ${owner}. Stop that one first, or start this one with another DATA_DIR (and PORT).`;
  }
  if (code === full)
    return `The disk of the data folder ${folder} is full. Make room and start again; nothing that was confirmed is lost.`;
  return `The data folder ${folder} cannot be locked: ${(error as Error).message}.`;
}

function openLock(folder: string): DatabaseSync {
  const file = join(folder, "lock");
  try {
    if (!existsSync(file)) writeFileSync(file, "", { mode: 0o600 });
    accessSync(file, constants.W_OK);
    return new DatabaseSync(file);
  } catch (cause) {
    throw new DatabaseStartError(
      `The data folder ${folder} cannot be written by this user. Start as the user it belongs to, or set another DATA_DIR.`,
      { cause },
    );
  }
}

function describeOwner(file: string): string {
  try {
    const { pid, since } = JSON.parse(readFileSync(file, "utf8")) as { pid: number; since: string };
    return `another process (pid ${pid}, since ${since})`;
  } catch {
    return "another process";
  }
}
