import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { documentsOfRecords } from "./names.ts";
import { packForNpm, type Origin } from "./pack.ts";
import { readProgram, root, type Files } from "./read-program.ts";

const source = "clients/typescript/src";
const declarations = "generated/client";

/** The compiled sources of `@schultor/client`, with paths from its folder. */
export function readClient(): Files {
  const entries = [`${source}/index.ts`, `${source}/sqlite.ts`];
  const program = readProgram({ entries, isIncluded: (path) => path.startsWith(source) });
  const files: Files = new Map();
  for (const [path, code] of program.files) files.set(path.replace(source, "dist"), code);
  for (const path of readdirSync(join(root, declarations), { recursive: true, encoding: "utf8" }))
    if (path.endsWith(".d.ts")) files.set(`dist/${path}`, readFileSync(join(root, declarations, path)));
  // They contain types only.
  for (const name of documentsOfRecords)
    files.set(`dist/openapi/${name}.d.ts`, readFileSync(join(root, `generated/openapi/${name}.ts`)));
  return files;
}

export const packClient = (origin: Origin): Promise<Buffer> =>
  packForNpm(origin, { folder: "clients/typescript", files: readClient() });
