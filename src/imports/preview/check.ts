import type { SchoolId } from "../../directory/index.ts";
import { empty, findRows, insert, join, run, sql, statement, table, update } from "../../platform/database/sql.ts";
import type { Parameters, Part, Sql, Statement, Queryable, Table } from "../../platform/database/sql.ts";
import { isNamedAt } from "../difference/groups.ts";
import { firstOf, selectAmbiguous } from "../difference/people.ts";
import { roleOf, type KeyColumns, type ReadResult } from "../formats/format.ts";
import { isPerson, makeDeletion, maxFaults, staged } from "../formats/staging.ts";
import { a, g as group, p as known } from "../difference/tables.ts";

type CheckValues = {
  importId: string;
  file: string;
  field: string | undefined;
  code: string;
  most: number;
  schools: readonly SchoolId[];
  role: string | null;
};
type Values = Parameters<CheckValues>;

type Check = {
  code: string;
  locate: keyof typeof locations;
  findFaults: Statement<CheckValues>;
};

/** Where each kind of fault is: the file and its key column. */
const locations = {
  person: ({ person }: KeyColumns) => ({ file: person.file, field: person.person }),
  username: ({ person }: KeyColumns) => ({ file: person.file, field: "username" }),
  role: ({ role }: KeyColumns) => ({ file: role.file, field: role.person }),
  group: ({ group }: KeyColumns) => ({ file: group.file, field: group.group }),
  member: ({ membership }: KeyColumns) => ({ file: membership.file, field: membership.person }),
  groupOfMember: ({ membership, group }: KeyColumns) => ({
    file: membership.file,
    field: membership.group ?? group.group,
  }),
};

const { p, r, g, m, e } = staged;

/** `from` selects row, line and at (the column); `message` may refer to its columns as `found`. */
function makeCheck(
  code: string,
  { locate, message, from }: Pick<Check, "locate"> & { message: Sql; from(values: Values): Sql },
): Check {
  const findFaults = statement<CheckValues>(
    (values) => sql`
    WITH found AS MATERIALIZED (
      SELECT found.*, row_number() OVER (ORDER BY found.row) AS n, ${message} AS message
      FROM (${from(values)}) AS found),
    kept AS (
      ${insert(
        "importError",
        {
          importId: values.importId,
          row: sql`n + (SELECT coalesce(max(${e.row}), 0) FROM ${e} WHERE ${e.importId} = ${values.importId})`,
          file: values.file,
          line: sql`line`,
          column: sql`at`,
          field: values.field,
          code: values.code,
          message: sql`message`,
        },
        sql`FROM found WHERE n <= ${values.most}`,
      )})
    SELECT count(*)::int AS count FROM found`,
  );
  return { code, locate, findFaults };
}

/** Finds faults that only show in all rows together; returns the total with `readFaults`. */
export async function checkStaged(tx: Queryable, importId: string, read: ReadResult, readFaults: number) {
  const { keyColumns, schools, people } = read;
  let faults = readFaults;
  if (faults > maxFaults) return faults;
  for (const { code, locate, findFaults } of [
    // In other formats people without a role have a fault of their own.
    ...(keyColumns.role.file === keyColumns.person.file ? [] : roleChecks),
    ...rowChecks(read),
    ...(schools.size > 1 ? [ambiguous] : []),
  ]) {
    const values = {
      importId,
      ...locations[locate](keyColumns),
      code,
      most: Math.max(0, maxFaults - faults),
      schools: [...schools],
      role: roleOf(people),
    };
    const [row] = await findRows<{ count: number }, CheckValues>(tx, findFaults, values);
    faults += row!.count;
    if (code === "role_missing") for (const spread of spreadRoles) await run(tx, spread, values);
  }
  return faults;
}

const person = table("person");
const credential = table("credential");
const signIn = table("schoolSignIn");
const userName = table("userName");

