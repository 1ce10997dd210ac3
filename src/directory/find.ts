import type { Prisma } from "../../generated/prisma/client.ts";
import type { RecordStore, Store } from "../platform/database/db.ts";
import { isInSignInState, type SignInState } from "./sign-in-state.ts";
import { empty, findRows, searched, sql, statement, table } from "../platform/database/sql.ts";
import type { Parameter, Part as SqlPart, Sql, Statement } from "../platform/database/sql.ts";
import type { GroupType } from "./group.ts";
import type { GroupId, PersonId, SchoolId } from "./ids.ts";
import { personNameOf, type PersonName, type PersonRole } from "./person.ts";
import { isAfter, orderBy, type PeopleSort, type SortOrder } from "./order.ts";
import type { School } from "./school.ts";
import type { GroupStatus, PersonStatus } from "./transitions.ts";

type Page = { search?: string | undefined; limit: number; after?: string | undefined };

export async function findSchool({ prisma }: RecordStore, schoolId: SchoolId): Promise<School | null> {
  const school = await prisma.school.findUnique({ where: { id: schoolId } });
  return school && presentSchool(school);
}

function presentSchool(record: Prisma.SchoolModel): School {
  const { id, sortKey: _key, sandboxId: _sandbox, createdAt: _created, updatedAt: _updated, ...written } = record;
  const { address, addressAddition, city, zipCode, country, state, ...rest } = written;
  const parts = { address: { address, addressAddition, city, zipCode }, location: { country, state } };
  return { id: id as SchoolId, ...rest, ...parts };
}

// Prisma Client cannot search several columns together and treats % and _ as wildcards, so named SQL finds the ids.

type Search = { search: string | undefined; limit: number; after: string | undefined };

const searchOf = ({ search, limit, after }: Page): Search => ({ search: search?.normalize("NFC"), limit, after });

const contains = (text: Sql, search: SqlPart): Sql =>
  sql`(${search}::text IS NULL OR position(${searched(search)} IN ${searched(text)}) > 0)`;

