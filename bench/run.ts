// `npm run bench` measures everything, `npm run bench -- idm sign-on` what is named; `npm run bench -- world` fills a
// database instead, with options of its own.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

const folder = import.meta.dirname;
const parts = new Set(["harness.ts", "database.ts", "run.ts", "world.ts"]);
const all = readdirSync(folder)
  .filter((file) => file.endsWith(".ts") && !parts.has(file))
  .map((file) => file.slice(0, -3));
const wanted = process.argv.slice(2);
if (wanted[0] === "world") {
  const { status } = spawnSync(process.execPath, [`${folder}/world.ts`, ...wanted.slice(1)], { stdio: "inherit" });
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
