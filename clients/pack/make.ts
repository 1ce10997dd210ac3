import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { packClient } from "./client.ts";
import type { PackageName } from "./names.ts";
import { type Origin, pack, packForNpm } from "./pack.ts";
import { makeRulesPacker } from "./spectral-rules.ts";
import { type Files, readProgram, root } from "./read-program.ts";

const block = /^```\w+ file=(\S+)\n([^]*?)^```$/gm;

/** The files that the blocks of a page make, joined in their order. An indented block continues the one before. */
function readFilesOfPage(page: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const [, name, code] of page.matchAll(block)) {
    const before = files.get(name!);
    const isContinued = code!.startsWith(" ") || !name!.endsWith(".py");
    files.set(name!, before === undefined ? code! : `${before}\n${isContinued ? "" : "\n"}${code!}`);
  }
  return files;
}

/** Puts the names and addresses of the service into a text. */
type Fill = (text: string) => string;

/** Packs the finished folder of a tutorial. `manifest` is that of an example. */
const makeTutorialPacker =
  (name: string, manifest?: string) =>
  async ({ issuerUrl }: Origin, fill: Fill): Promise<Buffer> => {
    const read = (path: string) => readFileSync(join(root, path), "utf8");
    const client = `${issuerUrl}/downloads/schultor-client.tgz`;
    const files: Files = new Map();
    for (const [path, code] of readFilesOfPage(read(`docs/${name}.md`))) files.set(path, fill(code));
    if (manifest !== undefined)
      files.set(basename(manifest), read(`examples/${manifest}`).replace("file:../../clients/typescript", client));
    return pack(files, { folder: "my-app" });
  };

const entry = "src/schultor-partner.ts";

/** What the commands for partners may import; the rest of the service stays out. */
const included =
  /^package\.json$|^generated\/openapi\/admin-commands\.json$|^clients\/tools\/|^src\/(cli\/(?!local\/)|platform\/(advice|text)\/|platform\/(errors|clock|contract-types|crypto\/public-key)\.|(access\/(client-authentication|token)|config\/remote|schultor-partner)\.)/;

/** Packs the command line for partners with what it needs: it runs on Node 20 without an installation. */
async function packCommandLine(origin: Origin): Promise<Buffer> {
  const { files, packages } = readProgram({ entries: [entry], isIncluded: (path) => included.test(path) });
  files.set("bin/schultor.js", `#!/usr/bin/env node\nimport "../${entry.replace(/\.ts$/, ".js")}";\n`);
  return packForNpm(origin, { folder: "clients/tools", files, packages });
}

// The function that removes types is experimental, and Node says so at its first call.
process.removeAllListeners("warning");

const makers: Record<PackageName, (origin: Origin, fill: Fill) => Promise<Buffer>> = {
  "schultor-client.tgz": packClient,
  "schultor-cli.tgz": packCommandLine,
  "spectral-rules.js": makeRulesPacker("general"),
  "spectral-rules-schultor.js": makeRulesPacker("schultor"),
  "tutorial-typescript.tgz": makeTutorialPacker("tutorial-typescript", "express/package.json"),
  "tutorial-python.tgz": makeTutorialPacker("tutorial-python", "python/requirements.txt"),
  "tutorial-php.tgz": makeTutorialPacker("tutorial-php"),
};

export const makePackage = (name: PackageName, origin: Origin, fill: Fill): Promise<Buffer> =>
  makers[name](origin, fill);
