import { execFileSync, spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { DatabaseStartError } from "./start-error.ts";

/** The account of PostgreSQL if we are root, which it refuses; null: our own. */
export type ServerUser = { uid: number; gid: number } | null;

const usualAccounts = {
  /** Used by nothing else, so that only root and this server can read the files. */
  own: "schultor-db",
  /** A fallback: another PostgreSQL may use this account and could read our files. */
  shared: "postgres",
  useradd: "useradd",
};

export function findServerUser(say: (line: string) => void, { own, shared, useradd } = usualAccounts): ServerUser {
  if (process.getuid?.() !== 0) return null;
  const existing = findAccount(own);
  if (existing) return existing;
  const { account, reason } = makeAccount(own, useradd);
  if (account) {
    say(`Made the system account ${own}: PostgreSQL does not run as root.`);
    return account;
  }
  const other = findAccount(shared);
  if (!other) {
    throw new DatabaseStartError(
      `PostgreSQL does not run as root, and the account ${own} for it could not be made (${reason}). ` +
        `Make it (useradd --system --no-create-home ${own}), start as an ordinary user, or set DATABASE_URL.`,
    );
  }
  say(
    `The account ${own} could not be made (${reason}). The database runs as ${shared}, and whatever else runs as ${shared} can read it. Make the account ${own} and start again to end that.`,
  );
  return other;
}

export const isShared = (user: ServerUser): boolean =>
  user !== null && user.uid === findAccount(usualAccounts.shared)?.uid;

function makeAccount(name: string, useradd: string): { account: ServerUser; reason: string } {
  let reason = "";
  // Another start may be creating it, or hold the lock of the account list.
  for (let tries = 0; tries < 5; tries++) {
    const { error, stderr } = spawnSync(
      useradd,
      ["--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", name],
      { encoding: "utf8" },
    );
    const account = findAccount(name);
    if (account) return { account, reason };
    if (error) return { account: null, reason: "useradd is missing" };
    reason = stderr.trim().split("\n").at(-1) ?? "useradd failed";
    spawnSync("sleep", ["0.5"]);
  }
  return { account: null, reason };
}

export function canEnter(user: ServerUser, path: string): boolean {
  if (user) return spawnSync("test", ["-x", path], { ...user, cwd: "/" }).status === 0;
  return isAccessible(path, constants.X_OK);
}

export function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function findAccount(name: string): ServerUser {
  const id = (flag: string) => Number(execFileSync("id", [flag, name], { stdio: ["ignore", "pipe", "ignore"] }));
  try {
    return { uid: id("-u"), gid: id("-g") };
  } catch {
    return null;
  }
}
