// @module-tag model
import fc from "fast-check";
import { expect, test } from "vitest";
import type { SchoolId } from "../../src/directory/index.ts";
import { cancelImport } from "../../src/imports/state/end.ts";
import {
  applyImport,
  confirmUndo,
  getImport,
  makeImportSweep,
  previewImport,
  undoImport,
  type ImportId,
} from "../../src/imports/index.ts";
import { removeStaged } from "../../src/imports/formats/staging.ts";
import { addDays } from "../../src/platform/clock.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { followEvents } from "../access/events-receiver.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { makeCommands } from "../support/model-commands.ts";
import { anyFault, makeFaults, type Fault } from "../support/nth-fault.ts";
import { makeTestClock, type TestClock } from "../support/service.ts";
import { walkTimeoutMs, walks } from "../support/walks.ts";
import { readDirectory, rules, writeRoster } from "./rosters.ts";

// Rosters of two schools are previewed, applied, cancelled, undone and swept, and the connection is lost at any of the
// statements. A school is then as the model says or as it was before; the same step succeeds when it is repeated; and
// apps are told of exactly what has changed.

const db = await testDatabase();
const make = makeMakers(db);
const faults = makeFaults(db.pool);
const { signal } = new AbortController();

type Row = { id: string; role: "student" | "teacher"; name: string; classes: string[]; isDeleted: boolean };
type Roster = { mode: "BULK" | "DELTA"; rows: Row[]; isFaulty: boolean };
type Person = Pick<Row, "role" | "name"> & { isActive: boolean; classes: Record<string, Row["role"]> };
type School = { people: Record<string, Person>; groups: string[] };

/**
 * The school after a roster: whom and what a whole one does not name is deleted, and keeps its memberships until a
 * roster brings the group back.
 */
function takeRoster(school: School, { mode, rows }: Roster): School {
  const isWhole = mode === "BULK";
  const people = structuredClone(school.people);
  const named = new Set(rows.flatMap((row) => (row.isDeleted ? [] : row.classes)));
  const groups = isWhole ? named : new Set([...school.groups, ...named]);
  const back = [...named].filter((group) => !school.groups.includes(group));
  for (const person of Object.values(people))
    person.classes = Object.fromEntries(Object.entries(person.classes).filter(([group]) => !back.includes(group)));
  if (isWhole) for (const person of Object.values(people)) person.isActive = false;
  for (const { id, role, name, classes, isDeleted } of rows) {
    const known = people[id];
    if (isDeleted) {
      if (known) known.isActive = false;
      continue;
    }
    const ended = Object.entries(known?.classes ?? {}).filter(([group]) => !groups.has(group));
    const own = classes.map((group) => [group, role] as const);
    people[id] = { role, name, isActive: true, classes: Object.fromEntries([...ended, ...own]) };
  }
  return { people, groups: [...groups] };
}

function linesOf(officialId: string, { people, groups }: School): string[] {
  const there = Object.entries(people).filter(([, { isActive }]) => isActive);
  const members = (group: string) =>
    there.flatMap(([id, { classes }]) => (classes[group] ? [`${id}=${classes[group].toUpperCase()}`] : [])).toSorted();
  return [
    ...there.map(
      ([id, { role, name }]) => `${officialId} ${id} ${role.toUpperCase()} ${name} ${name} Test ${officialId}`,
    ),
    ...groups.map((group) => [officialId, `class:${group} KLASSE ${group}`, members(group).join()].join(" ").trim()),
  ].toSorted();
}

type Known = {
  id: ImportId;
  school: number;
  roster: Roster | null;
  state: string;
  at: Date;
  seen: School;
  counts: object | null | undefined;
};
type Applied = { id: ImportId; before: School; until: Date };
type Model = { schools: School[]; imports: Known[]; applied: Applied[][]; lines: Record<string, number> };
type World = { schools: SchoolId[]; officialIds: string[]; checkTold: () => Promise<void>; clock: TestClock };

let worlds = 0;
async function makeWorld(): Promise<World> {
  const officialIds = ["A", "B"].map((name) => `DE-M-${worlds}-${name}`);
  worlds += 1;
  const schools = [
    await make.school({ officialId: officialIds[0]! }),
    await make.school({ officialId: officialIds[1]! }),
  ];
  const { clientId: client } = await make.app();
  for (const school of schools) await make.grant({ app: client, school });
  return { schools, officialIds, checkTold: await followEvents(db.pool, [client]), clock: makeTestClock() };
}

/** A moment after everything before, because imports are undone in the order in which they were applied. */
function originOf({ clock }: World) {
  clock.forwardSeconds(1);
  return { at: clock(), actorId: "test" };
}

async function schoolLines({ officialIds }: World, school: number): Promise<string[]> {
  const { people, groups } = await readDirectory(db);
  return [...people, ...groups].filter((line) => line.startsWith(`${officialIds[school]!} `)).toSorted();
}

