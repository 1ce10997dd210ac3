// @module-tag model
import fc from "fast-check";
import { expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { walkTimeoutMs, walks } from "../support/walks.ts";
import { fingerprint, makeImporter, readDirectory, zip } from "./rosters.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { run } = makeImporter(db);
const schools = ["DE-XX-0", "DE-XX-1"];
for (const officialId of schools) await make.school({ officialId });

type Pupil = { id: string; role: string; name: string; schools: string[]; classes: Record<string, string> };
type Roster = { pupils: Pupil[]; classes: { id: string; title: string; school: string }[] };

/** Small worlds with few ids, so that two of them have much in common. */
const roster: fc.Arbitrary<Roster> = fc
  .record({
    classes: fc.uniqueArray(
      fc.record({
        id: fc.constantFrom("c1", "c2", "c3", "c4"),
        title: fc.constantFrom("5a", "5b", "6ä"),
        school: fc.constantFrom(...schools),
      }),
      { selector: ({ id }) => id, maxLength: 4 },
    ),
    pupils: fc.uniqueArray(
      fc.record({
        id: fc.constantFrom("p1", "p2", "p3", "p4", "p5"),
        role: fc.constantFrom("student", "teacher", "aide"),
        name: fc.constantFrom("Ada", "Bo", "Änne"),
        schools: fc.uniqueArray(fc.constantFrom(...schools), { minLength: 1, maxLength: 2 }),
        classes: fc.dictionary(fc.constantFrom("c1", "c2", "c3", "c4"), fc.constantFrom("student", "teacher")),
      }),
      { selector: ({ id }) => id, maxLength: 5 },
    ),
  })
  .map(({ classes, pupils }) => ({
    classes,
    // Only who is at a school is in its classes.
    pupils: pupils.map((pupil) => ({
      ...pupil,
      classes: Object.fromEntries(
        Object.entries(pupil.classes).filter(([id]) =>
          pupil.schools.includes(classes.find((one) => one.id === id)?.school ?? ""),
        ),
      ),
    })),
  }));

const orgs = `sourcedId,type,identifier\n${schools.map((id) => `${id},school,${id}\n`).join("")}`;
const manifest = (mode: string) =>
  `propertyName,value\noneroster.version,1.1\n${["orgs", "users", "classes", "enrollments"].map((file) => `file.${file},${mode}\n`).join("")}`;
const enrollmentsOf = ({ pupils, classes }: Roster) =>
  pupils.flatMap(({ id, classes: of }) =>
    Object.entries(of).map(([group, role]) => ({
      id: `${id}-${group}`,
      group,
      school: classes.find((one) => one.id === group)!.school,
      person: id,
      role,
    })),
  );

/** A delta from nothing at all is a whole roster. */
function write({ from, to, mode }: { from: Roster; to: Roster; mode: "bulk" | "delta" }): Promise<Buffer> {
  const isGone =
    <Item extends { id: string }>(now: Item[]) =>
    (item: Item) =>
      !now.some(({ id }) => id === item.id);
  const differs =
    <Item extends { id: string }>(before: Item[]) =>
    (item: Item) =>
      JSON.stringify(before.find(({ id }) => id === item.id)) !== JSON.stringify(item);
  const status = (word: string) => (mode === "delta" ? word : "");
  const table = <Item extends { id: string }>(
    before: Item[],
    after: Item[],
    line: (item: Item, status: string) => string,
  ) =>
    [
      ...after.filter(differs(before)).map((item) => line(item, status("active"))),
      ...before.filter(isGone(after)).map((item) => line(item, "tobedeleted")),
    ].join("\n");
  return zip({
    "manifest.csv": manifest(mode),
    "orgs.csv": orgs,
    "users.csv": `sourcedId,status,orgSourcedIds,role,givenName,familyName\n${table(from.pupils, to.pupils, (p, state) => `${p.id},${state},"${p.schools.join(",")}",${p.role},${p.name},Test`)}\n`,
    "classes.csv": `sourcedId,status,title,classType,schoolSourcedId\n${table(from.classes, to.classes, (c, state) => `${c.id},${state},${c.title},homeroom,${c.school}`)}\n`,
    "enrollments.csv": `sourcedId,status,classSourcedId,schoolSourcedId,userSourcedId,role\n${table(enrollmentsOf(from), enrollmentsOf(to), (e, state) => `${e.id},${state},${e.group},${e.school},${e.person},${e.role}`)}\n`,
  });
}

const nothing: Roster = { pupils: [], classes: [] };
const clear = () => db.pool.query('TRUNCATE person, "group", group_carry_over, app_event CASCADE');
const bulk = async (to: Roster) => run(await write({ from: nothing, to, mode: "bulk" }));

test(
  "a whole roster after another one leaves what it leaves alone, and once more changes nothing",
  async () => {
    await fc.assert(
      fc.asyncProperty(roster, roster, async (a, b) => {
        await clear();
        await bulk(b);
        const alone = await readDirectory(db);
        await clear();
        await bulk(a);
        await bulk(b);
        expect(await readDirectory(db)).toEqual(alone);
        const before = await fingerprint(db);
        await bulk(b);
        expect(await fingerprint(db)).toBe(before);
      }),
      walks(12),
    );
  },
  walkTimeoutMs,
);

test(
  "a delta leaves what the whole roster leaves, and ids survive it and the way back",
  async () => {
    const stable = (of: Roster): Roster => ({
      ...of,
      classes: of.classes.map((one) => ({ ...one, school: schools[Number(one.id.slice(1)) % 2]! })),
    });
    // In a delta nobody changes schools here: who leaves a school keeps, for the standard, the enrollments that nobody
    // deletes.
    const settled = (of: Roster): Roster => {
      const { classes, pupils } = stable(of);
      const at = (id: string) => [schools[Number(id.slice(1)) % 2]!];
      return {
        classes,
        pupils: pupils.map((p) => ({
          ...p,
          schools: at(p.id),
          classes: Object.fromEntries(
            Object.entries(p.classes).filter(([id]) => classes.find((one) => one.id === id)?.school === at(p.id)[0]),
          ),
        })),
      };
    };
    await fc.assert(
      fc.asyncProperty(roster.map(settled), roster.map(settled), async (a, b) => {
        await clear();
        await bulk(b);
        const alone = await readDirectory(db);
        await clear();
        await bulk(a);
        const ids = await db.prisma.person.findMany({ select: { id: true, sourceSystemIdentifier: true } });
        await run(await write({ from: a, to: b, mode: "delta" }));
        expect(await readDirectory(db)).toEqual(alone);
        await bulk(a);
        expect(
          await db.prisma.person.findMany({
            where: { status: "ACTIVE" },
            select: { id: true, sourceSystemIdentifier: true },
            orderBy: { id: "asc" },
          }),
        ).toEqual(ids.toSorted((x, y) => (x.id < y.id ? -1 : 1)));
      }),
      walks(12),
    );
  },
  walkTimeoutMs,
);
