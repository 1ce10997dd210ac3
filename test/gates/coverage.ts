// Runs the fast tests and prints how many lines of each module they run; fails below the threshold of vitest.config.ts.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "./results.ts";

const vitest = join(root, "node_modules/vitest/vitest.mjs");
const args = [vitest, "run", "--project", "fast", "--coverage", ...process.argv.slice(2)];
process.exitCode = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status ?? 1;

type Lines = { total: number; covered: number };

const summary = JSON.parse(readFileSync(join(root, ".cache/coverage/coverage-summary.json"), "utf8")) as Record<
  string,
  { lines: Lines }
>;
const modules = new Map<string, Lines>();
for (const [file, { lines }] of Object.entries(summary)) {
  const [, module, inside] = relative(root, file).split("/");
  const name = file === "total" ? "all of src" : inside === undefined ? "src itself" : module!;
  const sum = modules.get(name) ?? { total: 0, covered: 0 };
  modules.set(name, { total: sum.total + lines.total, covered: sum.covered + lines.covered });
}
const rows = [...modules].map(([name, { total, covered }]) => ({ name, total, percent: (100 * covered) / total }));
console.log("| module | lines | covered |\n|---|---|---|");
for (const { name, total, percent } of rows.toSorted((a, b) => a.percent - b.percent))
  console.log(`| ${name} | ${total} | ${percent.toFixed(1)} % |`);
