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

/** `from` is a FROM clause that binds `p` (person); `sortKey` and `id` are the order. */
export type People = { before?: Sql; from: Sql; sortKey: Sql; id: Sql; comesInOrder?: boolean };

type Filter = {
  people: (client: Value, value: Value, order: PeopleOrder) => People;
  holds: (client: Value, value: Value) => Sql;
  /** Schools that the filter reads, for the version of the list. */
  schools: (value: Value) => Sql;
};

const keyOf = (order: PeopleOrder) => peopleSortKey(order, p, p.id);
const person = (id: Sql) => lookUp("person", "p", sql`${p.id} = ${id}`);

const at = readTable("affiliation", "f");
const inside = table("membership", "f");
const group = table("group", "f");
const other = readTable("affiliation", "o");

const isContext = (client: Value, value: Value) => sql`${at.id} = ${value} AND ${schoolIsShown(client, at.schoolId)}`;
const isAtSchool = (client: Value, value: Value) => sql`${at.schoolId} = ${value} AND ${schoolIsShown(client, value)}`;
const shownGroup = (client: Value, value: Value) =>
  exists(sql`${g} WHERE ${g.id} = ${value} AND ${groupIsShown(client, g)}`);
const listed = { sortKey: sql`listed.sort_key`, id: sql`listed.id` };

/** Narrowest first. Filters only see what the app sees: a hidden group or school matches nobody. */
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
    // Sorts keys and ids only; the records are then read one by one.
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
const firstBounds = sql`1, 5`;
const behindAll = sql`chr(1114111)`;
const [firstId, lastId] = ["0", "f"].map((digit) =>
  literal("00000000-0000-0000-0000-000000000000".replaceAll("0", digit)),
);
const ofPeople = sql`${peopleSortKey("name", a, a.personId)}, ${a.personId}`;

/** Ranges of similar size, each sorted by itself: the first people come soon, and memory does not grow. */
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
  // One range at a time, each sorted; LATERAL and OFFSET 0 keep PostgreSQL from joining in another order.
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
