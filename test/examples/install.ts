import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runIn } from "../support/typescript-client.ts";

const root = join(import.meta.dirname, "../..");

/**
 * Installs what a folder asks for and the project does not have; what is there is kept.
 *
 * Errors: an Error with what npm wrote where there is no network.
 */
async function install(folder: string): Promise<void> {
  const isLocked = existsSync(join(root, folder, "package-lock.json"));
  const wanted = readFileSync(join(root, folder, isLocked ? "package-lock.json" : "package.json"), "utf8");
  const kept = join(root, folder, "node_modules/.installed.json");
  if (existsSync(kept) && readFileSync(kept, "utf8") === wanted) return;
  const command = isLocked ? ["ci"] : ["install", "--no-package-lock"];
  await runIn(join(root, folder), "npm", ...command, "--ignore-scripts");
  writeFileSync(kept, wanted);
}

/** What `npm install` does in the folder of an example whose other packages the project has. */
function linkClient(name: string): void {
  const scope = join(root, "examples", name, "node_modules/@schultor");
  mkdirSync(scope, { recursive: true });
  rmSync(join(scope, "client"), { force: true });
  symlinkSync(join(root, "clients/typescript"), join(scope, "client"));
}

export async function setup(): Promise<void> {
  for (const folder of ["test/examples/deno", "examples/hono"]) await install(folder);
  for (const name of ["express"]) linkClient(name);
  await runIn(root, process.execPath, "openapi/tools/build-client.ts");
}