/** SQL: the places of the staged rows of the import, for further conditions. */
const placesIn = (of: Table<"importId" | "row" | "line">, column: Sql, { importId }: Values) =>
  sql`SELECT ${join([of.row, of.line, column])} AS at FROM ${of} WHERE ${of.importId} = ${importId}`;

const isUser = ({ importId }: Values) =>
  sql`EXISTS (SELECT FROM ${p} WHERE ${p.importId} = ${importId} AND ${p.sourceId} = ${r.personSourceId})`;

const roleChecks: readonly Check[] = [
  makeCheck("unknown_person", {
    locate: "role",
    message: sql`'The user is not in users.csv.'`,
    from: (values) => sql`${placesIn(r, r.column, values)} AND NOT ${isUser(values)}`,
  }),
  makeCheck("role_missing", {
    locate: "person",
    message: sql`'The user has no role in roles.csv.'`,
    from: (values) => sql`${placesIn(p, p.column, values)} AND ${p.homeSchoolId} IS NULL AND NOT ${p.isDeleted}
        AND ${p.role} IS NULL AND NOT EXISTS (SELECT FROM ${r}
          WHERE ${r.importId} = ${values.importId} AND ${r.personSourceId} = ${p.sourceId} AND NOT ${r.isDeleted})
        AND NOT EXISTS (SELECT FROM ${e}
          WHERE ${e.importId} = ${values.importId} AND ${e.file} = ${values.file} AND ${e.line} = ${p.line})`,
  }),
];

const isSkipped = ({ importId }: { importId: Part }, personSourceId: Sql) => sql`EXISTS (SELECT FROM ${r}
  WHERE ${r.importId} = ${importId} AND ${r.personSourceId} = ${personSourceId} AND ${r.role} = 'SKIPPED')`;
type OfImport = { importId: string };
const deleteSkippedPeople = makeDeletion<OfImport>(
  p,
  (values) => sql`NOT ${p.isDeleted} AND ${p.homeSchoolId} IS NULL AND ${isSkipped(values, p.sourceId)}
    AND NOT EXISTS (SELECT FROM ${r} WHERE ${r.importId} = ${values.importId} AND ${r.personSourceId} = ${p.sourceId}
      AND ${r.role} <> 'SKIPPED' AND NOT ${r.isDeleted})`,
);
const deleteSkippedMemberships = makeDeletion<OfImport>(
  m,
  (values) => sql`${isSkipped(values, m.personSourceId)} AND NOT EXISTS (
    SELECT FROM ${p} WHERE ${p.importId} = ${values.importId} AND ${p.sourceId} = ${m.personSourceId})`,
);
const deleteSkippedRoles = makeDeletion<OfImport>(r, () => sql`${r.role} = 'SKIPPED'`);

/** Drops people who are only SKIPPED, their memberships, and this role of others; returns how many people. */
export async function dropSkipped(tx: Queryable, importId: string): Promise<number> {
  const skipped = await deleteSkippedPeople(tx, { importId });
  await deleteSkippedMemberships(tx, { importId });
  await deleteSkippedRoles(tx, { importId });
  return skipped;
}

/**
 * Copies roles to people: the primary role, else the first, belongs to the home school. Of the roles there, or of all
 * if none is primary, the one nearest to teaching counts: the last in alphabetical order.
 */
