import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadDocuments } from "./check.ts";
import { findUntouched } from "./untouched.ts";

// Says which operations of the contract no test touched; `npm run check` runs it after the tests. With --list, names
// every documented answer that was in no test.
const isList = process.argv.includes("--list");
const folder = join(import.meta.dirname, "../../.cache/check/exchanges");
const touched = new Set(
  readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), "utf8").trimEnd().split("\n")),
);
const { missing, untouched } = findUntouched(await loadDocuments(), touched);
for (const line of missing) console.error(`no test had this answer or used this parameter: ${line}`);
console.log(`${untouched.length} documented answers were in no test${isList ? `: ${untouched.join(", ")}` : ""}`);
console.log(`${touched.size} pairs of operation and status were seen`);
process.exitCode = missing.length === 0 ? 0 : 1;
