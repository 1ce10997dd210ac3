import fc from "fast-check";
import type { GroupId, GroupType, PersonId, PersonRole, SchoolId } from "../../src/directory/index.ts";
import type { Make } from "../support/make.ts";
import type { PrismaDb } from "../../src/platform/database/db.ts";

// Schools as they are after years: people and groups of rosters, made by hand, ended, blocked, left, guests.

const roles = ["STUDENT", "TEACHER", "OTHER"] as const satisfies PersonRole[];

/** Texts that CSV, spreadsheets, JSON and lists in cells have a meaning for. */
const anyText = fc.oneof(
  fc.constantFrom(
    ...[
      "Müller",
      "O'Neill",
      'Anna "Änne"',
      "Semi;kolon",
      "Komma, Strich",
      "=1+1",
      "+49 511",
      "-",
      "@home",
      "'=1",
      "''-a",
    ],
    ...[
      "5a|5b",
      "100 %",
      "%7C",
      "a\\|b",
      "7a, 7b",
      "7a/7b",
      "AG 1+2",
      "Łucja ß",
      "名前",
      "null",
      "id",
      "Summe",
      "{}",
      "🎻",
    ],
  ),
  fc
    .string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(..."abzÄé 0-=+@'\";|,%\\/&[]{}<>") })
    .filter((text) => text.trim() !== "" && text.trim() === text),
);

const anyId = fc.oneof(
  fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(..."abc123-_|:%@+=;,") }),
  fc.uuid(),
);

const anyGroup = fc.record({
  name: anyText,
  type: fc.constantFrom<GroupType>("KLASSE", "KURS", "SONSTIG"),
  /** As a table gives it, as another program gives it, or made by hand. */
  id: fc.constantFrom("table", "program", "none"),
  ended: fc.boolean(),
});
const anyPerson = fc.record({
  first: anyText,
  call: fc.option(anyText),
  last: anyText,
  nameless: fc.nat(9),
  role: fc.constantFrom(...roles),
  id: fc.option(anyId),
  /** Guests have their home elsewhere; some of our people are also there. */
  place: fc.constantFrom("here", "here", "both", "guest"),
  state: fc.constantFrom("active", "active", "active", "blocked", "left", "deleted"),
  login: fc.boolean(),
  groups: fc.array(fc.record({ at: fc.nat(9), role: fc.option(fc.constantFrom(...roles)) }), { maxLength: 4 }),
});
export type AnySchool = { groups: AnyGroup[]; people: AnyPerson[] };
type AnyGroup = typeof anyGroup extends fc.Arbitrary<infer Made> ? Made : never;
type AnyPerson = typeof anyPerson extends fc.Arbitrary<infer Made> ? Made : never;

export const anySchool: fc.Arbitrary<AnySchool> = fc.record({
  groups: fc.array(anyGroup, { maxLength: 7 }),
  people: fc.array(anyPerson, { maxLength: 9 }),
});

const kinds = { KLASSE: "class", KURS: "course", SONSTIG: "group" };

/** Makes the school with another one, where guests have their home. */
export async function makeAnySchool(
  { db, make }: { db: PrismaDb; make: Make },
  { groups, people }: AnySchool,
): Promise<{ school: SchoolId; elsewhere: SchoolId; ids: PersonId[] }> {
  const [school, elsewhere] = [await make.school(), await make.school()];
  const usedGroups = new Set<string>();
  const made: GroupId[] = [];
  for (const [at, { name, type, id, ended }] of groups.entries()) {
    const given = { table: `${kinds[type]}:${name}`, program: `c|${at}=%`, none: null }[id];
    const sourceSystemIdentifier = given === null || usedGroups.has(given) ? null : given;
    if (sourceSystemIdentifier !== null) usedGroups.add(sourceSystemIdentifier);
    made.push(
      await make.group({ school, name, type, sourceSystemIdentifier, ...(ended && { status: "DELETED" as const }) }),
    );
  }
  const usedIds = new Set<string>();
  const ids: PersonId[] = [];
  for (const one of people) {
    const sourceSystemIdentifier = one.id === null || usedIds.has(one.id) ? null : one.id;
    if (sourceSystemIdentifier !== null) usedIds.add(sourceSystemIdentifier);
    const places: Record<string, [SchoolId, ...SchoolId[]]> = {
      here: [school],
      both: [school, elsewhere],
      guest: [elsewhere, school],
    };
    const id = await make.person({
      schools: places[one.place]!,
      role: one.role,
      name: one.nameless === 0 ? null : { firstFull: one.first, firstCall: one.call ?? one.first, last: one.last },
      sourceSystemIdentifier,
      isBlocked: one.state === "blocked",
    });
    ids.push(id);
    for (const [at, role] of new Map(one.groups.map((of) => [of.at, of.role])))
      if (made[at] !== undefined)
        await make.membership({ group: made[at], person: id, ...(role !== null && { role }) });
    if (one.login)
      await db.prisma.credential.create({ data: { personId: id, username: `u-${id}`, updatedAt: new Date() } });
    if (one.state === "left" && one.place === "here")
      await db.prisma.person.update({ where: { id }, data: { leftAt: new Date() } });
    if (one.state === "deleted")
      await db.prisma.person.update({
        where: { id },
        data: { status: "SOFT_DELETED", softDeletedAt: new Date(), purgeAt: new Date() },
      });
  }
  return { school, elsewhere, ids };
}
