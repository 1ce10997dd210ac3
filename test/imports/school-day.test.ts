// @module-tag slow
import { expect, test } from "vitest";
import type { SchoolId } from "../../src/directory/index.ts";
import {
  applyImport,
  confirmImport,
  findImport,
  getImport,
  getUpload,
  listImportFaults,
  listPeopleOfImport,
  previewImport,
  withDifference,
  type ImportRecord,
  type PersonOfImport,
} from "../../src/imports/index.ts";
import { storeOf } from "../../src/platform/database/db.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { now, origin, rules, writeRoster } from "./rosters.ts";
import { makeSchool, twoWeeksLater } from "./school-day/school.ts";
import { coursesFile, cut, staffFile, styles, svwsFile, type SchoolFile, type Style } from "./school-day/styles.ts";

// A day with files as schools have them: what each preview announces is what happens, and nothing else does.

const db = await testDatabase();
const make = makeMakers(db);
const size = 1200;

const scopes = {
  "all pupils": { mode: "BULK", people: "STUDENTS" },
  "all teachers": { mode: "BULK", people: "TEACHERS" },
  "whole school": { mode: "BULK" },
  "a part": { mode: "DELTA" },
} as const;
type Scope = keyof typeof scopes;
type Upload = { at: SchoolId; file: SchoolFile; scope: Scope; uses?: Style["uses"] };

/** Reads a file with the columns that the service guesses, or with those that somebody chooses. */
async function upload({ at: schoolId, file, scope, uses }: Upload): Promise<ImportRecord> {
  const path = await writeRoster(file.content);
  const request = { path, fileName: file.name, schoolId, holdShare: rules.holdShare, ...scopes[scope] };
  const first = await previewImport(db, { ...request, choosesColumns: true }, origin);
  const { table } = await getUpload(db, first.id);
  const chosen = uses && table.headings.map((_, n) => uses[n] ?? null);
  const columns = { ...table.mapping, uses: chosen ?? table.mapping.uses, role: table.mapping.role ?? "STUDENT" };
  return previewImport(db, { ...request, columns: { ...columns, ...scopes[scope] } }, origin);
}

type State = PersonOfImport["after"];
const stateLine = (state: State | undefined): string =>
  state
    ? [state.role, ...Object.values(state.name ?? {}), state.classes.toSorted(), state.groups.toSorted()].join(" ")
    : "-";
const change = (id: string, before: State | undefined, after: State | undefined): string[] => {
  const [was, is] = [stateLine(before), stateLine(after)];
  return was === is ? [] : [`${id}: ${was} → ${is}`];
};

async function readSchool(schoolId: SchoolId) {
  const found = await db.prisma.person.findMany({
    where: { homeSchoolId: schoolId },
    include: { affiliations: { include: { memberships: { include: { group: true } } } } },
  });
  const groups = await db.prisma.group.findMany({ where: { schoolId, status: "ACTIVE" } });
  const people = new Map<string, NonNullable<State>>();
  const members = new Map<string, { person: string; group: string; role: string }>();
  const isThere = ({ status, leftAt }: (typeof found)[number]) => status === "ACTIVE" && leftAt === null;
  const deleted = new Set(found.filter((one) => !isThere(one)).map(({ sourceSystemIdentifier: id }) => id!));
  for (const { sourceSystemIdentifier: id, firstFull, firstCall, last, role, affiliations } of found.filter(isThere)) {
    const own = affiliations.flatMap(({ memberships }) => memberships).filter(({ group }) => group.status === "ACTIVE");
    const of = (isClass: boolean) =>
      own.filter(({ group }) => (group.type === "KLASSE") === isClass).map(({ group }) => group.name);
    const name = { firstFull: firstFull!, firstCall: firstCall!, last: last! };
    people.set(id!, { name, role, classes: of(true), groups: of(false) });
    for (const one of own) members.set(`${id} ${one.groupId}`, { person: id!, group: one.groupId, role: one.role });
  }
  return { people, deleted, groups: new Set(groups.map(({ id }) => id as string)), members };
}
type Read = Awaited<ReturnType<typeof readSchool>>;

