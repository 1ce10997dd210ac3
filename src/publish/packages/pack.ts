import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import type { Place } from "../documents.ts";
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

export type Origin = Place & {
  /** Where the sources are and under which licence, as the operator names them. */
  repository: string | null;
  licence: string;
};

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

export const makeManifest = (origin: Origin, own: object): string =>
  `${JSON.stringify(
    {
      version,
      ...own,
      type: "module",
      homepage: `${origin.issuerUrl}/docs`,
      license: origin.licence,
      ...(origin.repository !== null && { repository: { type: "git", url: origin.repository } }),
    },
    null,
    2,
  )}\n`;
