import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

export type InstalledServer = { name: string; binariesFolder: string };

const debianFolder = "/usr/lib/postgresql";
const oldestVersion = 15;

/** The PostgreSQL servers that Debian's packages put on this machine, as names of test projects. */
export function installedServers(): InstalledServer[] {
  if (!existsSync(debianFolder)) return [];
  return readdirSync(debianFolder)
    .filter((version) => Number(version) >= oldestVersion && existsSync(join(debianFolder, version, "bin/postgres")))
    .map((version) => ({ name: `postgresql-${version}`, binariesFolder: join(debianFolder, version, "bin") }));
}