const missingIn = <Key>(all: Iterable<Key>, other: { has(key: Key): boolean }) =>
  [...all].filter((key) => !other.has(key));

type Numbers = Record<
  "new" | "restored" | "changed" | "leaving" | "new groups" | "ended groups" | "members",
  number | string
>;
function numbersOf(was: Read, is: Read): Numbers {
  const own = ({ role, name }: NonNullable<State>) => JSON.stringify([role, name]);
  const ended = missingIn(was.members.keys(), is.members)
    .map((key) => was.members.get(key)!)
    .filter(({ person, group }) => is.people.has(person) && is.groups.has(group));
  const others = [...is.members].filter(([key, { role }]) => (was.members.get(key)?.role ?? role) !== role);
  const arrived = missingIn(is.people.keys(), was.people);
  // Who is restored comes with their groups, which are no numbers of their own.
  const made = missingIn(is.members.keys(), was.members).filter((key) => !was.deleted.has(is.members.get(key)!.person));
  return {
    new: arrived.filter((id) => !was.deleted.has(id)).length,
    restored: arrived.filter((id) => was.deleted.has(id)).length,
    changed: [...is.people].filter(([id, one]) => was.people.has(id) && own(was.people.get(id)!) !== own(one)).length,
    leaving: missingIn(was.people.keys(), is.people).length,
    "new groups": missingIn(is.groups, was.groups).length,
    "ended groups": missingIn(was.groups, is.groups).length,
    members: `+${made.length} ~${others.length} -${ended.length}`,
  };
}
const announcedNumbers = ({ people, groups, memberships }: ImportRecord["schools"][number]["counts"]): Numbers => ({
  new: people.created,
  restored: people.restored,
  changed: people.changed,
  leaving: people.removed,
  "new groups": groups.created,
  "ended groups": groups.removed,
  members: `+${memberships.created} ~${memberships.changed} -${memberships.removed}`,
});
const textOf = (numbers: Numbers): string => {
  const text = Object.entries(numbers)
    .filter(([, number]) => number !== 0 && number !== "+0 ~0 -0")
    .map(([name, number]) => `${name} ${number}`)
    .join(", ");
  return text === "" ? "nothing" : text;
};

async function announcedChanges(id: ImportRecord["id"], schoolId: SchoolId): Promise<string[]> {
  const status = await findImport(storeOf(db), id, undefined);
  const found = await withDifference(db, status, { schoolId, now }, (tx) =>
    listPeopleOfImport(tx, { schoolId, limit: 100_000 }),
  );
  return found.flatMap((one) =>
    change(one.sourceSystemIdentifier!, one.kinds.includes("RESTORED") ? null : one.before, one.after),
  );
}
const happenedChanges = (was: Read, is: Read): string[] =>
  [...new Set([...was.people.keys(), ...is.people.keys()])].flatMap((id) =>
    change(id, was.people.get(id), is.people.get(id)),
  );

type Step = Upload & { title: string };
const heading = "file | name | as | announced | held for | happened | not announced";
const tableOf = (lines: readonly string[]): string =>
  [heading, heading.replaceAll(/[^|]+/g, " --- ").trim(), ...lines].map((line) => `| ${line} |\n`).join("");

