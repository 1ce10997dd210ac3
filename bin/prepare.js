// Runs after `npm ci`: puts the command line where `npx schultor` finds it, and removes what nothing here uses.
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";

const packages = fileURLToPath(new URL("../node_modules/", import.meta.url));

// A "bin" in package.json would make npx install the package into its own cache at every call, which takes a second.
mkdirSync(`${packages}.bin`, { recursive: true });
rmSync(`${packages}.bin/schultor`, { force: true });
symlinkSync("../../bin/schultor.js", `${packages}.bin/schultor`);

// 67 MB of C headers for native addons; there are none.
const node = `${packages}node/node_modules/`;
for (const name of existsSync(node) ? readdirSync(node) : [])
  if (name.startsWith("node-")) rmSync(`${node}${name}/include`, { recursive: true, force: true });

// 66 MB of query compilers of Prisma: each comes for five databases, in two sizes, for two kinds of modules.
const runtime = `${packages}@prisma/client/runtime/`;
const usedCompiler = /^query_compiler_small_bg\.postgresql\./;
for (const name of existsSync(runtime) ? readdirSync(runtime) : [])
  if (name.startsWith("query_compiler_") && !usedCompiler.test(name)) rmSync(runtime + name);

// 15 MB of maps to sources of the largest packages, which are not there.
for (const name of ["@prisma/client", "@opentelemetry", "fontkit", "pdfkit"]) {
  const folder = `${packages}${name}/`;
  for (const entry of existsSync(folder) ? readdirSync(folder, { recursive: true }) : [])
    if (entry.endsWith(".map")) rmSync(folder + entry);
}
