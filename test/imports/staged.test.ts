import { afterEach, expect, test } from "vitest";
import { changeDirectory, makePurgeJob } from "../../src/access/index.ts";
import { softDeletePerson, type PersonId } from "../../src/directory/index.ts";
import {
  applyImport,
  findImport,
  getImport,
  makeImportSweep,
  previewImport,
  type ImportId,
} from "../../src/imports/index.ts";
import { storeOf } from "../../src/platform/database/db.ts";
import { joinQueue, makeTurns } from "../../src/imports/state/queue.ts";
import { forgetPerson } from "../../src/accounts/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { findTraces } from "../support/traces.ts";
import { makeImporter, now, origin, rules, writeRoster } from "./rosters.ts";
import { untilImportWaits, waitWithoutEnd } from "../support/waiting.ts";

const db = await testDatabase();
waitWithoutEnd(db.pool);
const make = makeMakers(db);
const { run, preview } = makeImporter(db);
const header = "id;role;first_name;last_name;classes\n";
const { signal } = new AbortController();
const hour = 1 / 24;
const later = (days: number): Date => new Date(now.getTime() + days * 86_400_000);
const sweepAt = (days: number) => makeImportSweep({ db, clock: () => later(days) }).run(signal);
const stateOf = async (id: ImportId) => (await getImport(db, id)).state;
const ada = (n: number, last = "Muster") => `${n};student;Ada;${last};5a\n`;

// Each test leaves rosters that wait; the next one has its own.
afterEach(() => sweepAt(400));

test("a pupil who is purged lives on in the rosters that name them for a week from their preview, and in nothing else", async () => {
  const school = await make.school();
  const pupil = `pupil-unmistakable;student;Quirin;Unverwechselbar;5a\n`;
  const whole = header + pupil + ada(2) + ada(3);
  await run(whole, { school });
  const { id } = await db.prisma.person.findFirstOrThrow({ where: { sourceSystemIdentifier: "pupil-unmistakable" } });
  await changeDirectory(db, { at: now }, (change) =>
    softDeletePerson(change, { personId: id as PersonId, restoreWindowDays: 30 }),
  );

  // All on the day before the purge: one that waits, one that is held, one whose reading broke off.
  const previewThen = async (roster: string) => {
    const wanted = { path: await writeRoster(roster), schoolId: school, holdShare: rules.holdShare };
    return (await previewImport(db, wanted, { ...origin, at: later(29) })).id;
  };
  const [waiting, held, brokenOff] = [
    await previewThen(whole),
    await previewThen(header + pupil),
    await previewThen(whole),
  ];
  await db.prisma.import.update({ where: { id: brokenOff }, data: { state: "READING" } });
  expect([await stateOf(waiting), await stateOf(held), await stateOf(brokenOff)]).toEqual(["READY", "HELD", "READING"]);
  await makePurgeJob({ db, clock: () => later(30), forget: forgetPerson }).run(signal);

  const words = ["Unverwechselbar", "pupil-unmistakable"];
  const staged = ["staged_membership", "staged_person"];
  expect(Object.keys(await findTraces(db, words))).toEqual(staged);
  await sweepAt(29 + 7 - hour);
  expect(Object.keys(await findTraces(db, words))).toEqual(staged);
  await sweepAt(29 + 7 + hour);
  expect(await findTraces(db, words)).toEqual({});
  expect([await stateOf(waiting), await stateOf(held), await stateOf(brokenOff)]).toEqual([
    "EXPIRED",
    "EXPIRED",
    "EXPIRED",
  ]);
});

test("a roster with faults beside those of single rows, and one that was applied, keep no name for any time", async () => {
  const school = await make.school();
  const broken = await preview(`${header}1;student;Quirin;Eigenartig;5a\n2;pupil;"Quirin;Eigenartig;5a\n`, {
    school,
  });
  expect(broken.state).toBe("BROKEN");
  expect(await findTraces(db, ["Eigenartig"])).toEqual({});
  await run(header + ada(1, "Eigenartig"), { school });
  // The directory and the user name: the affiliation has the sort key of the person, the change is kept to be undone.
  const kept = ["affiliation", "credential", "import_change", "person"];
  expect(Object.keys(await findTraces(db, ["Eigenartig"]))).toEqual(kept);
});

