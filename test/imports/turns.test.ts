import { expect, test } from "vitest";
import { joinQueue, makeTurns } from "../../src/imports/queue.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { makeImporter } from "./rosters.ts";

test("of several turns of one import in a process one runs, and the others end at once", async () => {
  const db = await testDatabase();
  const turns = makeTurns({ db, atOnce: 1, connections: 4 });
  const school = await makeMakers(db).school();
  const { id } = await makeImporter(db).preview("id;role;first_name;last_name\n1;student;Ada;Muster\n", { school });
  await joinQueue(db.pool, { importId: id, actorId: "test", schoolId: null, isReading: false, isSmall: true });
  const [earlier, later] = [turns.keep(id), turns.keep(id)];
  await expect(earlier.started).rejects.toMatchObject({ code: "import_running" });
  await earlier.end();
  await later.started;
  const last = turns.keep(id);
  await expect(last.started).rejects.toMatchObject({ code: "import_running" });
  await last.end();
  expect([turns.count(), await db.prisma.importTurn.count()]).toEqual([{ running: 1, waiting: 0 }, 1]);
  await later.end();
  expect([turns.count(), await db.prisma.importTurn.count()]).toEqual([{ running: 0, waiting: 0 }, 0]);
});
