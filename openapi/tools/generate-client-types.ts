import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "./run-program.ts";

/**
 * Makes `generated/client/` of the given project folder: the type declarations of clients/typescript, which need the
 * compiler. The service makes the rest of the package from the sources.
 */
export async function generateClientTypes(root: string): Promise<void> {
  const out = join(root, "generated/client");
  mkdirSync(join(root, ".cache"), { recursive: true });
  const staging = await mkdtemp(join(root, ".cache/client-types-"));
  rmSync(out, { recursive: true, force: true });
  try {
    cpSync(join(root, "clients/typescript/src"), staging, { recursive: true });
    cpSync(join(root, "generated/openapi"), join(staging, "openapi"), { recursive: true });
    const contract = join(staging, "contract.ts");
    writeFileSync(contract, readFileSync(contract, "utf8").replaceAll("../../../generated/openapi/", "./openapi/"));
    const compilerOptions = {
      rootDir: ".",
      outDir: out,
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
    };
    const project = { extends: "../../clients/typescript/tsconfig.json", compilerOptions, include: ["."], exclude: [] };
    writeFileSync(join(staging, "tsconfig.json"), JSON.stringify(project));
    await runProgram("tsc", ["-p", staging], root);
  } finally {
    rmSync(staging, { recursive: true });
  }
  // The generated types are declarations themselves.
  rmSync(join(out, "openapi"), { recursive: true });
}
