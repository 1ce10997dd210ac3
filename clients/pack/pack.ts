import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { root, type Files } from "./read-program.ts";

/** The same for everybody, so that the same sources give the same bytes. */
const mtime = new Date("2000-01-01T00:00:00Z");

/** Packs files into an archive, by default as `npm pack` does; `executables` among them may be run. */
export async function pack(
  files: Files,
  { folder = "package", executables = [] }: { folder?: string; executables?: readonly string[] } = {},
): Promise<Buffer> {
  const entries = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, content]) => {
      const body = Buffer.from(content);
      const mode = executables.includes(path) ? 0o755 : 0o644;
      return { header: { name: `${folder}/${path}`, size: body.length, mode, mtime }, body };
    });
  return gzipSync(await packTar(entries), { level: 9 });
}

/** The service that hands the packages out. */
export type Origin = {
  issuerUrl: string;
  /** Where the sources are and under which licence, as the operator names them. */
  repository: string | null;
  licence: string;
};

const read = (path: string): string => readFileSync(join(root, path), "utf8");

type Manifest = {
  scripts?: object;
  bin?: Record<string, string>;
  dependencies?: Record<string, string>;
};

const { version } = JSON.parse(read("package.json")) as { version: string };

/**
 * Packs a folder of clients/ with compiled files and the packages that they need, so that it installs without a
 * registry.
 */
export async function packForNpm(
  { issuerUrl, repository, licence }: Origin,
  { folder, files, packages }: { folder: string; files: Files; packages?: Iterable<string> },
): Promise<Buffer> {
  const { scripts: _built, ...own } = JSON.parse(read(`${folder}/package.json`)) as Manifest;
  const bundled = readPackages(packages ?? Object.keys(own.dependencies ?? {}));
  const manifest = {
    version,
    ...own,
    dependencies: bundled.versions,
    bundleDependencies: Object.keys(bundled.versions),
    type: "module",
    homepage: `${issuerUrl}/docs`,
    license: licence,
    ...(repository !== null && { repository: { type: "git", url: repository } }),
  };
  const all: Files = new Map([...files, ...bundled.files]);
  all.set("package.json", `${JSON.stringify(manifest, null, 2)}\n`);
  all.set("README.md", read(`${folder}/README.md`).replaceAll("http://localhost:3000", issuerUrl));
  all.set("LICENSE", read("LICENSE"));
  return pack(all, { executables: Object.values(own.bin ?? {}) });
}

const isUsed = (file: string): boolean =>
  /(^|\/)(package\.json|LICEN[CS]E[^/]*)$|\.(m?js|d\.m?ts)$/i.test(file) && !/(^|\/)(src|esm|iife|umd)\//.test(file);

/** The files of installed packages and of what they need, with their versions. */
function readPackages(names: Iterable<string>): { files: Files; versions: Record<string, string> } {
  const files: Files = new Map();
  const versions: Record<string, string> = {};
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (name in versions) continue;
    const folder = join(root, "node_modules", name);
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest & { version: string };
    versions[name] = manifest.version;
    waiting.push(...Object.keys(manifest.dependencies ?? {}));
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
      if (entry.isFile() && isUsed(path)) files.set(`node_modules/${name}/${path}`, readFileSync(join(folder, path)));
    }
  }
  return { files, versions };
}
