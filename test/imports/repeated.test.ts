import fc from "fast-check";
import { expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import {
  deleteGroup,
  joinSchool,
  restorePerson,
  softDeletePerson,
  type GroupId,
  type PersonId,
  type SchoolId,
} from "../../src/directory/index.ts";
import { applyImport, confirmImport } from "../../src/imports/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { walkTimeoutMs, walks } from "../support/walks.ts";
import { officialIds, randomRoster, writeRandomRoster, type RandomRoster } from "./random-rosters.ts";
import { fingerprint, makeImporter, origin, rules } from "./rosters.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { run, preview } = makeImporter(db);
const schools = new Map<string, SchoolId>();
for (const officialId of officialIds) schools.set(officialId, await make.school({ officialId }));
for (const signOn of ["EVERYBODY", "ROLES"] as const) {
  const { clientId } = await make.app();
  for (const school of schools.values())
    await make.grant({
      app: clientId,
      school,
      signOn: signOn === "ROLES" ? { kind: "ROLES", roles: ["TEACHER"] } : { kind: "EVERYBODY" },
    });
}

const nothing = {
  people: { created: 0, changed: 0, restored: 0, removed: 0, joined: 0, left: 0, leftHome: 0 },
  groups: { created: 0, changed: 0, carriedOver: 0, restored: 0, removed: 0 },
  memberships: { created: 0, changed: 0, removed: 0 },
};
const clear = () => db.pool.query('TRUNCATE person, "group", group_carry_over, app_event CASCADE');
const inChange = (work: Parameters<typeof changeDirectory<unknown>>[2]) => changeDirectory(db, origin, work);

const countApplied = () => db.prisma.audit.count({ where: { action: "import_applied" } });

/** Applies the file again and compares every row, every event and the audit lines of changes. */
async function expectUnchanged(again: () => ReturnType<typeof run>): Promise<void> {
  const before = await fingerprint(db);
  const lines = await countApplied();
  const { schools: parts } = await again();
  for (const { counts } of parts) expect(counts).toMatchObject(nothing);
  expect(await fingerprint(db)).toBe(before);
  expect(await countApplied()).toBe(lines);
}

test("a school that an import changes gets one audit line with its counts, one that stays as it is gets none", async () => {
  await clear();
  const school = schools.get(officialIds[0]!)!;
  const lines = await countApplied();
  const roster = () => run("id;role;first_name;last_name;classes\n7;student;Ada;Muster;5a\n", { school });
  const { id } = await roster();
  const applied = { action: "import_applied", schoolId: school, detail: { path: ["importId"], equals: id } };
  const [line, ...more] = await db.prisma.audit.findMany({ where: applied, orderBy: { id: "asc" } });
  expect(line!.detail).toMatchObject({ people: { created: 1 }, groups: { created: 1 }, memberships: { created: 1 } });
  expect(more).toEqual([]);
  await expectUnchanged(roster);
  expect(await countApplied()).toBe(lines + 1);
});

type ByHand = { what: "soft-delete" | "restore" | "join" | "delete group"; n: number; school: string };
const byHand: fc.Arbitrary<ByHand> = fc.record({
  what: fc.constantFrom("soft-delete", "restore", "join", "delete group"),
  n: fc.nat(5),
  school: fc.constantFrom(...officialIds),
});

/** Changes by hand whoever or whatever is the n-th, if the directory allows it. */
async function changeByHand({ what, n, school }: ByHand): Promise<void> {
  const table = what === "delete group" ? '"group"' : "person";
  const { rows } = await db.pool.query<{ id: string }>(`SELECT id FROM ${table} ORDER BY id OFFSET $1 LIMIT 1`, [
    n % 3,
  ]);
  const id = rows[0]?.id;
  if (id === undefined) return;
  const personId = id as PersonId;
  const steps = {
    "soft-delete": (change: never) => softDeletePerson(change, { personId, restoreWindowDays: 30 }),
    restore: (change: never) => restorePerson(change, { personId }),
    join: (change: never) => joinSchool(change, { personId, schoolId: schools.get(school)! }),
    "delete group": (change: never) => deleteGroup(change, { groupId: id as GroupId }),
  };
  await inChange((change) => steps[what](change as never) as Promise<unknown>).catch((error: unknown) =>
    expect(error).toHaveProperty("kind"),
  );
}

let applied = 0;

/** Undefined where the random file has faults. */
async function tryRun(roster: RandomRoster): Promise<Awaited<ReturnType<typeof run>> | undefined> {
  const { content, officialId } = await writeRandomRoster(roster);
  const wishes = {
    mode: roster.mode,
    schoolYear: "2026/27",
    ...(officialId !== undefined && { school: schools.get(officialId)! }),
  };
  const { id, state } = await preview(content, wishes);
  if (state === "BROKEN") return undefined;
  if (state === "HELD") await confirmImport(db, id, origin);
  return applyImport(db, id, { ...rules, holdShare: 1 }, origin);
}

test(
  "whatever file is applied, in every format and mode, on whatever directory: applied again it changes no row, no count and tells no app",
  { tags: "model", timeout: walkTimeoutMs },
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(randomRoster, { minLength: 1, maxLength: 2 }),
        fc.array(byHand, { maxLength: 3 }),
        randomRoster,
        async (earlier, changes, roster) => {
          await clear();
          for (const one of earlier) await tryRun(one);
          for (const change of changes) await changeByHand(change);
          if ((await tryRun(roster)) === undefined) return;
          applied += 1;
          await expectUnchanged(async () => (await tryRun(roster))!);
        },
      ),
      walks(5),
    );
    expect(applied).toBeGreaterThan(0);
  },
);
