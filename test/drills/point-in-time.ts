/**
 * npm run drill -- point-in-time
 *
 * A PostgreSQL with pgBackRest's archive is restored to the moment before everybody was deleted. What was used, ended
 * or sent after that moment must not count again, and the deleted must be there. Needs Debian's pgbackrest and
 * postgresql.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runDrill } from "./shared/ends.ts";
import { isInstalled, startArchivedServer } from "./point-in-time/pgbackrest.ts";
import { playAndRestore } from "./point-in-time/play.ts";

if (!isInstalled) console.log("Skipped: pgBackRest or PostgreSQL is not installed (Debian: pgbackrest, postgresql).");
else
  await runDrill(async (ends) => {
    const folder = mkdtempSync(join(tmpdir(), "schultor-drill-"));
    console.log(`Logs in ${folder}.`);
    let isGood = false;
    ends.add(() => isGood && rmSync(folder, { recursive: true }));
    const server = await ends.keep(startArchivedServer(folder), (started) => started.stop());
    const wrongs = await playAndRestore({ server, folder, ends });
    console.log(
      wrongs.length === 0 ? "\nNothing that was used, ended or sent counts again." : `\nFAILED:\n${wrongs.join("\n")}`,
    );
    isGood = wrongs.length === 0;
    return isGood;
  });
