import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkReleases } from "./breaking.ts";
import { changelogFile, checkChangelog, findChangedParts, readChangelog } from "./changelog.ts";
import { allDocumentNames, bundleFolder, listVersions, releasesFolder, releasesOf } from "./document.ts";
import { generateContracts } from "./generate-contracts.ts";
import { listSums, moveNext, setVersion, whyNotAfter } from "./release-steps.ts";

// Freezes today's contracts under a version: from now on everything in them is promised. Writes the version into the
// contracts, the folder openapi/released/<version> with its checksums, the same in openapi/released/admin for staff,
// the entries of the changelog, and an archive for partners.
const project = join(import.meta.dirname, "../..");
const { values, positionals } = parseArgs({
  options: { date: { type: "string", default: new Date().toISOString().slice(0, 10) } },
  allowPositionals: true,
});
const [version = ""] = positionals;
const refuse = (why: string): never => {
  console.error(`Not released: ${why}`);
  process.exit(1);
};

const why = whyNotAfter(version, listVersions()[0]);
if (why !== null) refuse(why);
if (checkReleases() > 0) refuse("apps written for the released contract would break.");
const changelog = readChangelog();
const faults = checkChangelog(changelog, findChangedParts());
if (faults.length > 0) refuse(`the changelog is not complete.\n${faults.join("\n")}`);
if (changelog.next.length === 0) refuse("nothing has changed: `next` of the changelog is empty.");

for (const name of allDocumentNames(join(project, "openapi"))) {
  const file = join(project, "openapi", `${name}.yaml`);
  writeFileSync(file, setVersion(readFileSync(file, "utf8"), version));
}
await generateContracts(project);

const names = allDocumentNames(bundleFolder);
for (const folder of new Set(names.map((name) => join(releasesOf(name), version)))) {
  mkdirSync(folder);
  for (const name of names.filter((name) => join(releasesOf(name), version) === folder))
    copyFileSync(join(bundleFolder, `${name}.yaml`), join(folder, `${name}.yaml`));
  writeFileSync(join(folder, "SHA256SUMS"), listSums(folder));
}
writeFileSync(changelogFile, moveNext(readFileSync(changelogFile, "utf8"), { version, date: values.date }));

const archive = join(project, ".cache", `schultor-contract-${version}.tar.gz`);
mkdirSync(join(project, ".cache"), { recursive: true });
const files = [...readdirSync(join(releasesFolder, version)).map((file) => join(version, file)), "changelog.yaml"];
// Without times and owners, so that the same release makes the same bytes.
const plain = ["--sort=name", `--mtime=${values.date} 00:00Z`, "--owner=0", "--group=0", "--numeric-owner"];
const bytes = ["--use-compress-program=gzip -n", "--mode=u=rw,go=r", "--create", `--file=${archive}`];
execFileSync("tar", [...plain, ...bytes, `--directory=${releasesFolder}`, ...files.sort()]);
console.log(`Released ${version}: openapi/released/${version} and ${archive.slice(project.length + 1)}`);
