/** npm run sbom    writes deploy/sbom.cdx.json: what production installs, as `npm sbom` lists it, without its time. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Sbom = {
  serialNumber?: string;
  metadata: { timestamp?: string; tools?: unknown; component: { name: string } };
  components: { name: string; version: string; "bom-ref": string }[];
  dependencies: { ref: string; dependsOn?: string[] }[];
};
type Locked = { name?: string; version?: string; dev?: boolean; link?: boolean };

const root = join(import.meta.dirname, "..");
const lock = readFileSync(join(root, "package-lock.json"), "utf8");
const { packages } = JSON.parse(lock) as { packages: Record<string, Locked> };
const ofProduction = new Set(
  Object.entries(packages)
    .filter(([path, { dev, link }]) => path.startsWith("node_modules/") && dev !== true && link !== true)
    .map(([path, { name, version }]) => `${name ?? path.split("node_modules/").at(-1)!}@${version!}`),
);

// With `--omit dev`, npm also leaves out packages of production that a development package needs too.
const args = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
const options = { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const;
const sbom = JSON.parse(execFileSync("npm", args, options)) as Sbom;
delete sbom.serialNumber;
delete sbom.metadata.timestamp;
delete sbom.metadata.tools;
sbom.metadata.component.name = "schultor";
sbom.components = sbom.components.filter(({ name, version }) => ofProduction.has(`${name}@${version}`));
const kept = new Set(sbom.components.map((component) => component["bom-ref"]));
sbom.dependencies = sbom.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
writeFileSync(join(root, "deploy/sbom.cdx.json"), `${JSON.stringify(sbom, null, 2)}\n`);
process.stdout.write(`${sbom.components.length} packages in deploy/sbom.cdx.json\n`);
