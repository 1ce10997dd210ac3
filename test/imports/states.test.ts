import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { components } from "../../generated/openapi/admin.ts";
import type { ImportId } from "../../src/imports/index.ts";
import {
  checkEvent,
  importTransitions,
  schoolTransitions,
  sendEvent,
  sendSchoolEvent,
  tryEvent,
  type ImportEvent,
  type ImportState,
  type SchoolEvent,
  type SchoolState,
} from "../../src/imports/state/states.ts";
import type { Same } from "../../src/platform/contract-types.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { now } from "./rosters.ts";

type Schemas = components["schemas"];
export const statesOfTheContract: [
  Same<Schemas["ImportState"], ImportState>,
  Same<Schemas["ImportSchoolState"], SchoolState>,
] = [true, true];

const db = await testDatabase();
const make = makeMakers(db);
const schoolId = await make.school();

type Table = Record<string, { from: readonly string[]; to: string | null }>;

const statesOf = (transitions: Table) => [
  ...new Set(Object.values(transitions).flatMap(({ to }) => (to === null ? [] : [to]))),
];

/** A line for each event, a column for each state; `begin` and `name` make the first state. */
function draw(transitions: Table): string {
  const states = statesOf(transitions);
  const lines = Object.entries(transitions).map(([event, { from, to }]) => [
    event,
    from.length === 0 ? to! : "",
    ...states.map((state) => (from.includes(state) ? (to ?? state) : "-")),
  ]);
  const rows = [["", "none", ...states], ...lines];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, n) => cell.padEnd(widths[n]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

test("an import has these states, and these events move it", () => {
  expect(draw(importTransitions)).toMatchInlineSnapshot(`
    "                 none     READING    UNMAPPED   BROKEN     READY      HELD       APPLIED  UNDONE  CANCELLED  EXPIRED
    begin            READING  -          -          -          -          -          -        -       -          -
    askForColumns             UNMAPPED   -          -          -          -          -        -       -          -
    mapColumns                -          READING    -          -          -          -        -       -          -
    returnToColumns           UNMAPPED   -          -          -          -          -        -       -          -
    findFaults                BROKEN     -          -          -          -          -        -       -          -
    finishReading             READY      -          -          -          -          -        -       -          -
    fail                      BROKEN     -          -          BROKEN     BROKEN     -        -       -          -
    leaveOutRows              -          -          READY      -          -          -        -       -          -
    compare                   -          -          -          READY      HELD       -        -       -          -
    hold                      -          -          -          HELD       -          -        -       -          -
    release                   -          -          -          -          READY      -        -       -          -
    confirm                   -          -          -          -          READY      -        -       -          -
    apply                     -          -          -          APPLIED    -          -        -       -          -
    undo                      -          -          -          -          -          UNDONE   -       -          -
    cancel                    CANCELLED  CANCELLED  CANCELLED  CANCELLED  CANCELLED  -        -       -          -
    expire                    EXPIRED    EXPIRED    -          EXPIRED    EXPIRED    -        -       -          -"
  `);
});

test("an import has these states at a school, and these events move it there", () => {
  expect(draw(schoolTransitions)).toMatchInlineSnapshot(`
    "         none   READY    HELD     APPLIED  UNDONE
    name     READY  -        -        -        -
    hold            HELD     HELD     -        -
    release         READY    READY    -        -
    confirm         -        READY    -        -
    apply           APPLIED  APPLIED  APPLIED  -
    undo            -        -        UNDONE   -"
  `);
});

/** The columns that a state must have. */
const columnsOf = (state: ImportState) => ({
  errorCount: state === "BROKEN" ? 1 : 0,
  appliedAt: state === "APPLIED" || state === "UNDONE" ? now : null,
  undoneAt: state === "UNDONE" ? now : null,
});

async function makeImport(state: ImportState, schoolState: SchoolState): Promise<ImportId> {
  const id = randomUUID() as ImportId;
  const kind = { format: "PLAIN", mode: "BULK", fileName: "roster.csv", createdAt: now };
  const schools = { create: { schoolId, state: schoolState, counts: {}, appliedAt: columnsOf(schoolState).appliedAt } };
  const rows = { readable: 1, faulty: 1, withoutId: 0 };
  await db.prisma.import.create({ data: { id, state, ...kind, ...columnsOf(state), rows, schools } });
  return id;
}

const states = statesOf(importTransitions) as ImportState[];
const { begin: _, compare: _compare, ...moves } = importTransitions;

test.each(Object.keys(moves) as (keyof typeof moves)[])(
  "%s moves an import from the states that the table has, and is refused in the others",
  async (event) => {
    const { from, to } = importTransitions[event] as { from: readonly string[]; to: ImportState };
    for (const state of states) {
      const id = await makeImport(state, event === "hold" ? "HELD" : "READY");
      const isThere = from.includes(state);
      if (isThere)
        await sendEvent(db, id, event, { ...columnsOf(to), progressAt: event === "mapColumns" ? now : null });
      else {
        expect([state, await tryEvent(db, id, event)]).toEqual([state, false]);
        await expect(sendEvent(db, id, event)).rejects.toMatchObject({ kind: "conflict" });
      }
      const found = await db.prisma.import.findUniqueOrThrow({ where: { id } });
      expect([state, found.state]).toEqual([state, isThere ? to : state]);
    }
  },
);

test("what is refused says why", () => {
  const codeOf = (event: ImportEvent, state: ImportState): string => {
    try {
      checkEvent(event, { state });
      return "-";
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const codes = (["compare", "apply", "cancel", "undo", "confirm", "mapColumns", "leaveOutRows"] as const).map(
    (event) => `${event}: ${states.map((state) => codeOf(event, state)).join(" ")}`,
  );
  expect(codes).toMatchInlineSnapshot(`
    [
      "compare: import_reading import_unmapped import_broken - - import_applied import_undone import_cancelled import_expired",
      "apply: import_reading import_unmapped import_broken - import_held import_applied import_undone import_cancelled import_expired",
      "cancel: - - - - - import_applied import_undone import_cancelled import_expired",
      "undo: import_not_applied import_not_applied import_not_applied import_not_applied import_not_applied - import_undone import_not_applied import_not_applied",
      "confirm: import_not_held import_not_held import_not_held import_not_held - import_not_held import_not_held import_not_held import_not_held",
      "mapColumns: import_mapped - import_mapped import_mapped import_mapped import_mapped import_mapped import_mapped import_mapped",
      "leaveOutRows: faults_remain faults_remain - faults_remain faults_remain faults_remain faults_remain faults_remain faults_remain",
    ]
  `);
});

test("an import is held or released by its schools", async () => {
  const [ready, held] = [await makeImport("READY", "READY"), await makeImport("HELD", "HELD")];
  expect(await tryEvent(db, ready, "hold")).toBe(false);
  expect(await tryEvent(db, held, "release")).toBe(false);
});

test.each(Object.keys(schoolTransitions).filter((event) => event !== "name") as SchoolEvent[])(
  "%s moves an import at a school from the states that the table has",
  async (event) => {
    const { from, to }: { from: readonly string[]; to: SchoolState } = schoolTransitions[event];
    for (const state of statesOf(schoolTransitions) as SchoolState[]) {
      const importId = await makeImport("READY", state);
      await sendSchoolEvent(db, { importId, schoolId }, event, columnsOf(to).appliedAt ? { appliedAt: now } : {});
      const found = await db.prisma.importSchool.findFirstOrThrow({ where: { importId } });
      expect([state, found.state]).toEqual([state, from.includes(state) ? to : state]);
    }
  },
);
