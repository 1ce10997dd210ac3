/**
 * npm run drill               names the drills
 * npm run drill -- <name> …   runs test/drills/<name>.ts with the arguments behind it
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";

const drills = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(".ts") && name !== "run.ts")
  .map((name) => name.slice(0, -".ts".length));
const [name] = process.argv.splice(2, 1);
if (name !== undefined && drills.includes(name)) await import(join(import.meta.dirname, `${name}.ts`));
else {
  console.error(`npm run drill -- <name>, one of: ${drills.join(", ")}`);
  process.exitCode = 2;
}
