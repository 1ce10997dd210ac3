import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../gates/results.ts";

/** Copies the project as it is now to a temporary folder, which the caller removes; it has the packages of this one. */
export function copyProject(): string {
  const copy = mkdtempSync(join(tmpdir(), "schultor-copy-"));
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const file of files.toString().split("\0"))
    if (file !== "" && existsSync(join(root, file))) cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}