/** The lease of a process that died is over after a minute. */
const endLeases = () => db.prisma.import.updateMany({ data: { leaseHolder: null, leaseUntil: null } });

/** Does the work with the fault; returns whether it has to be done again. */
async function isLost(fault: Fault | null, work: () => Promise<unknown>): Promise<boolean> {
  const { isHit, error } = await faults.during(fault, work);
  if (isHit) await endLeases();
  return error !== undefined;
}

const isOfSchools = ({ schools }: World) => ({ namedSchoolIds: { hasSome: schools } });

/** What holds after every command. */
async function check({ schools, imports, lines }: Model, world: World): Promise<void> {
  for (const [n, school] of schools.entries())
    expect(await schoolLines(world, n)).toEqual(linesOf(world.officialIds[n]!, school));
  const found = await db.prisma.import.findMany({ where: isOfSchools(world), select: { id: true, state: true } });
  expect(new Map(found.map(({ id, state }) => [id, state]))).toEqual(
    new Map(imports.map(({ id, state }) => [id, state])),
  );
  const staged = await db.prisma.stagedPerson.groupBy({ by: ["importId"], where: { schoolId: { in: world.schools } } });
  const mayWait = imports.filter(({ state }) => /READING|READY|BROKEN/.test(state)).map(({ id }) => id as string);
  expect(staged.map(({ importId }) => importId).filter((id) => !mayWait.includes(id))).toEqual([]);
  await world.checkTold();
  for (const [action, count] of Object.entries(lines))
    expect([action, await db.prisma.audit.count({ where: { action, schoolId: { in: world.schools } } })]).toEqual([
      action,
      count,
    ]);
}

const command = makeCommands(check);

const header = "id;role;first_name;last_name;classes;status";
const handIn = (school: number, roster: Roster, fault: Fault | null) =>
  command("handIn", [school, roster, fault], async ({ schools, imports }, world) => {
    const rows = roster.rows.map(({ id, role, name, classes, isDeleted }) =>
      [id, role, name, "Test", isDeleted ? "" : classes.join("|"), isDeleted ? "deleted" : ""].join(";"),
    );
    const path = await writeRoster(
      [header, ...rows, ...(roster.isFaulty ? ["9;wizard;No;Body;;"] : []), ""].join("\n"),
    );
    const origin = originOf(world);
    const wanted = { path, schoolId: world.schools[school], mode: roster.mode, holdShare: 1 };
    const isFailed = await isLost(fault, () => previewImport(db, wanted, origin));
    const ids = imports.map(({ id }) => id as string);
    const made = await db.prisma.import.findFirst({ where: { ...isOfSchools(world), id: { notIn: ids } } });
    if (made === null) return expect(isFailed).toBe(true);
    const id = made.id as ImportId;
    const known = { id, school, at: origin.at, seen: schools[school]!, counts: null, roster: null, state: made.state };
    // A preview that failed leaves nothing; one that was killed leaves its rows to the sweep.
    if (isFailed) {
      if (!fault!.kills) expect(await db.prisma.stagedPerson.count({ where: { importId: id } })).toBe(0);
      return imports.push(known);
    }
    const [part] = (await getImport(db, id)).schools;
    return imports.push({ ...known, roster, state: roster.isFaulty ? "BROKEN" : "READY", counts: part?.counts });
  });

const apply = (which: number, isTwice: boolean, fault: Fault | null) =>
  command("apply", [which, isTwice, fault], async ({ schools, imports, applied, lines }, world) => {
    const chosen = imports[which % imports.length];
    if (chosen === undefined || chosen.roster === null) return;
    const { id, school, roster, state, seen, counts } = chosen;
    const origin = originOf(world);
    const work = () => applyImport(db, id, { ...rules, holdShare: 1 }, origin);
    if (state !== "READY") {
      await expect(work()).rejects.toMatchObject({ code: `import_${state.toLowerCase()}` });
      return;
    }
    const before = schools[school]!;
    const after = takeRoster(before, roster);
    const [linesBefore, linesAfter] = [before, after].map((of) => linesOf(world.officialIds[school]!, of));
    const twice = async () => {
      const ended = await Promise.allSettled([work(), work()]);
      expect(ended.map(({ status }) => status)).toContain("fulfilled");
    };
    if (await isLost(fault, isTwice && fault === null ? twice : work)) {
      expect([linesBefore, linesAfter]).toContainEqual(await schoolLines(world, school));
      if ((await getImport(db, id)).state !== "APPLIED") await work();
    }
    chosen.state = "APPLIED";
    if (seen === before) expect((await getImport(db, id)).schools[0]!.counts).toEqual({ ...counts, lists: undefined });
    if (JSON.stringify(linesBefore) === JSON.stringify(linesAfter)) return;
    lines["import_applied"]! += 1;
    applied[school]!.push({ id, before, until: addDays(origin.at, rules.restoreWindowDays) });
    schools[school] = after;
  });

