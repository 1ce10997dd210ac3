import { spawnSync } from "node:child_process";
import { chownSync } from "node:fs";

/** The account that owns the files and processes; null: our own. */
export type Account = { uid: number; gid: number } | null;

/** PostgreSQL does not run as root: as root, the account `postgres` that Debian's packages make. */
export function findAccount(): Account {
  if (process.getuid?.() !== 0) return null;
  const [uid, gid] = ["-u", "-g"].map((what) =>
    Number(spawnSync("id", [what, "postgres"], { encoding: "utf8" }).stdout || NaN),
  );
  if (!uid || !gid) throw new Error("There is no account postgres. Install Debian's package postgresql-15.");
  return { uid, gid };
}

export function giveTo(account: Account, path: string): void {
  if (account !== null) chownSync(path, account.uid, account.gid);
}
