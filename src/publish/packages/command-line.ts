import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readPackages } from "./bundled-packages.ts";
import { makeManifest, pack, type Origin } from "./pack.ts";
import { readProgram, root, type Files } from "./read-program.ts";

const entry = "src/schultor-partner.ts";
const program = "bin/schultor.js";

/** What the commands for partners may import; the rest of the service stays out. */
const included =
  /^package\.json$|^src\/(cli\/(?!local\/)|platform\/(advice|text)\/|platform\/(errors|clock|contract-types|crypto\/public-key)\.|(access\/(client-authentication|token)|config\/remote|webhooks\/signature|schultor-partner)\.)/;

/** Packs the command line for partners with what it needs: it runs on Node 20 without an installation. */
export async function packCommandLine(origin: Origin): Promise<Buffer> {
  const { files: sources, packages } = readProgram({ entries: [entry], isIncluded: (path) => included.test(path) });
  const bundled = readPackages(packages);
  const manifest = {
    name: "@schultor/cli",
    description: "The command line for partners of Schultor: checks an app, forwards its webhooks, plays its sandbox.",
    engines: { node: ">=20" },
    bin: { schultor: program },
    dependencies: bundled.versions,
    bundleDependencies: Object.keys(bundled.versions),
  };
  const files: Files = new Map([...sources, ...bundled.files]);
  files.set("package.json", makeManifest(origin, manifest));
  files.set(program, `#!/usr/bin/env node\nimport "../${entry.replace(/\.ts$/, ".js")}";\n`);
  files.set("LICENSE", readFileSync(join(root, "LICENSE")));
  return pack(files, { executables: [program] });
}
