// @module-tag slow
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const readJson = (path: string): unknown => JSON.parse(readFileSync(join(root, path), "utf8"));

type Locked = { name?: string; version?: string; dev?: boolean; link?: boolean };
const { packages } = readJson("package-lock.json") as { packages: Record<string, Locked> };
const ofProduction = Object.entries(packages)
  .filter(([path, { dev, link }]) => path.startsWith("node_modules/") && dev !== true && link !== true)
  .map(([path, { name, version }]) => ({ path, id: `${name ?? path.split("node_modules/").at(-1)!}@${version!}` }));

test("deploy/sbom.cdx.json lists what the lock file installs in production; `npm run sbom` writes it", () => {
  const { components } = readJson("deploy/sbom.cdx.json") as { components: { name: string; version: string }[] };
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
  expect(listed.size).toBeGreaterThan(200);
  expect([...listed].toSorted()).toEqual([...new Set(ofProduction.map(({ id }) => id))].toSorted());
});

/** Licences that ask for no more than that their text is passed on. */
const allowed = new Set([
  ...["MIT", "MIT-0", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "BlueOak-1.0.0", "Unlicense"],
  ...["CC0-1.0", "Python-2.0", "PostgreSQL"],
]);

/** Packages whose manifest does not name their licence as SPDX does, each with what their text says. */
const read: Readonly<Record<string, string>> = {
  "dejavu-fonts-ttf": "Bitstream Vera Fonts Copyright and Arev Fonts Copyright: free use, also in documents",
  "htmx.org": "Zero-Clause BSD",
  "png-js": "MIT",
};

type Manifest = { license?: string | { type?: string }; licenses?: { type?: string }[] };

function licenceOf(path: string): string {
  const { license, licenses } = readJson(`${path}/package.json`) as Manifest;
  const said = typeof license === "object" ? license.type : license;
  return said ?? licenses?.map(({ type }) => type).join(" AND ") ?? "none";
}

/** Of a choice one is enough; of several that hold together each. */
const isAllowed = (licence: string): boolean =>
  licence
    .replaceAll(/[()]/g, "")
    .split(" AND ")
    .every((part) => part.split(" OR ").some((one) => allowed.has(one.trim())));

test("every package of production has a licence that was agreed to", () => {
  const installed = ofProduction.filter(({ path }) => existsSync(join(root, path)));
  expect(installed.length).toBeGreaterThan(200);
  const strange = installed
    .map(({ path, id }) => ({ id, licence: licenceOf(path) }))
    .filter(({ id, licence }) => !isAllowed(licence) && !(id.slice(0, id.lastIndexOf("@")) in read));
  expect(strange).toEqual([]);
});
