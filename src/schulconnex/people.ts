import {
  groupIsShown,
  peopleSortKey,
  readTable,
  schoolIsShown,
  shownSchools,
  type PeopleOrder,
} from "../access/index.ts";
import { exists, lookUp } from "../platform/database/lookup-sql.ts";
import { literal, sql, table, type Sql, type Value } from "../platform/database/sql.ts";

const p = readTable("person", "p");
const g = table("group", "g");
const a = readTable("affiliation", "a");

/**
 * Where a list finds its people, in their order.
 *
 * Shape: `from` is a FROM that binds `p` (person), to be continued with WHERE; `sortKey` and `id` are its order.
 */
export type People = { before?: Sql; from: Sql; sortKey: Sql; id: Sql; comesInOrder?: boolean };

type Filter = {
  people: (client: Value, value: Value, order: PeopleOrder) => People;
  /** The filter as a condition on `p`. */
  holds: (client: Value, value: Value) => Sql;
  /** The schools through which it finds people, for the version of the list. */
  schools: (value: Value) => Sql;
};

const keyOf = (order: PeopleOrder) => peopleSortKey(order, p, p.id);
const person = (id: Sql) => lookUp("person", "p", sql`${p.id} = ${id}`);

// What the filters look through.
const at = readTable("affiliation", "f");
const inside = table("membership", "f");
const group = table("group", "f");
const other = readTable("affiliation", "o");

const isContext = (client: Value, value: Value) => sql`${at.id} = ${value} AND ${schoolIsShown(client, at.schoolId)}`;
const isAtSchool = (client: Value, value: Value) => sql`${at.schoolId} = ${value} AND ${schoolIsShown(client, value)}`;
const shownGroup = (client: Value, value: Value) =>
  exists(sql`${g} WHERE ${g.id} = ${value} AND ${groupIsShown(client, g)}`);
const listed = { sortKey: sql`listed.sort_key`, id: sql`listed.id` };

/** Only what the app sees counts: a filter by a group that it does not see matches nobody. Narrowest first. */
export const filters = {
  pid: {
    people: (_client, value, order) => ({
      from: sql`(SELECT ${value}::uuid AS id) AS f ${person(sql`f.id`)}`,
      sortKey: keyOf(order),
      id: p.id,
    }),
    holds: (_client, value) => sql`${p.id} = ${value}`,
    schools: (value) => sql`SELECT ${at.schoolId} FROM ${at} WHERE ${at.personId} = ${value}`,
  },
  "personenkontext.id": {
    people: (client, value, order) => ({
      from: sql`(
        SELECT ${at.personId} FROM ${at} WHERE ${isContext(client, value)} OFFSET 0) AS f ${person(at.personId)}`,
      sortKey: keyOf(order),
      id: p.id,
    }),
    holds: (client, value) => exists(sql`${at} WHERE ${at.personId} = ${p.id} AND ${isContext(client, value)}`),
    schools: (value) => sql`
      SELECT ${other.schoolId}
      FROM ${at} ${lookUp("affiliation", "o", sql`${other.personId} = ${at.personId}`)} WHERE ${at.id} = ${value}`,
  },
  "gruppe.id": {
    // Sort keys and ids are sorted; the records are read one by one in that order.
    people: (client, value, order) => ({
      from: sql`(
        SELECT ${keyOf(order)} AS sort_key, ${p.id} FROM ${inside} ${person(inside.personId)}
        WHERE ${inside.groupId} = ${value} AND ${shownGroup(client, value)}
        ORDER BY 1, 2 OFFSET 0) AS listed ${person(listed.id)}`,
      ...listed,
    }),
    holds: (client, value) => sql`${shownGroup(client, value)}
      AND ${exists(sql`${inside} WHERE ${inside.groupId} = ${value} AND ${inside.personId} = ${p.id}`)}`,
    schools: (value) => sql`SELECT ${group.schoolId} FROM ${group} WHERE ${group.id} = ${value}`,
  },
  "organisation.id": {
    people: (client, value, order) => ({
      from: sql`(
        SELECT ${peopleSortKey(order, at, at.personId)} AS sort_key, ${at.personId} FROM ${at}
        WHERE ${isAtSchool(client, value)}
        ORDER BY 1, 2 OFFSET 0) AS listed ${person(sql`listed.person_id`)}`,
      sortKey: listed.sortKey,
      id: sql`listed.person_id`,
    }),
    holds: (client, value) => exists(sql`${at} WHERE ${at.personId} = ${p.id} AND ${isAtSchool(client, value)}`),
    schools: (value) => sql`SELECT ${value}::uuid`,
  },
} satisfies Record<string, Filter>;