const undo = (school: number, fault: Fault | null) =>
  command("undo", [school, fault], async ({ schools, imports, applied, lines }, world) => {
    const [latest, earlier] = applied[school]!.toReversed();
    if (latest === undefined) return;
    const origin = originOf(world);
    const undoOne = async (id: ImportId) => {
      const kept = await confirmUndo(db, id, { confirmed: undefined, now: origin.at });
      return undoImport(db, id, { kept, restoreWindowDays: rules.restoreWindowDays }, origin);
    };
    const refused = (id: ImportId, code: string) => expect(undoOne(id)).rejects.toMatchObject({ code });
    if (latest.until <= origin.at) return refused(latest.id, "import_undo_over");
    if (earlier !== undefined && earlier.until > origin.at) await refused(earlier.id, "import_followed");
    const now = schools[school]!;
    const created = Object.entries(now.people).filter(([id]) => !(id in latest.before.people));
    const gone = created.map(([id, person]) => [id, { ...person, isActive: false }] as const);
    const after = { ...latest.before, people: { ...latest.before.people, ...Object.fromEntries(gone) } };
    if (await isLost(fault, () => undoOne(latest.id))) {
      const either = [now, after].map((of) => linesOf(world.officialIds[school]!, of));
      expect(either).toContainEqual(await schoolLines(world, school));
      if ((await getImport(db, latest.id)).state !== "UNDONE") await undoOne(latest.id);
    }
    await refused(latest.id, "import_undone");
    imports.find(({ id }) => id === latest.id)!.state = "UNDONE";
    lines["import_undone"]! += 1;
    applied[school]!.pop();
    schools[school] = after;
  });

const cancel = (which: number, fault: Fault | null) =>
  command("cancel", [which, fault], async ({ imports }, world) => {
    const chosen = imports[which % imports.length];
    if (chosen === undefined) return;
    const { id, state } = chosen;
    const origin = originOf(world);
    const work = async () => {
      await withPrismaTransaction(db, (tx) => cancelImport(tx, id, origin));
      await removeStaged(db, id);
    };
    if (/APPLIED|UNDONE|EXPIRED/.test(state)) {
      await expect(work()).rejects.toMatchObject({ code: `import_${state.toLowerCase()}` });
      return;
    }
    if (await isLost(fault, work)) await work();
    chosen.state = "CANCELLED";
  });

const sweep = (days: number, fault: Fault | null) =>
  command("sweep", [days, fault], async ({ imports }, { clock }) => {
    clock.forwardSeconds(days * 86_400);
    const work = () => makeImportSweep({ db, clock }).run(signal);
    if (await isLost(fault, work)) await work();
    for (const known of imports)
      if (/READY|READING/.test(known.state) && addDays(known.at, 7) < clock()) known.state = "EXPIRED";
  });

const row: fc.Arbitrary<Row> = fc.record({
  id: fc.constantFrom("1", "2", "3", "4"),
  role: fc.constantFrom("student", "teacher"),
  name: fc.constantFrom("Ada", "Bo"),
  classes: fc.subarray(["5a", "5b", "6c"]),
  isDeleted: fc.constant(false),
});
const rowsOf = (one: fc.Arbitrary<Row>) =>
  fc.uniqueArray(one, { selector: ({ id }) => id, minLength: 1, maxLength: 4 });
const isFaulty = fc.integer({ max: 5, min: 0 }).map((n) => n === 5);
const roster: fc.Arbitrary<Roster> = fc.oneof(
  fc.record({ mode: fc.constant("BULK" as const), rows: rowsOf(row), isFaulty }),
  fc.record({
    mode: fc.constant("DELTA" as const),
    rows: rowsOf(fc.tuple(row, fc.boolean()).map(([made, isDeleted]) => ({ ...made, isDeleted }))),
    isFaulty,
  }),
);
const school = fc.nat(1);
const fault = anyFault(60);
const handedIn = fc.tuple(school, roster, fault).map(([...given]) => handIn(...given));
const appliedOne = fc.tuple(fc.nat(), fc.boolean(), fault).map(([...given]) => apply(...given));

test(
  "a school is as its rosters say, wholly and once, whatever connection is lost on the way",
  async () => {
    const commands = fc.commands(
      [
        ...[handedIn, handedIn, appliedOne, appliedOne, appliedOne],
        fc.tuple(school, fault).map(([...given]) => undo(...given)),
        fc.tuple(fc.nat(), fault).map(([...given]) => cancel(...given)),
        fc.tuple(fc.constantFrom(0, 1, 8), fault).map(([...given]) => sweep(...given)),
      ],
      { maxCommands: 16 },
    );
    const empty = (): School => ({ people: {}, groups: [] });
    await fc.assert(
      fc.asyncProperty(commands, async (given) => {
        const real = await makeWorld();
        const lines = { import_applied: 0, import_undone: 0 };
        const model = { schools: [empty(), empty()], imports: [], applied: [[], []], lines };
        await fc.asyncModelRun(() => ({ model, real }), given);
      }),
      walks(4, 1),
    );
  },
  walkTimeoutMs,
);