/** Previews, confirms what is held, and applies; a file with faults is left where it is. */
async function play({ title, ...wishes }: Step): Promise<string> {
  const { at, scope } = wishes;
  const was = await readSchool(at);
  const { id, state } = await upload(wishes);
  const head = [title, wishes.file.name, scope];
  if (state === "BROKEN") {
    const faults = await listImportFaults(db, id);
    const codes = [...new Set(faults.map(({ code, line }) => `${code} in line ${line}`))];
    expect(happenedChanges(was, await readSchool(at))).toEqual([]);
    return [...head, `faults: ${codes.join(", ")}`, "-", "nothing", "none"].join(" | ");
  }
  const { schools } = await getImport(db, id);
  const { counts, holds } = schools[0]!;
  const announced = await announcedChanges(id, at);
  if (state === "HELD") {
    await expect(applyImport(db, id, rules, origin)).rejects.toMatchObject({ code: "import_held" });
    expect(happenedChanges(was, await readSchool(at))).toEqual([]);
    await confirmImport(db, id, origin);
  }
  await applyImport(db, id, rules, origin);
  const is = await readSchool(at);
  const happened = happenedChanges(was, is);
  const notAnnounced = missingIn(happened, new Set(announced));
  expect([title, notAnnounced, missingIn(announced, new Set(happened))]).toEqual([title, [], []]);
  expect([title, numbersOf(was, is)]).toEqual([title, announcedNumbers(counts)]);
  const reasons = holds.map(
    ({ reason, count, of, names }) =>
      `${reason} ${count} of ${of}${names.length > 5 ? "" : names.map((name) => ` ${name}`).join("")}`,
  );
  const cells = [textOf(announcedNumbers(counts)), reasons.join(", ") || "-", textOf(numbersOf(was, is))];
  return [...head, ...cells, notAnnounced.length === 0 ? "none" : String(notAnnounced.length)].join(" | ");
}

const beginning = makeSchool("Lindenschule Ahausen", size);
const later = twoWeeksLater(beginning);
const half = { ...later, pupils: later.pupils.slice(0, size / 2) };
const other = makeSchool("Kastanienschule Behausen", 1100, { firstName: 5000 });

const small = makeSchool("Lindenschule Ahausen", 300);

test.each(styles)(
  "a file in the style of $program, and the one of two weeks later",
  async ({ program, write, spell, uses }) => {
    const at = await make.school({ name: small.name });
    const lines = [await play({ title: "teachers", at, file: staffFile(small, spell), scope: "all teachers" })];
    for (const [title, school] of Object.entries({
      first: small,
      again: small,
      "two weeks later": twoWeeksLater(small),
    }))
      lines.push(await play({ title, at, file: await write(school), scope: "all pupils", ...(uses && { uses }) }));
    await expect(tableOf(lines)).toMatchFileSnapshot(`school-day/${program.replace(/\W.*/, "").toLowerCase()}.txt`);
  },
);

test("files of another school, of half a school, of courses, of teachers", async () => {
  await make.school({ name: other.name });
  const at = await make.school({ name: beginning.name });
  const steps: Omit<Step, "at">[] = [
    { title: "teachers", file: staffFile(later), scope: "all teachers" },
    { title: "pupils", file: svwsFile(later), scope: "all pupils" },
    { title: "courses only", file: coursesFile(later), scope: "a part" },
    { title: "the same pupils, without courses", file: svwsFile(later), scope: "all pupils" },
    {
      title: "fewer teachers",
      file: staffFile({ ...later, teachers: later.teachers.slice(2) }),
      scope: "all teachers",
    },
    { title: "half a file", file: svwsFile(half), scope: "a part" },
    { title: "a file that was cut off", file: cut(svwsFile(later)), scope: "all pupils" },
    { title: "half a file", file: svwsFile(half), scope: "all pupils" },
    { title: "everybody again", file: svwsFile(later), scope: "all pupils" },
    { title: "another school's file", file: svwsFile(other), scope: "a part" },
    { title: "another school's file", file: { ...svwsFile(other), name: `${other.name}.csv` }, scope: "all pupils" },
    { title: "pupils as the whole school", file: svwsFile(later), scope: "whole school" },
  ];
  const lines: string[] = [];
  for (const step of steps) lines.push(await play({ at, ...step }));
  await expect(tableOf(lines)).toMatchFileSnapshot("school-day/day.txt");
});
