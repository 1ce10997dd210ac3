import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Compiles the sources of clients/typescript together with the generated types of the contract to its dist/, which is
// what is packed.

const root = join(import.meta.dirname, "../..");
const here = join(root, "clients/typescript");
const staging = join(root, ".cache/typescript-client");
const generated = "generated/openapi";

for (const folder of [staging, join(here, "dist")]) rmSync(folder, { recursive: true, force: true });
mkdirSync(join(staging, generated), { recursive: true });
cpSync(join(here, "src"), staging, { recursive: true });
for (const name of ["idm.ts", "schulconnex.ts", "schulconnex-1.7.ts", "webhooks.ts"])
  cpSync(join(root, generated, name), join(staging, generated, name));
const contract = join(staging, "contract.ts");
writeFileSync(contract, readFileSync(contract, "utf8").replaceAll(`../../../${generated}/`, `./${generated}/`));

const compilerOptions = {
  rootDir: ".",
  outDir: join(here, "dist"),
  noEmit: false,
  declaration: true,
  allowImportingTsExtensions: false,
  rewriteRelativeImportExtensions: true,
};
const project = { extends: join(here, "tsconfig.json"), compilerOptions, include: ["."], exclude: [] };
writeFileSync(join(staging, "tsconfig.json"), JSON.stringify(project));
execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", staging], { stdio: "inherit" });
