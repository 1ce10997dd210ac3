// `npm run bench` measures everything but sizes, `npm run bench -- idm sign-on` what is named; `npm run bench -- size`
// compares sizes, `day` runs days in fast motion, `removal` deletes and drops, `monday` sends more sign-ons
// than the service can take, `scale` prints the table of docs/scale.md, and `world` fills a database, with options of
// their own.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

const folder = import.meta.dirname;
const withOptions = ["day", "monday", "removal", "scale", "size", "world"];
const parts = new Set([
  "harness.ts",
  "database.ts",
  "statistics.ts",
  "run.ts",
  ...withOptions.map((name) => `${name}.ts`),
]);
const all = readdirSync(folder)
  .filter((file) => file.endsWith(".ts") && !parts.has(file))
  .map((file) => file.slice(0, -3));
const wanted = process.argv.slice(2);
const [first, ...options] = wanted;
if (first !== undefined && withOptions.includes(first)) {
  const { status } = spawnSync(process.execPath, [`${folder}/${first}.ts`, ...options], { stdio: "inherit" });
  process.exit(status ?? 1);
}
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`There is no measurement '${unknown.join("', '")}'. There are: ${all.join(", ")}`);
  process.exit(2);
}
for (const name of wanted.length > 0 ? wanted : all) {
  console.log(`\n${name}`);
  const { status } = spawnSync(process.execPath, [`${folder}/${name}.ts`], { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