export type FilterName = keyof typeof filters;
export const filterNames = Object.keys(filters) as FilterName[];

const sampledRows = 5000;
const sampledPerRange = 40;
// The first ranges are small, so that the first people come at once.
const firstBounds = sql`1, 5`;
// Behind every sort key: the last code point there is.
const behindAll = sql`chr(1114111)`;
const [firstId, lastId] = ["0", "f"].map((digit) =>
  literal("00000000-0000-0000-0000-000000000000".replaceAll("0", digit)),
);
const ofPeople = sql`${peopleSortKey("name", a, a.personId)}, ${a.personId}`;

/**
 * Everybody at the schools that sync to the app. Their order is cut into ranges of about the same size, by a sample of
 * some of the schools; range by range, the index of each school gives its people in it, and only these are sorted. So
 * the first people come at once and memory does not grow, however many there are.
 */
const allByName = (client: Value): People => ({
  before: sql`
    WITH shown AS MATERIALIZED (${shownSchools(client)}),
    sampled AS MATERIALIZED (
      SELECT ${ofPeople}, row_number() OVER (ORDER BY ${ofPeople}) AS place
      FROM (
        SELECT ${ofPeople} FROM shown ${lookUp("affiliation", "a", sql`${a.schoolId} = shown.school_id`)}
        LIMIT ${sampledRows}) AS a),
    range AS MATERIALIZED (
      SELECT sort_key, person_id, lead(sort_key, 1, ${behindAll}) OVER in_order AS next_key,
        lead(person_id, 1, ${lastId!}) OVER in_order AS next_id
      FROM (
        SELECT '' COLLATE "C" AS sort_key, ${firstId!}::uuid AS person_id
        UNION ALL SELECT sort_key, person_id FROM sampled
          WHERE place % ${sampledPerRange} = 0 OR place IN (${firstBounds})) AS bounds
      WINDOW in_order AS (ORDER BY sort_key, person_id))`,
  // Range after range, and each in its order: every join looks up what belongs to the row before it.
  from: sql`range CROSS JOIN LATERAL (
      SELECT DISTINCT ${ofPeople} FROM shown CROSS JOIN LATERAL (
        SELECT ${ofPeople} FROM ${a}
        WHERE ${a.schoolId} = shown.school_id AND (${ofPeople}) >= (range.sort_key, range.person_id)
          AND (${ofPeople}) < (range.next_key, range.next_id) OFFSET 0) AS a
      ORDER BY ${ofPeople} OFFSET 0) AS listed ${person(sql`listed.person_id`)}`,
  sortKey: listed.sortKey,
  id: sql`listed.person_id`,
  comesInOrder: true,
});

/** The same in the order of ids, which are sorted as a whole; records are read one by one. */
const allById = (client: Value): People => ({
  from: sql`(
    SELECT DISTINCT ${peopleSortKey("id", a, a.personId)} AS sort_key, ${a.personId}
    FROM (${shownSchools(client)}) AS shown ${lookUp("affiliation", "a", sql`${a.schoolId} = shown.school_id`)}
    ORDER BY 1, 2 OFFSET 0) AS listed ${person(sql`listed.person_id`)}`,
  sortKey: listed.sortKey,
  id: sql`listed.person_id`,
  comesInOrder: true,
});

export const allPeople = { name: allByName, id: allById } satisfies Record<PeopleOrder, unknown>;
