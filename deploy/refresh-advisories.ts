/**
 * npm run advisories    asks the registry what is known against what is installed, for deploy/advisories.json
 *
 * What is in the list stays there: it keeps an older version from coming back.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findHits, type Advisory, type AdvisoryList, type LockFile } from "./advisories.ts";
import { readAudit } from "./read-audit.ts";

const root = join(import.meta.dirname, "..");
const path = join(root, "deploy/advisories.json");
const readJson = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));

const { stdout } = spawnSync("npm", ["audit", "--json", "--package-lock-only"], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 64 * 1024 * 1024,
});
const found = readAudit(stdout);
if ("failure" in found) {
  process.stderr.write(`The registry does not answer an audit, and the list stays as it is: ${found.failure}\n`);
  process.exitCode = 1;
} else {
  const list = readJson(path) as AdvisoryList;
  const keyOf = ({ id, package: name }: Advisory) => `${name} ${id}`;
  const all = new Map([...list.advisories, ...found.advisories].map((advisory) => [keyOf(advisory), advisory]));
  const advisories = [...all.entries()].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);
  const fresh = { ...list, checkedOn: new Date().toISOString().slice(0, 10), advisories };
  writeFileSync(path, `${JSON.stringify(fresh, null, 2)}\n`);
  const hits = findHits(readJson(join(root, "package-lock.json")) as LockFile, fresh);
  process.stdout.write(`${advisories.length} advisories in deploy/advisories.json\n${hits.join("\n")}\n`);
  process.exitCode = hits.length === 0 ? 0 : 1;
}
