import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { checkReleases } from "./breaking.ts";
import { bundleFolder, documentNames, releasedFolder } from "./document.ts";

// Freezes today's bundles: from now on everything in them is promised. Refused when they break what was promised
// before.
mkdirSync(releasedFolder, { recursive: true });
const first = documentNames(releasedFolder).length === 0;
if (!existsSync(bundleFolder) || documentNames(bundleFolder).length === 0)
  throw new Error("There are no bundles: npm run generate");
if (!first && checkReleases() > 0) {
  console.error("Not released: apps written for the released contract would break.");
  process.exit(1);
}
for (const name of documentNames(bundleFolder)) {
  copyFileSync(join(bundleFolder, `${name}.yaml`), join(releasedFolder, `${name}.yaml`));
  console.log(`released ${name}`);
}
