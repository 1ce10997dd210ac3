import { execFileSync, spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { DatabaseStartError } from "./start-error.ts";

/** The account PostgreSQL runs as when we are root, which it refuses; null: our own. */
export type ServerUser = { uid: number; gid: number } | null;

const accountNames = ["postgres", "schultor"];

/** As root: an account named postgres or schultor; without either, a system account `schultor` is made. */
export function findServerUser(say: (line: string) => void): ServerUser {
  if (process.getuid?.() !== 0) return null;
  const existing = accountNames.map(findAccount).find((account) => account !== null);
  if (existing) return existing;
  try {
    execFileSync("useradd", ["--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", "schultor"], { stdio: "pipe" });
  } catch (cause) {
    throw new DatabaseStartError(
      "PostgreSQL does not run as root, and the account `schultor` for it could not be made. " +
        "Start as an ordinary user, make an account named postgres, or set DATABASE_URL.",
      { cause },
    );
  }
  say("Made the system account schultor: PostgreSQL does not run as root.");
  return findAccount("schultor");
}

/** Whether that user may enter the folder or run the file, every folder above included. */
export function canEnter(user: ServerUser, path: string): boolean {
  if (user) return spawnSync("test", ["-x", path], { ...user, cwd: "/" }).status === 0;
  try {
    accessSync(path, constants.X_OK);
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
