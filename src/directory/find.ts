import type { Prisma } from "../../generated/prisma/client.ts";
import type { RecordStore, Store } from "../platform/database/db.ts";
import { empty, fields, findRows, sql, statement, table } from "../platform/database/sql.ts";
import type { Parameter, Part as SqlPart, Sql } from "../platform/database/sql.ts";
import type { GroupType } from "./group.ts";
import type { GroupId, PersonId, SchoolId } from "./ids.ts";
import { nameOf, type PersonName, type PersonRole } from "./person.ts";
import { isBehind, orderBy, type NameOrder, type PersonOrder } from "./order.ts";
import type { School } from "./school.ts";
import type { GroupStatus, PersonStatus } from "./transitions.ts";

/** How much of a list: `search` is a part of the name, in any case; `after` the last id of the part before. */
export type Part = { search?: string | undefined; limit: number; after?: string | undefined };

/** Null for a school that does not exist. */
export async function findSchool({ prisma }: RecordStore, schoolId: SchoolId): Promise<School | null> {
  const found = await prisma.school.findUnique({ where: { id: schoolId } });
  return found && presentSchool(found);
}

function presentSchool(record: Prisma.SchoolModel): School {
  const { id, sortKey: _key, sandboxId: _sandbox, createdAt: _created, updatedAt: _updated, ...written } = record;
  const { address, addressAddition, city, zipCode, country, state, ...rest } = written;
  return {
    ...rest,
    id: id as SchoolId,
    address: { address, addressAddition, city, zipCode },
    location: { country, state },
  };
}

// Lists are found by named SQL: Prisma Client has no search for a part of several columns together, and takes % and _
// for wildcards. It reads the records that were found.

type Found<Id extends string> = { id: Id };
type Search = { search: string | undefined; limit: number; after: string | undefined };

const searchOf = ({ search, limit, after }: Part): Search => ({ search: search?.normalize("NFC"), limit, after });

const contains = (text: Sql, search: SqlPart): Sql =>
  sql`(${search}::text IS NULL OR position(lower(${search}) IN lower(${text})) > 0)`;

/** Records in the order of the ids that were found. */
function inOrder<Id extends string, Record extends { id: string }>(ids: readonly Found<Id>[], records: Record[]) {
  const byId = new Map(records.map((record) => [record.id, record]));
  return ids.flatMap(({ id }) => byId.get(id) ?? []);
}

const s = table("school", "s");
const lastSchool = table("school", "last_school");

type SchoolsAmong = { among: readonly SchoolId[] | null };

const schoolPlace = { key: s.sortKey, id: s.id };
const searchSchools = (order: NameOrder) =>
  statement<Search & SchoolsAmong>(
    ({ search, limit, after, among }) => sql`
  SELECT ${fields<Found<SchoolId>>({ id: s.id })} FROM ${s}
  WHERE ${contains(sql`${s.name} || ' ' || ${s.officialId}`, search)}
    AND (${among}::uuid[] IS NULL OR ${s.id} = ANY (${among}::uuid[])) AND ${s.sandboxId} IS NULL
    AND ${isBehind(order, schoolPlace, { from: lastSchool, key: lastSchool.sortKey, id: lastSchool.id, after })}
  ${orderBy(order, schoolPlace)} LIMIT ${limit}`,
  );
const schoolSearches = { name: searchSchools("name"), "-name": searchSchools("-name") };

/** Schools by name, or in another order; of those that `among` names, if it is given. None of a sandbox. */
export async function listSchools(
  db: Store,
  { among, order = "name", ...part }: Part & { among?: readonly SchoolId[] | undefined; order?: NameOrder | undefined },
): Promise<School[]> {
  const asked = { ...searchOf(part), among: among ?? null };
  const found = await findRows<Found<SchoolId>, Search & SchoolsAmong>(db, schoolSearches[order], asked);
  const schools = await db.prisma.school.findMany({ where: { id: { in: found.map(({ id }) => id) } } });
  return inOrder(found, schools).map(presentSchool);
}