const spreadRoles: readonly Statement<CheckValues>[] = [
  statement(
    ({ importId }) => sql`
    ${update("stagedPerson", "p", { schoolId: sql`c.school_id`, homeSchoolId: sql`c.school_id`, role: sql`c.role` })}
    FROM (
      SELECT DISTINCT ON (${r.personSourceId}) ${r.personSourceId}, ${r.schoolId},
        max(${r.role}) FILTER (WHERE r.may_be_home) OVER (PARTITION BY ${r.personSourceId}) AS role
      FROM (
        SELECT r.*, bool_or(${r.isPrimary}) OVER (PARTITION BY ${r.personSourceId}, ${r.schoolId})
          = bool_or(${r.isPrimary}) OVER (PARTITION BY ${r.personSourceId}) AS may_be_home
        FROM ${r} WHERE ${r.importId} = ${importId} AND ${r.schoolId} IS NOT NULL AND NOT ${r.isDeleted}) AS r
      ORDER BY ${r.personSourceId}, ${r.isPrimary} DESC, ${r.row}) AS c
    WHERE ${p.importId} = ${importId} AND ${p.sourceId} = c.person_source_id AND ${p.homeSchoolId} IS NULL`,
  ),
  statement(({ importId }) =>
    insert(
      "stagedPerson",
      {
        ...p,
        // The table's first column, as DISTINCT ON needs.
        importId: firstOf(join([r.personSourceId, r.schoolId]), sql`${importId}::uuid`),
        row: r.row,
        schoolId: r.schoolId,
      },
      sql`FROM ${r} JOIN ${p} ON ${p.importId} = ${importId} AND ${p.sourceId} = ${r.personSourceId}
          AND ${p.homeSchoolId} <> ${r.schoolId}
        WHERE ${r.importId} = ${importId} AND NOT ${r.isDeleted}
        ORDER BY ${r.personSourceId}, ${r.schoolId}, ${r.row}`,
    ),
  ),
  statement(
    ({ importId, schools }) => sql`
    ${update("stagedPerson", "p", { schoolId: sql`c.home_school_id`, homeSchoolId: sql`c.home_school_id` })}
    FROM (
      SELECT ${person.sourceSystemIdentifier} AS source_id, min(${person.homeSchoolId}::text)::uuid AS home_school_id
      FROM ${person} WHERE ${person.homeSchoolId} = ANY (${schools}::uuid[])
        AND (${person.sourceIdIsShared} OR cardinality(${schools}::uuid[]) = 1)
      GROUP BY 1 HAVING count(*) = 1) AS c
    WHERE ${p.importId} = ${importId} AND ${p.homeSchoolId} IS NULL AND ${p.isDeleted} AND ${p.sourceId} = c.source_id`,
  ),
];

const s = { person: table("stagedPerson", "s"), group: table("stagedGroup", "s") };

/** SQL: rows whose `key` occurs in an earlier row; `first` is the line of the first one. */
const selectRepeated = (
  staged: typeof s.person | typeof s.group,
  { importId }: Values,
  { key, where }: { key: Sql; where: Sql },
) => sql`
  SELECT t.row, t.line, t."column" AS at, t.first FROM (
    SELECT ${staged.row}, ${staged.line}, ${staged.column}, row_number() OVER same AS n,
      first_value(${staged.line}) OVER same AS first
    FROM ${staged} WHERE ${staged.importId} = ${importId} AND ${where}
    WINDOW same AS (PARTITION BY ${key} ORDER BY ${staged.row})) AS t
  WHERE t.n > 1`;

const duplicateId = sql`'Duplicate id: already used in line ' || found.first || '.'`;

const idChecks: readonly Check[] = [
  makeCheck("id_twice", {
    locate: "person",
    message: duplicateId,
    from: (values) => {
      const { sourceId, schoolId, homeSchoolId } = s.person;
      const where = sql`${sourceId} <> '' AND ${isPerson(s.person)} AND ${schoolId} IS NOT DISTINCT FROM ${homeSchoolId}`;
      return selectRepeated(s.person, values, { key: sourceId, where });
    },
  }),
  makeCheck("id_twice", {
    locate: "group",
    message: duplicateId,
    from: (values) => selectRepeated(s.group, values, { key: s.group.sourceId, where: sql`${s.group.sourceId} <> ''` }),
  }),
  makeCheck("carried_over_twice", {
    locate: "group",
    message: sql`'The group in line ' || found.first || ' goes on from the same group.'`,
    from: (values) => {
      const { schoolId, previousSourceId } = s.group;
      const where = sql`${previousSourceId} IS NOT NULL`;
      return selectRepeated(s.group, values, { key: join([schoolId, previousSourceId]), where });
    },
  }),
];

