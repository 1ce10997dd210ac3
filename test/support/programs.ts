import { accessSync, constants } from "node:fs";
import { join } from "node:path";

/** Where programs are looked for; Debian puts some where not every PATH looks. */
export const programFolders = [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin"];

export const isInstalled = (program: string): boolean =>
  programFolders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

/** Whether a test is left out for this reason, which is then printed; null: it is not. */
export function isLeftOut(claim: string, reason: string | null): boolean {
  if (reason !== null) process.stderr.write(`SKIPPED, because ${reason}: ${claim}\n`);
  return reason !== null;
}

/** Why a test that needs these programs is left out; null if all of them are here. */
export function whatIsMissing(...programs: string[]): string | null {
  const missing = programs.filter((program) => !isInstalled(program));
  return missing.length > 0 ? `${missing.join(" and ")} is not installed` : null;
}
