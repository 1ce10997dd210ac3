/** Previews a roster in a process of its own, which gives it a limit of memory. */
import { previewImport } from "../../src/imports/index.ts";
import { openDatabase } from "../../src/platform/database/db.ts";
import type { SchoolId } from "../../src/directory/index.ts";

const [path, schoolId] = process.argv.slice(2) as [string, SchoolId];
const db = openDatabase({ url: process.env["DATABASE_URL"]!, poolSize: 2 });
const { state, schools } = await previewImport(db, { path, schoolId, holdShare: 1 }, { at: new Date() });
await db.close();
console.log(JSON.stringify({ state, created: schools[0]?.counts.people.created }));