export type Group = {
  id: GroupId;
  schoolId: SchoolId;
  name: string;
  type: GroupType;
  status: GroupStatus;
  sourceSystemIdentifier: string | null;
  members: number;
};

const withMembers = {
  id: true,
  schoolId: true,
  name: true,
  type: true,
  status: true,
  sourceSystemIdentifier: true,
  _count: { select: { memberships: true } },
} satisfies Prisma.GroupSelect;

const presentGroup = ({ _count, ...group }: Prisma.GroupGetPayload<{ select: typeof withMembers }>): Group => ({
  ...group,
  id: group.id as GroupId,
  schoolId: group.schoolId as SchoolId,
  members: _count.memberships,
});

/** Null for a group that does not exist. */
export async function findGroup({ prisma }: RecordStore, groupId: GroupId): Promise<Group | null> {
  const found = await prisma.group.findUnique({ where: { id: groupId }, select: withMembers });
  return found && presentGroup(found);
}

type GroupsOf = { schoolId: SchoolId; withDeleted: boolean };
/** Shape: `taughtBy` is a member with the role TEACHER; `byIdentifier` searches source system identifiers too. */
type GroupsAmong = { taughtBy?: PersonId | undefined; byIdentifier?: boolean | undefined };

const g = table("group", "g");
const lastGroup = table("group", "last_group");

const m = table("membership", "m");

const groupText = (byIdentifier: SqlPart): Sql =>
  sql`concat_ws(' ', ${g.name}, CASE WHEN ${byIdentifier}::boolean THEN ${g.sourceSystemIdentifier} END)`;

const groupPlace = { key: g.sortKey, id: g.id };
const searchGroups = (order: NameOrder) =>
  statement<Search & GroupsOf & Required<GroupsAmong>>(
    ({ search, limit, after, schoolId, withDeleted, taughtBy, byIdentifier }) => sql`
  SELECT ${fields<Found<GroupId>>({ id: g.id })} FROM ${g}
  WHERE ${g.schoolId} = ${schoolId} AND (${withDeleted} OR ${g.status} = 'ACTIVE')
    AND ${contains(groupText(byIdentifier), search)}
    AND (${taughtBy}::uuid IS NULL OR EXISTS (SELECT FROM ${m}
      WHERE ${m.groupId} = ${g.id} AND ${m.personId} = ${taughtBy} AND ${m.role} = 'TEACHER'))
    AND ${isBehind(order, groupPlace, { from: lastGroup, key: lastGroup.sortKey, id: lastGroup.id, after })}
  ${orderBy(order, groupPlace)} LIMIT ${limit}`,
  );
const groupSearches = { name: searchGroups("name"), "-name": searchGroups("-name") };

/** The groups of a school by name, deleted ones too if `withDeleted`; those of one teacher if `taughtBy` is given. */
export async function listGroups(
  db: Store,
  {
    schoolId,
    withDeleted,
    taughtBy,
    byIdentifier = false,
    order = "name",
    ...part
  }: Part & GroupsOf & GroupsAmong & { order?: NameOrder | undefined },
): Promise<Group[]> {
  const asked = { ...searchOf(part), schoolId, withDeleted, taughtBy, byIdentifier };
  const found = await findRows<Found<GroupId>, Search & GroupsOf & Required<GroupsAmong>>(
    db,
    groupSearches[order],
    asked,
  );
  const where = { id: { in: found.map(({ id }) => id) } };
  return inOrder(found, await db.prisma.group.findMany({ where, select: withMembers })).map(presentGroup);
}

