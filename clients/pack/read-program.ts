import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join, posix } from "node:path";

export const root = join(import.meta.dirname, "../..");

export type Files = Map<string, string | Buffer>;

type Source = { entries: readonly string[]; isIncluded(path: string): boolean };

const imports = /(^import |^[^"\n]* from |\bimport\()"([^"\n]+)"( with \{ type: "json" \})?/gm;
const jsPath = (path: string): string => (path.endsWith(".ts") ? path.replace(/\.ts$/, ".js") : `${path}.js`);

/**
 * Reads a program and what it imports as JavaScript that Node 20 runs, with paths from the project's folder.
 *
 * Shape:  `packages` are the npm packages that it imports. A module that is not included may only be imported by
 *         `import()`, and is left out.
 * Errors: throws for another import of a module that is not included.
 */
export function readProgram({ entries, isIncluded }: Source): { files: Files; packages: Set<string> } {
  const files: Files = new Map();
  const packages = new Set<string>();
  const waiting = [...entries];
  const seen = new Set(waiting);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    files.set(jsPath(path), path.endsWith(".ts") ? readModule(path) : readJson(path));
  }
  return { files, packages };

  function readModule(path: string): string {
    const code = stripTypeScriptTypes(readFileSync(join(root, path), "utf8"));
    return code.replaceAll(imports, (whole, before: string, name: string) => {
      if (name.startsWith("node:")) return whole;
      if (!name.startsWith(".")) {
        packages.add(/^(@[^/]+\/)?[^/]+/.exec(name)![0]);
        return whole;
      }
      const target = posix.join(posix.dirname(path), name);
      if (!isIncluded(target)) {
        if (before.endsWith("(")) return whole;
        throw new Error(`${path} imports ${target}, which is not part of the package.`);
      }
      if (!seen.has(target)) waiting.push(target);
      seen.add(target);
      return `${before}"${jsPath(name)}"`;
    });
  }
}

/** A JSON file as a module, for which Node 20 prints a warning. Of package.json there is only what a program prints. */
function readJson(path: string): string {
  const content = JSON.parse(readFileSync(join(root, path), "utf8")) as { version?: string };
  return `export default ${JSON.stringify(path === "package.json" ? { version: content.version } : content)};\n`;
}
