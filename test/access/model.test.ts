// @module-tag model
// @module-tag every-postgresql
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  fromSchoolsLettingIn,
  fromShownGroupsOf,
  fromShownMembersOf,
  groupIsShown,
  groupIsSynced,
  personIsShown,
  personIsSynced,
  schoolIsShown,
  userIsShown,
  userIsShownAt,
} from "../../src/access/index.ts";
import type { ClientId, SignOnAudience } from "../../src/access/index.ts";
import type { GroupId, PersonId, SchoolId } from "../../src/directory/index.ts";
import { findRows, sql, statement, table, type Parameters, type Sql } from "../../src/platform/database/sql.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { walkTimeoutMs, walks } from "../support/walks.ts";

// What decisions on visibility say, once more and in other words, over worlds that nobody thought of.

const s = table("school", "s");
const g = table("group", "g");
const p = table("person", "p");

const roles = ["STUDENT", "TEACHER", "OTHER"] as const;
const kinds = ["NOBODY", "EVERYBODY", "ROLES", "GROUPS"] as const;
const [schoolCount, groupCount] = [3, 6];
const someSchools = fc.subarray([...Array(schoolCount).keys()]);
const someGroups = fc.subarray([...Array(groupCount).keys()]);

/**
 * Group n is at school n modulo their number; what names a group of another school is left out. Through the schools of
 * `seenAt` and `letInAt` the app saw a person who is gone, before groups and grants became what they are.
 */
const world = fc.record({
  deletedGroups: someGroups,
  grants: fc.array(
    fc.option(
      fc.record({
        kind: fc.constantFrom(...kinds),
        roles: fc.subarray([...roles], { minLength: 1 }),
        groups: someGroups,
        sync: fc.boolean(),
        synced: someGroups,
      }),
      { freq: 4 },
    ),
    { minLength: schoolCount, maxLength: schoolCount },
  ),
  people: fc.array(
    fc.record({
      role: fc.constantFrom(...roles),
      isGone: fc.boolean(),
      schools: fc.shuffledSubarray([0, 1, 2], { minLength: 1 }),
      groups: someGroups,
      hasSignedIn: fc.boolean(),
      seenAt: someSchools,
      letInAt: someSchools,
    }),
    { minLength: 1, maxLength: 4 },
  ),
});
type World = typeof world extends fc.Arbitrary<infer Made> ? Made : never;
type Person = World["people"][number];

const schoolOf = (group: number) => group % schoolCount;

function say(w: World) {
  const groups = [...Array(groupCount).keys()];
  const schools = [...Array(schoolCount).keys()];
  const syncs = (school: number) => w.grants[school]?.sync === true;
  const isSynced = (group: number) => syncs(schoolOf(group)) && w.grants[schoolOf(group)]!.synced.includes(group);
  const isShown = (group: number) => isSynced(group) && !w.deletedGroups.includes(group);
  const isIn = (p: Person, group: number) => p.schools.includes(schoolOf(group)) && p.groups.includes(group);
  const wasSeen = (p: Person, school: number) => p.isGone && p.seenAt.includes(school) && p.schools.includes(school);
  const isPerson = (p: Person, of = groups) =>
    p.role !== "OTHER" &&
    of.some((group) => (isIn(p, group) && isShown(group)) || (wasSeen(p, schoolOf(group)) && syncs(schoolOf(group))));
  const wouldThrough = (p: Person, school: number): boolean => {
    const grant = w.grants[school];
    if (!grant || !p.schools.includes(school)) return false;
    if (grant.kind === "ROLES") return grant.roles.includes(p.role);
    if (grant.kind !== "GROUPS") return grant.kind === "EVERYBODY";
    return (
      (p.isGone && p.letInAt.includes(school)) ||
      grant.groups.some((group) => schoolOf(group) === school && isIn(p, group) && !w.deletedGroups.includes(group))
    );
  };
  const mayThrough = (p: Person, school: number) => !p.isGone && wouldThrough(p, school);
  const isUserAt = (p: Person, school: number, through = wouldThrough) =>
    p.schools.includes(school) && syncs(school) && schools.some((any) => through(p, any));
  const which = (keep: (p: Person) => boolean) => w.people.flatMap((p, index) => (keep(p) ? [index] : []));
  const groupsAt = (school: number) => groups.filter((group) => schoolOf(group) === school);
  return {
    schools: schools.filter(syncs),
    groups: groups.filter(isShown),
    groupsWithDeleted: groups.filter(isSynced),
    people: which((p) => !p.isGone && isPerson(p)),
    peopleWithDeleted: which((p) => isPerson(p)),
    peopleAt: schools.map((school) => which((p) => !p.isGone && isPerson(p, groupsAt(school)))),
    users: which((p) => p.hasSignedIn || schools.some((school) => isUserAt(p, school))),
    usersAt: schools.map((school) => which((p) => isUserAt(p, school, mayThrough))),
    mayThrough: schools.map((school) => which((p) => mayThrough(p, school))),
    groupsOf: w.people.map((p) => groups.filter((group) => isIn(p, group) && isShown(group))),
    membersOf: groups.map((group) => which((p) => !p.isGone && p.role !== "OTHER" && isIn(p, group))),
  };
}

