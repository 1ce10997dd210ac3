/** Previews and applies one roster in a process of its own, so that its memory is its own; answers what it took. */
import { applyImport, previewImport } from "../../src/imports/index.ts";
import { openDatabase } from "../../src/platform/database/db.ts";
import { giveUserNamesAtSchool as giveUserNames } from "../../src/accounts/index.ts";

const origin = { at: new Date(), actorId: "bench" };
const db = openDatabase({ url: process.env["DATABASE_URL"]!, poolSize: 2 });
const start = performance.now();
const { id, state } = await previewImport(db, { path: process.env["BENCH_ROSTER"]!, holdShare: 1 }, origin);
const previewed = performance.now();
if (state !== "READY") throw new Error(`the import is ${state}`);
const { schools } = await applyImport(db, id, { holdShare: 1, restoreWindowDays: 30, giveUserNames }, origin);
const applied = performance.now();
await db.close();
const memoryMb = process.resourceUsage().maxRSS / 1024;
const people = schools.reduce((sum, { counts }) => sum + counts.people.created, 0);
process.send!({ previewMs: previewed - start, applyMs: applied - previewed, memoryMb, people });
