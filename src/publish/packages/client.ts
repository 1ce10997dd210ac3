import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readPackages } from "./bundled-packages.ts";
import { makeManifest, pack, type Origin } from "./pack.ts";
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
  for (const name of ["idm", "schulconnex", "schulconnex-1.7", "webhooks"])
    files.set(`dist/openapi/${name}.d.ts`, readFileSync(join(root, `generated/openapi/${name}.ts`)));
  return files;
}

type Manifest = { scripts: object; dependencies: Record<string, string> };

/** Packs the client with what it needs, so that it installs without a registry. */
export async function packClient(origin: Origin): Promise<Buffer> {
  const files = readClient();
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  const { scripts: _built, ...own } = JSON.parse(read("clients/typescript/package.json")) as Manifest;
  const bundled = readPackages(Object.keys(own.dependencies));
  for (const [path, content] of bundled.files) files.set(path, content);
  const bundleDependencies = Object.keys(bundled.versions);
  files.set("package.json", makeManifest(origin, { ...own, dependencies: bundled.versions, bundleDependencies }));
  files.set("README.md", read("clients/typescript/README.md").replaceAll("http://localhost:3000", origin.issuerUrl));
  files.set("LICENSE", read("LICENSE"));
  return pack(files);
}