export type Person = {
  id: PersonId;
  role: PersonRole;
  status: PersonStatus;
  name: PersonName | null;
  sourceSystemIdentifier: string | null;
  softDeletedAt: Date | null;
  purgeAt: Date | null;
  /** Since when staff keep the person from signing in. */
  blockedAt: Date | null;
  /** Null for people of the staff who are at no school. */
  homeSchoolId: SchoolId | null;
  createdAt: Date;
  schools: { id: SchoolId; name: string }[];
  groups: { id: GroupId; schoolId: SchoolId; name: string; status: GroupStatus; role: PersonRole }[];
};

const atSchools = {
  id: true,
  role: true,
  status: true,
  firstFull: true,
  firstCall: true,
  last: true,
  sourceSystemIdentifier: true,
  softDeletedAt: true,
  purgeAt: true,
  blockedAt: true,
  homeSchoolId: true,
  createdAt: true,
  affiliations: {
    select: {
      school: { select: { id: true, name: true, sortKey: true } },
      memberships: {
        select: {
          role: true,
          group: { select: { id: true, schoolId: true, name: true, status: true, sortKey: true } },
        },
      },
    },
  },
} satisfies Prisma.PersonSelect;

/** Sort keys are ASCII, so this is their order in the database. */
const bySortKey = (a: { sortKey: string; id: string }, b: { sortKey: string; id: string }): number => {
  const [left, right] = a.sortKey === b.sortKey ? [a.id, b.id] : [a.sortKey, b.sortKey];
  return left < right ? -1 : Number(left > right);
};

function presentPerson(found: Prisma.PersonGetPayload<{ select: typeof atSchools }>): Person {
  const { id, firstFull, firstCall, last, homeSchoolId, affiliations, ...rest } = found;
  const schools = affiliations.map(({ school }) => school).sort(bySortKey);
  const memberships = affiliations.flatMap((affiliation) => affiliation.memberships);
  const groups = memberships.map(({ role, group }) => ({ ...group, role })).sort(bySortKey);
  return {
    ...rest,
    id: id as PersonId,
    name: nameOf({ firstFull, firstCall, last }),
    homeSchoolId: homeSchoolId as SchoolId | null,
    schools: schools.map((school) => ({ id: school.id as SchoolId, name: school.name })),
    groups: groups.map(({ id: groupId, schoolId, name, status, role }) => ({
      id: groupId as GroupId,
      schoolId: schoolId as SchoolId,
      name,
      status,
      role,
    })),
  };
}

/** Null for a person who does not exist. */
export async function findPerson({ prisma }: RecordStore, personId: PersonId): Promise<Person | null> {
  const found = await prisma.person.findUnique({ where: { id: personId }, select: atSchools });
  return found && presentPerson(found);
}

/**
 * Which people: of every school that `among` names, of all schools if it is null.
 *
 * Shape:  `words` all stand in the names, source system identifier and user name; `search` is one text of these.
 */
export type PeopleOf = {
  schoolId?: SchoolId | undefined;
  among?: readonly SchoolId[] | null | undefined;
  groupId?: GroupId | undefined;
  status?: PersonStatus | undefined;
  role?: PersonRole | undefined;
  hasLogin?: boolean | undefined;
  words?: readonly string[] | undefined;
  /** At which homes people are found by their identifiers too; null for all. */
  identifiersOf?: readonly SchoolId[] | null | undefined;
  /** Only people of the staff who are at no school. */
  atNoSchool?: boolean | undefined;
};

const p = table("person", "p");
const a = table("affiliation", "a");
const c = table("credential", "c");
const lastPerson = table("person", "last_person");

const identifiersAt = (
  homes: SqlPart,
): Sql => sql`CASE WHEN ${homes}::uuid[] IS NULL OR ${p.homeSchoolId} = ANY (${homes}::uuid[])
      THEN concat_ws(' ', ${p.sourceSystemIdentifier}, (SELECT ${c.username} FROM ${c} WHERE ${c.personId} = ${p.id})) END`;

/** `rarest` is a pattern for a part of what is looked for, within one name or identifier. */
type People = Search & Required<PeopleOf> & { rarest: string | null };

