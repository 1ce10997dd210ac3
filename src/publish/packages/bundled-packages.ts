import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, type Files } from "./read-program.ts";

type Manifest = { version: string; dependencies?: Record<string, string> };

const isUsed = (file: string): boolean =>
  /(^|\/)(package\.json|LICEN[CS]E[^/]*)$|\.(m?js|d\.m?ts)$/i.test(file) && !/(^|\/)(src|esm|iife|umd)\//.test(file);

/** The files of installed packages and of what they need, with their versions. */
export function readPackages(names: Iterable<string>): { files: Files; versions: Record<string, string> } {
  const files: Files = new Map();
  const versions: Record<string, string> = {};
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (name in versions) continue;
    const folder = join(root, "node_modules", name);
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
    versions[name] = manifest.version;
    waiting.push(...Object.keys(manifest.dependencies ?? {}));
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
      if (entry.isFile() && isUsed(path)) files.set(`node_modules/${name}/${path}`, readFileSync(join(folder, path)));
    }
  }
  return { files, versions };
}