const db = await testDatabase();
const make = makeMakers(db);

async function build(w: World) {
  const { clientId } = await make.app();
  const schools: SchoolId[] = [];
  for (let school = 0; school < schoolCount; school++) schools.push(await make.school());
  const groups: GroupId[] = [];
  for (let group = 0; group < groupCount; group++) {
    groups.push(
      await make.group({
        school: schools[schoolOf(group)]!,
        status: w.deletedGroups.includes(group) ? "DELETED" : "ACTIVE",
      }),
    );
  }
  const ids = (school: number, chosen: number[]) =>
    chosen.filter((group) => schoolOf(group) === school).map((group) => groups[group]!);
  for (const [school, grant] of w.grants.entries()) {
    if (grant === null) continue;
    const signOn = {
      kind: grant.kind,
      roles: grant.roles,
      groups: ids(school, grant.groups),
    } as unknown as SignOnAudience;
    await make.grant({
      app: clientId,
      school: schools[school]!,
      signOn,
      sync: grant.sync,
      groups: ids(school, grant.synced),
    });
  }
  const people: PersonId[] = [];
  for (const { role, isGone, schools: at, groups: inside, hasSignedIn, seenAt, letInAt } of w.people) {
    const person = await make.person({
      role,
      status: isGone ? "SOFT_DELETED" : "ACTIVE",
      schools: at.map((school) => schools[school]!) as [SchoolId, ...SchoolId[]],
      groups: inside.filter((group) => at.includes(schoolOf(group))).map((group) => groups[group]!),
    });
    if (hasSignedIn) await make.signIn({ app: clientId, person });
    const keys = [
      ...seenAt.map((school) => ["person", school] as const),
      ...letInAt.map((at) => ["user", at] as const),
    ];
    const seenBy = Object.fromEntries(keys.map(([as, school]) => [`${as} ${clientId} ${schools[school]!}`, true]));
    if (isGone) await db.prisma.person.update({ where: { id: person }, data: { seenBy } });
    people.push(person);
  }
  return { clientId, schools, groups, people };
}

async function ask({
  clientId,
  schools,
  groups,
  people,
}: {
  clientId: ClientId;
  schools: SchoolId[];
  groups: GroupId[];
  people: PersonId[];
}) {
  type Asked = { client: ClientId; about: string | undefined };
  const find = async (order: string[], query: (asked: Parameters<Asked>) => Sql, about?: string): Promise<number[]> => {
    // Both parameters appear, so that each has a type.
    const select = statement<Asked>(
      (asked) => sql`${query(asked)} AND ${asked.client}::text IS NOT NULL
        AND coalesce(${asked.about}::uuid, gen_random_uuid()) IS NOT NULL`,
    );
    const rows = await findRows<{ id: string }, Asked>(db.pool, select, { client: clientId, about });
    return rows.flatMap(({ id }) => (order.includes(id) ? [order.indexOf(id)] : [])).sort((x, y) => x - y);
  };
  const findPeople = (condition: (asked: Parameters<Asked>) => Sql, about?: string) =>
    find(people, (asked) => sql`SELECT ${p.id} FROM ${p} WHERE ${condition(asked)}`, about);
  const each = <T>(of: string[], look: (id: string) => Promise<T>) => Promise.all(of.map(look));
  return {
    schools: await find(schools, ({ client }) => sql`SELECT ${s.id} FROM ${s} WHERE ${schoolIsShown(client, s.id)}`),
    groups: await find(groups, ({ client }) => sql`SELECT ${g.id} FROM ${g} WHERE ${groupIsShown(client, g)}`),
    groupsWithDeleted: await find(
      groups,
      ({ client }) => sql`SELECT ${g.id} FROM ${g} WHERE ${groupIsSynced(client, g.id)}`,
    ),
    people: await findPeople(({ client }) => personIsShown(client, p)),
    peopleWithDeleted: await findPeople(({ client }) => personIsSynced(client, p)),
    peopleAt: await each(schools, (id) => findPeople(({ client, about }) => personIsShown(client, p, about), id)),
    users: await findPeople(({ client }) => userIsShown(client, p)),
    usersAt: await each(schools, (id) => findPeople(({ client, about }) => userIsShownAt(client, p, about), id)),
    mayThrough: await each(schools, (id) =>
      findPeople(
        ({ client, about }) =>
          sql`p.status = 'ACTIVE' AND EXISTS (SELECT ${fromSchoolsLettingIn(client, p)} AND v_at.school_id = ${about})`,
        id,
      ),
    ),
    groupsOf: await each(people, (id) =>
      find(groups, ({ client, about }) => sql`SELECT ${g.id} ${fromShownGroupsOf(client, about)}`, id),
    ),
    membersOf: await each(groups, (id) =>
      find(people, ({ about }) => sql`SELECT ${p.id} ${fromShownMembersOf(about)}`, id),
    ),
  };
}

test("the SQL of visibility says what its decisions say, whatever the world", { timeout: walkTimeoutMs }, async () => {
  await fc.assert(
    fc.asyncProperty(world, async (made) => {
      expect(await ask(await build(made))).toEqual(say(made));
    }),
    walks(15, 2),
  );
});
