/** Previews a roster in a process of its own and says how much memory that took at most. */
import { readFileSync } from "node:fs";
import { previewImport } from "../../src/imports/index.ts";
import { openDatabase } from "../../src/platform/database/db.ts";
import type { SchoolId } from "../../src/directory/index.ts";

const [path, schoolId] = process.argv.slice(2) as [string, SchoolId];
const db = openDatabase({ url: process.env["DATABASE_URL"]!, poolSize: 2 });
const { state, schools } = await previewImport(db, { path, schoolId, holdShare: 1 }, { at: new Date() });
await db.close();
console.log(
  JSON.stringify({
    state,
    created: schools[0]?.counts.people.created,
    memoryMb: Math.round(peakKilobytes() / 1024),
  }),
);

/** The most memory that this program had; `maxRSS` begins with what the process that started it has. */
function peakKilobytes(): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))![1]);
}
