import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readPackages } from "./bundled-packages.ts";
import { makeManifest, pack, type Origin } from "./pack.ts";
import { readProgram, root, type Files } from "./read-program.ts";

const entry = "src/schultor-partner.ts";

/** What the commands for partners may import; the rest of the service stays out. */
const included =
  /^package\.json$|^generated\/openapi\/admin-commands\.json$|^clients\/tools\/|^src\/(cli\/(?!local\/)|platform\/(advice|text)\/|platform\/(errors|clock|contract-types|crypto\/public-key)\.|(access\/(client-authentication|token)|config\/remote|schultor-partner)\.)/;

/** Packs the command line for partners with what it needs: it runs on Node 20 without an installation. */
export async function packCommandLine(origin: Origin): Promise<Buffer> {
  const { files: sources, packages } = readProgram({ entries: [entry], isIncluded: (path) => included.test(path) });
  const bundled = readPackages(packages);
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  const own = JSON.parse(read("clients/tools/package.json")) as { bin: { schultor: string } };
  const program = own.bin.schultor;
  const bundleDependencies = Object.keys(bundled.versions);
  const files: Files = new Map([...sources, ...bundled.files]);
  files.set("package.json", makeManifest(origin, { ...own, dependencies: bundled.versions, bundleDependencies }));
  files.set(program, `#!/usr/bin/env node\nimport "../${entry.replace(/\.ts$/, ".js")}";\n`);
  files.set("README.md", read("clients/tools/README.md").replaceAll("http://localhost:3000", origin.issuerUrl));
  files.set("LICENSE", read("LICENSE"));
  return pack(files, { executables: [program] });
}
