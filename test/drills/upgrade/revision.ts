import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const here = join(import.meta.dirname, "../../..");
const run = promisify(execFile);

/** Puts the files of a revision, and the packages that it needs, into a new folder. */
export async function checkOut(revision: string, folder: string): Promise<void> {
  const archive = `${folder}.tar`;
  mkdirSync(folder);
  await run("git", ["archive", "--output", archive, revision], { cwd: here });
  await run("tar", ["-xf", archive, "-C", folder]);
  const packagesOf = (root: string) => readFileSync(join(root, "package-lock.json"), "utf8");
  if (packagesOf(folder) === packagesOf(here)) symlinkSync(join(here, "node_modules"), join(folder, "node_modules"));
  else await run("npm", ["ci", "--omit=dev", "--no-audit", "--no-fund"], { cwd: folder });
}