test("a roster that is being applied when its week is over ends as if it were not, and nobody leaves for it", async () => {
  const officialIds = ["DE-STAGED-1", "DE-STAGED-2"];
  const schools = [
    await make.school({ officialId: officialIds[0]! }),
    await make.school({ officialId: officialIds[1]! }),
  ].toSorted();
  const roster = JSON.stringify(
    officialIds.map((kennung, n) => ({
      pid: `p${n}`,
      personenkontexte: [{ organisation: { kennung }, rolle: "LERN", gruppen: [] }],
    })),
  );
  await run(roster);
  const { id } = await preview(roster);
  const blocker = await db.pool.connect();
  await blocker.query("BEGIN");
  await blocker.query("SELECT FROM import_school WHERE import_id = $1 AND school_id = $2 FOR UPDATE", [id, schools[0]]);
  const applying = applyImport(db, id, { ...rules, holdShare: 1 }, origin);
  await untilImportWaits(db);
  await sweepAt(8);
  await blocker.query("ROLLBACK");
  blocker.release();
  expect(await applying).toMatchObject({
    state: "APPLIED",
    schools: [{ counts: { people: { removed: 0 } } }, { counts: { people: { removed: 0 } } }],
  });
  expect(await db.prisma.person.count({ where: { homeSchoolId: { in: schools }, status: "ACTIVE" } })).toBe(2);
  expect(await db.prisma.stagedPerson.count({ where: { importId: id } })).toBe(0);
});

test("a roster that cannot be thrown away keeps no other from it, and is tried again", async () => {
  const school = await make.school();
  const stuck = await preview(header + ada(1), { school });
  const other = await preview(header + ada(2), { school });
  await db.pool.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'stuck'; END $$;
    CREATE TRIGGER refuse BEFORE DELETE ON staged_person FOR EACH ROW WHEN (OLD.import_id = '${stuck.id}') EXECUTE FUNCTION refuse()`);
  await expect(sweepAt(8)).rejects.toThrow("the rows of 1 imports could not be removed");
  expect([await stateOf(stuck.id), await stateOf(other.id)]).toEqual(["EXPIRED", "EXPIRED"]);
  const countRows = (importId: ImportId) => db.prisma.stagedPerson.count({ where: { importId } });
  expect([await countRows(stuck.id), await countRows(other.id)]).toEqual([1, 0]);
  await db.pool.query("DROP TRIGGER refuse ON staged_person");
  await sweepAt(8);
  expect(await countRows(stuck.id)).toBe(0);
});

test("of several turns of one import in a process one runs, and the others end at once", async () => {
  const turns = makeTurns({ db, atOnce: 1, connections: 4 });
  const school = await make.school();
  const { id } = await preview(header + ada(1), { school });
  await joinQueue(db.pool, { importId: id, actorId: "test", schoolId: null, isReading: false, isSmall: true });
  const [earlier, later] = [turns.keep(id), turns.keep(id)];
  await expect(earlier.started).rejects.toMatchObject({ code: "import_running" });
  await earlier.end();
  await later.started;
  // From here on, before the first statement of the application.
  const { progress } = await findImport(storeOf(db), id, undefined);
  expect(progress).toEqual({ phase: "APPLYING", percent: 0, place: null });
  const last = turns.keep(id);
  await expect(last.started).rejects.toMatchObject({ code: "import_running" });
  await last.end();
  expect([turns.count(), await db.prisma.importTurn.count()]).toEqual([{ running: 1, waiting: 0 }, 1]);
  await later.end();
  expect([turns.count(), await db.prisma.importTurn.count()]).toEqual([{ running: 0, waiting: 0 }, 0]);
});
