import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { databaseRole } from "./cluster.ts";

export function findRunningServer(dataDir: string): string | null {
  const file = join(resolve(dataDir), "postgres", "postmaster.pid");
  if (!existsSync(file)) return null;
  const [pid, , , , socketFolder, , , status] = readFileSync(file, "utf8").split("\n");
  if (!isAlive(Number(pid)) || status?.trim() !== "ready" || !socketFolder) return null;
  return `postgresql://${databaseRole}@localhost/${databaseRole}?host=${encodeURIComponent(socketFolder)}`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