const signIn = table("signIn");

const sandboxSchool = table("school", "sandbox_school");
// Asked once in a statement. People of the staff who are at no school are in none.
const isInSandbox = sql`(${p.homeSchoolId} = ANY (ARRAY(
      SELECT ${sandboxSchool.id} FROM ${sandboxSchool} WHERE ${sandboxSchool.sandboxId} IS NOT NULL))) IS TRUE`;

const lastSignInOf = (id: Sql): Sql =>
  sql`coalesce((SELECT max(${signIn.lastSignInAt}) FROM ${signIn} WHERE ${signIn.personId} = ${id}), '-infinity')`;

const peopleKeys: Record<PersonOrder, (of: { sortKey: Sql; createdAt: Sql; id: Sql }) => Sql> = {
  name: ({ sortKey }) => sortKey,
  "-name": ({ sortKey }) => sortKey,
  createdAt: ({ createdAt }) => createdAt,
  "-createdAt": ({ createdAt }) => createdAt,
  lastSignIn: ({ id }) => lastSignInOf(id),
  "-lastSignIn": ({ id }) => lastSignInOf(id),
};
const personPlace = (order: PersonOrder, of: typeof p) => ({ key: peopleKeys[order](of), id: of.id });

type Narrowed = "group" | "school" | "schools" | "text";
type OfPeople = { [Name in keyof People]-?: Parameter };

const named = table("person", "named");
const orNone = (text: Sql): Sql => sql`coalesce(${text}, '')`;
// Worded as its index is.
const textOfPerson = sql`lower(${orNone(named.firstFull)} || ' ' || ${orNone(named.firstCall)} || ' '
        || ${orNone(named.last)} || ' ' || ${orNone(named.sourceSystemIdentifier)})`;

// What narrows a search to few people is read first, whatever PostgreSQL believes of the tables: otherwise a rare name
// is looked for among all people.
const candidates: Record<Narrowed, (given: OfPeople) => Sql> = {
  group: ({ groupId }) => sql`SELECT ${m.personId} FROM ${m} WHERE ${m.groupId} = ${groupId}`,
  school: ({ schoolId }) => sql`SELECT ${a.personId} FROM ${a} WHERE ${a.schoolId} = ${schoolId}`,
  schools: ({ among }) => sql`SELECT ${a.personId} FROM ${a} WHERE ${a.schoolId} = ANY (${among}::uuid[])`,
  text: ({ rarest }) => sql`
      SELECT ${named.id} FROM ${named} WHERE ${textOfPerson} LIKE lower(${rarest})
      UNION ALL SELECT ${c.personId} FROM ${c} WHERE lower(${c.username}) LIKE lower(${rarest})`,
};

type Narrowing = Pick<People, "groupId" | "schoolId" | "among" | "rarest">;

function narrowedBy({ groupId, schoolId, among, rarest }: Narrowing): Narrowed | null {
  if (groupId !== undefined) return "group";
  if (schoolId !== undefined) return "school";
  if (among !== null) return "schools";
  return rarest === null ? null : "text";
}

/** The longest word of what is looked for, as a pattern; null without one that the index knows: of three characters. */
function findRarest(texts: readonly string[]): string | null {
  const words = texts.flatMap((text) => text.split(" ")).sort((x, y) => y.length - x.length);
  const [longest] = words;
  return longest === undefined || longest.length < 3 ? null : `%${longest.replace(/[\\%_]/g, "\\$&")}%`;
}