/** SQL: the person of the directory whom the id of a staged one is. */
const isKnown = (schools: Part) => sql`${known.sourceSystemIdentifier} = ${s.person.sourceId}
  AND (${known.homeSchoolId} = ${s.person.homeSchoolId}
    OR ${known.sourceIdIsShared} AND ${known.homeSchoolId} = ANY (${schools}::uuid[]))`;

const getsUsername = sql`${s.person.schoolId} = ${s.person.homeSchoolId} AND NOT ${s.person.isDeleted}
  AND EXISTS (SELECT FROM ${signIn}
    WHERE ${signIn.schoolId} = ${s.person.homeSchoolId} AND ${signIn.userNameRule} = 'ROSTER')`;

/** Checks user names for people without one, at schools that take user names from the roster. */
const usernameChecks: readonly Check[] = [
  makeCheck("username_refused", {
    locate: "username",
    message: sql`'A user name has up to 64 characters that can be seen, and no white space.'`,
    from: (values) =>
      sql`${placesIn(s.person, sql`NULL::int`, values)} AND ${s.person.username} = '' AND ${getsUsername}`,
  }),
  makeCheck("username_twice", {
    locate: "username",
    message: sql`'Duplicate user name: already used in line ' || found.first || '.'`,
    from: (values) => {
      const { username } = s.person;
      const where = sql`${username} <> '' AND ${getsUsername}`;
      const repeated = selectRepeated(s.person, values, { key: username, where });
      return sql`SELECT r.row, r.line, NULL::int AS at, r.first FROM (${repeated}) AS r`;
    },
  }),
  makeCheck("username_taken", {
    locate: "username",
    message: sql`'The user name is or was that of another person.'`,
    from: (values) => sql`SELECT ${join([s.person.row, s.person.line])}, NULL::int AS at FROM ${s.person}
      LEFT JOIN ${known} ON ${isKnown(values.schools)}
      WHERE ${s.person.importId} = ${values.importId} AND ${s.person.username} <> '' AND ${getsUsername}
        AND NOT EXISTS (SELECT FROM ${credential} WHERE ${credential.personId} = ${known.id})
        AND EXISTS (SELECT FROM ${userName} WHERE ${userName.hash} = user_name_hash(${s.person.username})
          AND ${userName.personId} IS DISTINCT FROM ${known.id})`,
  }),
];

const isAtHome = sql`${s.person.schoolId} = ${s.person.homeSchoolId}`;

/** For files of all students, or all teachers. */
const listedRoleChecks: readonly Check[] = [
  makeCheck("role_not_listed", {
    locate: "person",
    message: sql`'The file is said to list people of one role, and this person has another one.'`,
    from: (values) => sql`${placesIn(s.person, s.person.column, values)} AND ${isAtHome}
      AND ${s.person.role} <> ${values.role}`,
  }),
  makeCheck("id_of_other_role", {
    locate: "person",
    message: sql`'The id is that of somebody who has another role at the school than the people of this file.'`,
    from: ({ importId, schools, role }) => sql`SELECT ${join([s.person.row, s.person.line, s.person.column])} AS at
      FROM ${s.person} JOIN ${known} ON ${isKnown(schools)}
      WHERE ${s.person.importId} = ${importId} AND ${isAtHome}
        AND (${s.person.role} IS NULL OR ${s.person.role} = ${role}) AND ${known.role}::text <> ${role}
      GROUP BY 1, 2, 3`,
  }),
];

const isPersonOfFiles = ({ importId }: Values, where: Sql = sql`true`) => sql`EXISTS (SELECT FROM ${p}
  WHERE ${p.importId} = ${importId} AND ${p.sourceId} = ${m.personSourceId} AND ${where})`;
