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