const searchPeople = (order: PersonOrder, narrowed: Narrowed | null) =>
  statement<People>((given) => {
    const { search, words, limit, after, schoolId, among, groupId, status, role, hasLogin, atNoSchool } = given;
    const identifiers = identifiersAt(given.identifiersOf);
    const isCandidate = narrowed && sql`${p.id} = ANY (ARRAY(${candidates[narrowed](given)})) AND `;
    return sql`
  SELECT ${fields<Found<PersonId>>({ id: p.id })} FROM ${p}
  WHERE ${isCandidate ?? empty}(CASE WHEN ${schoolId}::uuid IS NULL THEN NOT ${isInSandbox}
      ELSE EXISTS (SELECT FROM ${a} WHERE ${a.personId} = ${p.id} AND ${a.schoolId} = ${schoolId}) END)
    AND (${among}::uuid[] IS NULL
      OR EXISTS (SELECT FROM ${a} WHERE ${a.personId} = ${p.id} AND ${a.schoolId} = ANY (${among}::uuid[])))
    AND (NOT ${atNoSchool}::boolean OR ${p.homeSchoolId} IS NULL)
    AND (${groupId}::uuid IS NULL
      OR EXISTS (SELECT FROM ${m} WHERE ${m.personId} = ${p.id} AND ${m.groupId} = ${groupId}))
    AND (${status}::person_status IS NULL OR ${p.status} = ${status})
    AND (${role}::person_role IS NULL OR ${p.role} = ${role})
    AND (${hasLogin}::boolean IS NULL
      OR EXISTS (SELECT FROM ${c}
        WHERE ${c.personId} = ${p.id} AND ${c.passwordHash} IS NOT NULL) = ${hasLogin}::boolean)
    AND ${contains(sql`concat_ws(' ', ${p.firstFull}, ${p.last}, ${identifiers})`, search)}
    AND (${words}::text[] IS NULL OR NOT EXISTS (SELECT FROM unnest(${words}::text[]) AS word WHERE position(lower(word)
      IN lower(concat_ws(' ', ${p.firstFull}, ${p.firstCall}, ${p.last}, ${identifiers}))) = 0))
    AND ${isBehind(order, personPlace(order, p), { from: lastPerson, ...personPlace(order, lastPerson), after })}
  ${orderBy(order, personPlace(order, p))} LIMIT ${limit}`;
  });
const orders = Object.keys(peopleKeys) as PersonOrder[];
const searchesBy = (narrowed: Narrowed | null) =>
  new Map(orders.map((order) => [order, searchPeople(order, narrowed)]));
const peopleSearches = new Map(
  ([null, "group", "school", "schools", "text"] as const).map((by) => [by, searchesBy(by)]),
);

/**
 * People by name, or in another order; at a school, in one of its groups and of one status if these are given. Those of
 * a sandbox are found at their school only.
 */
export async function listPeople(
  db: Store,
  { search, limit, after, order = "name", ...of }: Part & PeopleOf & { order?: PersonOrder | undefined },
): Promise<Person[]> {
  const {
    schoolId,
    among = null,
    groupId,
    status,
    role,
    hasLogin,
    words,
    identifiersOf = null,
    atNoSchool = false,
  } = of;
  const given = searchOf({ search, limit, after });
  const names = words?.map((word) => word.normalize("NFC"));
  const rarest = findRarest([...(names ?? []), given.search ?? ""]);
  const narrowed = {
    schoolId,
    among,
    groupId,
    status,
    role,
    hasLogin,
    words: names,
    identifiersOf,
    atNoSchool,
    rarest,
  };
  const asked = { ...given, ...narrowed };
  const found = await findRows<Found<PersonId>, People>(
    db,
    peopleSearches.get(narrowedBy(narrowed))!.get(order)!,
    asked,
  );
  const where = { id: { in: found.map(({ id }) => id) } };
  return inOrder(found, await db.prisma.person.findMany({ where, select: atSchools })).map(presentPerson);
}

/** When a person was deleted for good; null for one who was not. */
export async function findTombstone({ prisma }: RecordStore, personId: PersonId): Promise<{ deletedAt: Date } | null> {
  return prisma.tombstone.findUnique({ where: { personId }, select: { deletedAt: true } });
}