/** Runs a statement that finds ids, and reads their records in its order. */
async function listInOrder<Params extends object, Row extends { id: string }>(
  db: Store,
  { find, params }: { find: Statement<Params>; params: Params },
  read: (where: { id: { in: string[] } }) => Promise<Row[]>,
): Promise<Row[]> {
  const ids = (await findRows<{ id: string }, Params>(db, find, params)).map(({ id }) => id);
  const byId = new Map((await read({ id: { in: ids } })).map((record) => [record.id, record]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

const s = table("school", "s");
const lastSchool = table("school", "last_school");

const schoolPosition = { key: s.sortKey, id: s.id };
const searchSchools = (order: SortOrder) =>
  statement<Search & { among: readonly SchoolId[] | null }>(
    ({ search, limit, after, among }) => sql`
  SELECT ${s.id} FROM ${s}
  WHERE ${contains(sql`${s.name} || ' ' || ${s.city} || ' ' || ${s.officialId}`, search)}
    AND (${among}::uuid[] IS NULL OR ${s.id} = ANY (${among}::uuid[])) AND ${s.sandboxId} IS NULL
    AND ${isAfter(order, schoolPosition, { from: lastSchool, key: lastSchool.sortKey, id: lastSchool.id, after })}
  ${orderBy(order, schoolPosition)} LIMIT ${limit}`,
  );
const schoolSearches = { asc: searchSchools("asc"), desc: searchSchools("desc") };

export async function listSchools(
  db: Store,
  { among, order = "asc", ...page }: Page & { among?: readonly SchoolId[] | undefined; order?: SortOrder | undefined },
): Promise<School[]> {
  const search = { find: schoolSearches[order], params: { ...searchOf(page), among: among ?? null } };
  return (await listInOrder(db, search, (where) => db.prisma.school.findMany({ where }))).map(presentSchool);
}

const withMembers = {
  id: true,
  schoolId: true,
  name: true,
  type: true,
  status: true,
  sourceSystemIdentifier: true,
  _count: { select: { memberships: true } },
} satisfies Prisma.GroupSelect;

type GroupRow = Prisma.GroupGetPayload<{ select: typeof withMembers }>;
export type Group = Omit<GroupRow, "_count"> & { id: GroupId; schoolId: SchoolId; members: number };

const presentGroup = ({ _count, ...group }: GroupRow): Group => ({
  ...group,
  id: group.id as GroupId,
  schoolId: group.schoolId as SchoolId,
  members: _count.memberships,
});

export async function findGroup({ prisma }: RecordStore, groupId: GroupId): Promise<Group | null> {
  const group = await prisma.group.findUnique({ where: { id: groupId }, select: withMembers });
  return group && presentGroup(group);
}

type GroupFilter = {
  schoolId: SchoolId;
  withDeleted: boolean;
  type?: GroupType | undefined;
  taughtBy?: PersonId | undefined;
  byIdentifier?: boolean | undefined;
};

const g = table("group", "g");
const lastGroup = table("group", "last_group");

const m = table("membership", "m");

const groupText = (byIdentifier: SqlPart): Sql =>
  sql`concat_ws(' ', ${g.name}, CASE WHEN ${byIdentifier}::boolean THEN ${g.sourceSystemIdentifier} END)`;

const groupPosition = { key: g.naturalKey, id: g.id };
const searchGroups = (order: SortOrder) =>
  statement<Search & GroupFilter>(
    ({ search, limit, after, schoolId, withDeleted, type, taughtBy, byIdentifier }) => sql`
  SELECT ${g.id} FROM ${g}
  WHERE ${g.schoolId} = ${schoolId} AND (${withDeleted} OR ${g.status} = 'ACTIVE')
    AND (${type}::group_type IS NULL OR ${g.type} = ${type})
    AND ${contains(groupText(byIdentifier), search)}
    AND (${taughtBy}::uuid IS NULL OR EXISTS (SELECT FROM ${m}
      WHERE ${m.groupId} = ${g.id} AND ${m.personId} = ${taughtBy} AND ${m.role} = 'TEACHER'))
    AND ${isAfter(order, groupPosition, { from: lastGroup, key: lastGroup.naturalKey, id: lastGroup.id, after })}
  ${orderBy(order, groupPosition)} LIMIT ${limit}`,
  );
const groupSearches = { asc: searchGroups("asc"), desc: searchGroups("desc") };

export async function listGroups(
  db: Store,
  { search, limit, after, order = "asc", ...filter }: Page & GroupFilter & { order?: SortOrder | undefined },
): Promise<Group[]> {
  const params = { ...filter, ...searchOf({ search, limit, after }) };
  const read = (where: Prisma.GroupWhereInput) => db.prisma.group.findMany({ where, select: withMembers });
  return (await listInOrder(db, { find: groupSearches[order], params }, read)).map(presentGroup);
}

const mostNamedGroups = 20;

export const listGroupsCalled = ({ prisma }: RecordStore, { name }: { name: string }) =>
  prisma.group.findMany({
    where: { name: name.normalize("NFC") },
    select: { id: true, status: true, school: { select: { name: true, officialId: true } } },
    orderBy: [{ school: { sortKey: "asc" } }, { id: "asc" }],
    take: mostNamedGroups,
  });

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
  leftAt: true,
  blockedAt: true,
  homeSchoolId: true,
  createdAt: true,
  affiliations: {
    select: {
      school: { select: { id: true, name: true, sortKey: true } },
      memberships: {
        select: {
          role: true,
          group: { select: { id: true, schoolId: true, name: true, status: true, naturalKey: true } },
        },
      },
    },
  },
} satisfies Prisma.PersonSelect;

type Sorted = { id: string; key: string };

const byKey = (a: Sorted, b: Sorted): number => {
  const [left, right] = a.key === b.key ? [a.id, b.id] : [a.key, b.key];
  return left < right ? -1 : Number(left > right);
};

type PersonRow = Prisma.PersonGetPayload<{ select: typeof atSchools }>;
export type Person = Omit<PersonRow, keyof PersonName | "affiliations"> & {
  id: PersonId;
  name: PersonName | null;
  homeSchoolId: SchoolId | null;
  schools: { id: SchoolId; name: string }[];
  groups: { id: GroupId; schoolId: SchoolId; name: string; status: GroupStatus; role: PersonRole }[];
};

function presentPerson(person: PersonRow): Person {
  const { id, firstFull, firstCall, last, homeSchoolId, affiliations, ...rest } = person;
  const schools = affiliations.map(({ school }) => ({ ...school, key: school.sortKey })).sort(byKey);
  const memberships = affiliations.flatMap((affiliation) => affiliation.memberships);
  const groups = memberships.map(({ role, group }) => ({ ...group, role, key: group.naturalKey })).sort(byKey);
  return {
    ...rest,
    id: id as PersonId,
    name: personNameOf({ firstFull, firstCall, last }),
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

export async function findPerson({ prisma }: RecordStore, personId: PersonId): Promise<Person | null> {
  const person = await prisma.person.findUnique({ where: { id: personId }, select: atSchools });
  return person && presentPerson(person);
}

/**
 * `among` limits people to these schools; null means all. Each of `words` must occur in the names, the source system
 * identifier or the user name; `search` is one text of these.
 */
type PeopleFilter = {
  personId?: PersonId | undefined;
  schoolId?: SchoolId | undefined;
  among?: readonly SchoolId[] | null | undefined;
  groupId?: GroupId | undefined;
  status?: PersonStatus | undefined;
  role?: PersonRole | undefined;
  hasLogin?: boolean | undefined;
  signIn?: { state: SignInState; homeSchoolId: SchoolId } | undefined;
  /** Only people who were soft-deleted at this time or later. */
  leftSince?: Date | undefined;
  words?: readonly string[] | undefined;
  /** Home schools whose people are also found by identifier; null for all. */
  identifiersOf?: readonly SchoolId[] | null | undefined;
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

type People = Search &
  Omit<PeopleFilter, "signIn"> & {
    rarest: string | null;
    signInState: SignInState | undefined;
    signInHome: SchoolId | undefined;
  };

const signedIn = table("signIn");

const sandboxSchool = table("school", "sandbox_school");
// Evaluated once per statement. Staff at no school have a null home.
const isInSandbox = sql`(${p.homeSchoolId} = ANY (ARRAY(
      SELECT ${sandboxSchool.id} FROM ${sandboxSchool} WHERE ${sandboxSchool.sandboxId} IS NOT NULL))) IS TRUE`;

const lastSignInOf = (id: Sql): Sql =>
  sql`coalesce((SELECT max(${signedIn.lastSignInAt}) FROM ${signedIn} WHERE ${signedIn.personId} = ${id}), '-infinity')`;

const peopleKeys: Record<PeopleSort, (of: { sortKey: Sql; createdAt: Sql; id: Sql }) => Sql> = {
  name: ({ sortKey }) => sortKey,
  createdAt: ({ createdAt }) => createdAt,
  lastSignIn: ({ id }) => lastSignInOf(id),
};
const personPosition = (sort: PeopleSort, of: typeof p) => ({ key: peopleKeys[sort](of), id: of.id });

type Narrowing = "person" | "group" | "school" | "schools" | "text";

const named = table("person", "named");
const orNone = (text: Sql): Sql => sql`coalesce(${text}, '')`;
// The same expression as the index.
const textOfPerson = sql`lower(${orNone(named.firstFull)} || ' ' || ${orNone(named.firstCall)} || ' '
        || ${orNone(named.last)} || ' ' || ${orNone(named.sourceSystemIdentifier)})`;

// Reads what narrows the search most first, whatever PostgreSQL estimates: otherwise it scans all people for a rare
// name.
const candidates: Record<Narrowing, (params: { [Name in keyof People]-?: Parameter }) => Sql> = {
  person: ({ personId }) => sql`SELECT ${personId}::uuid`,
  group: ({ groupId }) => sql`SELECT ${m.personId} FROM ${m} WHERE ${m.groupId} = ${groupId}`,
  school: ({ schoolId }) => sql`SELECT ${a.personId} FROM ${a} WHERE ${a.schoolId} = ${schoolId}`,
  schools: ({ among }) => sql`SELECT ${a.personId} FROM ${a} WHERE ${a.schoolId} = ANY (${among}::uuid[])`,
  text: ({ rarest }) => sql`
      SELECT ${named.id} FROM ${named} WHERE ${textOfPerson} LIKE lower(${rarest})
      UNION ALL SELECT ${c.personId} FROM ${c} WHERE lower(${c.username}) LIKE lower(${rarest})`,
};

/** Reading everybody of 300 schools takes seconds; the trigram index finds a rare name in milliseconds. */
const mostSchoolsRead = 50;

function narrowingOf({ personId, groupId, schoolId, among, rarest }: People): Narrowing | null {
  if (personId !== undefined) return "person";
  if (groupId !== undefined) return "group";
  if (schoolId !== undefined) return "school";
  if (among && (rarest === null || among.length <= mostSchoolsRead)) return "schools";
  return rarest === null ? null : "text";
}

/** A pattern for the longest word; null below three characters, which the trigram index cannot find. */
function findRarest(texts: readonly string[]): string | null {
  const words = texts.flatMap((text) => text.split(" ")).sort((x, y) => y.length - x.length);
  const [longest] = words;
  if (longest === undefined || longest.length < 3) return null;
  const pattern = longest.replace(/[\\%_]/g, "\\$&").replace(/ß|ss/gi, "%");
  return `%${pattern.replace(/[ıİłøđ’‘ʼʻʹ´`']/gi, "_")}%`;
}

const searchPeople = (sort: PeopleSort, order: SortOrder, narrowing: Narrowing | null) =>
  statement<People>((params) => {
    const { search, words, limit, after, schoolId, among, groupId, status, role, hasLogin, atNoSchool } = params;
    const { signInState, signInHome, leftSince } = params;
    const identifiers = identifiersAt(params.identifiersOf);
    const isCandidate = narrowing && sql`${p.id} = ANY (ARRAY(${candidates[narrowing](params)})) AND `;
    return sql`
  SELECT ${p.id} FROM ${p}
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
    AND (${signInState}::text IS NULL OR ${p.homeSchoolId} = ${signInHome} AND CASE ${signInState}
      WHEN 'IMPOSSIBLE' THEN ${isInSignInState.IMPOSSIBLE(p)} ELSE ${isInSignInState.NEVER(p)} END)
    AND (${leftSince}::timestamptz IS NULL OR ${p.softDeletedAt} >= ${leftSince})
    AND ${contains(sql`concat_ws(' ', ${p.firstFull}, ${p.last}, ${identifiers})`, search)}
    AND (${words}::text[] IS NULL OR NOT EXISTS (SELECT FROM unnest(${words}::text[]) AS word WHERE position(${searched(sql`word`)}
      IN ${searched(sql`concat_ws(' ', ${p.firstFull}, ${p.firstCall}, ${p.last}, ${identifiers})`)}) = 0))
    AND ${isAfter(order, personPosition(sort, p), { from: lastPerson, ...personPosition(sort, lastPerson), after })}
  ${orderBy(order, personPosition(sort, p))} LIMIT ${limit}`;
  });
const sorts = Object.keys(peopleKeys) as PeopleSort[];
const searchesBy = (narrowing: Narrowing | null) =>
  new Map(
    sorts.map((sort) => [
      sort,
      { asc: searchPeople(sort, "asc", narrowing), desc: searchPeople(sort, "desc", narrowing) },
    ]),
  );
const peopleSearches = new Map(
  ([null, "person", "group", "school", "schools", "text"] as const).map((by) => [by, searchesBy(by)]),
);

export async function listPeople(
  db: Store,
  {
    search,
    limit,
    after,
    sort = "name",
    order = "asc",
    signIn,
    ...filter
  }: Page & PeopleFilter & { sort?: PeopleSort | undefined; order?: SortOrder | undefined },
): Promise<Person[]> {
  const texts = searchOf({ search, limit, after });
  const words = filter.words?.map((word) => word.normalize("NFC"));
  const query: People = {
    ...filter,
    ...texts,
    words,
    rarest: findRarest([...(words ?? []), texts.search ?? ""]),
    signInState: signIn?.state,
    signInHome: signIn?.homeSchoolId,
    atNoSchool: filter.atNoSchool ?? false,
  };
  const find = peopleSearches.get(narrowingOf(query))!.get(sort)![order];
  const read = (where: Prisma.PersonWhereInput) => db.prisma.person.findMany({ where, select: atSchools });
  return (await listInOrder(db, { find, params: query }, read)).map(presentPerson);
}