const isGroupOfFiles = ({ importId }: Values) =>
  sql`EXISTS (SELECT FROM ${g} WHERE ${g.importId} = ${importId} AND ${g.sourceId} = ${m.groupSourceId})`;
const isPersonOfSchool = sql`EXISTS (SELECT FROM ${known} JOIN ${a} ON ${a.personId} = ${known.id}
  WHERE ${a.schoolId} = ${m.schoolId} AND ${known.sourceSystemIdentifier} = ${m.personSourceId}
    AND ${isNamedAt(known, m.schoolId)})`;
const isGroupOfSchool = sql`EXISTS (SELECT FROM ${group}
  WHERE ${group.schoolId} = ${m.schoolId} AND ${group.sourceSystemIdentifier} = ${m.groupSourceId})`;

const isKept = ({ importId }: Values) => sql`${m.importId} = ${importId} AND NOT ${m.isDeleted}`;

/** Files that do not list all people or all groups may refer to people and groups that only the directory has. */
const membershipChecks = ({
  listsPeople,
  listsGroups,
}: Record<"listsPeople" | "listsGroups", boolean>): readonly Check[] => [
  makeCheck("unknown_person", {
    locate: "member",
    message: sql`'There is no such person in the files or at the school.'`,
    from: (values) => sql`SELECT ${join([m.row, m.line, m.personColumn])} AS at FROM ${m}
      WHERE ${isKept(values)} AND ${m.personSourceId} <> '' AND NOT ${isPersonOfFiles(values)}
      ${listsPeople ? empty : sql`AND NOT ${isPersonOfSchool}`}`,
  }),
  makeCheck("person_not_at_school", {
    locate: "member",
    message: sql`'The person is not at the school of the group.'`,
    from: (values) => sql`SELECT ${join([m.row, m.line, m.personColumn])} AS at FROM ${m}
      WHERE ${isKept(values)} AND ${m.schoolId} IS NOT NULL AND ${isPersonOfFiles(values, sql`NOT ${p.isDeleted}`)}
        AND NOT ${isPersonOfFiles(values, sql`(${p.schoolId} = ${m.schoolId} OR ${p.schoolId} IS NULL)`)}`,
  }),
  makeCheck("unknown_group", {
    locate: "groupOfMember",
    message: sql`'There is no such group in the files or at the school.'`,
    from: (values) => sql`SELECT ${join([m.row, m.line, m.groupColumn])} AS at FROM ${m}
      WHERE ${isKept(values)} AND ${m.groupSourceId} <> '' AND NOT ${isGroupOfFiles(values)}
      ${listsGroups ? empty : sql`AND NOT ${isGroupOfSchool}`}`,
  }),
  makeCheck("group_of_other_school", {
    locate: "groupOfMember",
    message: sql`'The group is one of another school.'`,
    from: (values) => sql`SELECT ${join([m.row, m.line, m.groupColumn])} AS at FROM ${g}
      JOIN ${m} ON ${isKept(values)} AND ${m.groupSourceId} = ${g.sourceId} AND ${m.schoolId} <> ${g.schoolId}
      WHERE ${g.importId} = ${values.importId}`,
  }),
];

const rowChecks = ({ mode, people, speaksOf }: ReadResult): readonly Check[] => {
  const listsPeople = mode === "BULK" && people === "ALL";
  return [
    ...idChecks,
    ...(people === "ALL" ? [] : listedRoleChecks),
    ...usernameChecks,
    ...membershipChecks({ listsPeople, listsGroups: listsPeople && speaksOf.includes("GROUP") }),
  ];
};

const ambiguous = makeCheck("id_ambiguous", {
  locate: "person",
  message: sql`'The id fits two people: one at another school of the files, and one at this school who has it from '
    || 'a roster of this school alone. Give one of them another id, or none.'`,
  from: (values) => selectAmbiguous(values),
});
