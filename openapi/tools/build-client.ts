import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readClient } from "../../clients/pack/index.ts";

// Writes clients/typescript/dist, as it is in the package that the service hands out.

const folder = join(import.meta.dirname, "../../clients/typescript");

rmSync(join(folder, "dist"), { recursive: true, force: true });
for (const [path, content] of readClient()) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}
