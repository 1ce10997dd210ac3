import { accessSync, constants, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DatabaseStartError } from "./start-error.ts";

export type FolderLock = { release(): void };

/**
 * Takes the data folder for this process.
 *
 * Shape:  the kernel holds the lock (SQLite's, on the file `lock`), so it is gone however the process ends;
 *         `owner.json` beside it only says who to look for.
 * Errors: DatabaseStartError when another process has it, or when the folder belongs to someone else.
 */
export function lockFolder(folder: string): FolderLock {
  const lock = openLock(folder);
  const owner = join(folder, "owner.json");
  try {
    lock.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
  } catch (cause) {
    lock.close();
    throw new DatabaseStartError(
      `The data folder ${folder} is in use by ${describeOwner(owner)}. ` +
        "Stop that one first, or start this one with another DATA_DIR (and PORT).",
      { cause },
    );
  }
  writeFileSync(owner, JSON.stringify({ pid: process.pid, since: new Date().toISOString() }), { mode: 0o600 });
  return { release: () => lock.close() };
}

function openLock(folder: string): DatabaseSync {
  const file = join(folder, "lock");
  try {
    if (!existsSync(file)) writeFileSync(file, "", { mode: 0o600 });
    accessSync(file, constants.W_OK);
    return new DatabaseSync(file);
  } catch (cause) {
    throw new DatabaseStartError(`The data folder ${folder} cannot be written by this user. Start as the user it belongs to, or set another DATA_DIR.`, { cause });
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
