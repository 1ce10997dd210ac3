// Puts the command line where `npx schultor` and node_modules/.bin on the PATH find it.
// A "bin" of the package itself would make npx install the package into its own cache at every call, which takes a second.
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../node_modules/.bin/", import.meta.url));
mkdirSync(folder, { recursive: true });
rmSync(`${folder}schultor`, { force: true });
symlinkSync("../../bin/schultor.js", `${folder}schultor`);
