import {
  appIds,
  groupIsShown,
  peopleInOrder,
  peopleOrder,
  readTable,
  schoolIsShown,
  shownSchools,
  type IdKind,
  type PeopleOrder,
} from "../access/index.ts";
import { literal, sql, table, type Sql, type Value, exists, lookUp } from "../platform/database/sql.ts";

const p = readTable("person", "p");
const g = table("group", "g");
const a = readTable("affiliation", "a");

/** `from` is a FROM clause that binds `p` (person); `sortKey` and `id`, the app's id of the person, are the order. */
type People = { before?: Sql; from: Sql; sortKey: Sql; id: Sql; comesInOrder?: boolean };

type Filter = {
  people: (client: Value, value: Value, order: PeopleOrder) => People;
  holds: (client: Value, value: Value, kind: IdKind) => Sql;
  /** Schools that the filter reads, for the version of the list. */
  schools: (client: Value, value: Value, kind: IdKind) => Sql;
};

const person = (id: Sql) => lookUp("person", "p", sql`${p.id} = ${id}`);

const at = readTable("affiliation", "f");
const inside = table("membership", "f");
const group = table("group", "f");
const other = readTable("affiliation", "o");

const isContext = (client: Value, value: Value, kind: IdKind) =>
  sql`${at.id} = ${appIds[kind].recordOf(client, value)} AND ${schoolIsShown(client, at.schoolId)}`;
const isAtSchool = (client: Value, value: Value) => sql`${at.schoolId} = ${value} AND ${schoolIsShown(client, value)}`;
const shownGroup = (client: Value, value: Value) =>
  exists(sql`${g} WHERE ${g.id} = ${value} AND ${groupIsShown(client, g)}`);

const columns = ({ sortKey, id }: { sortKey: Sql; id: Sql }, personId: Sql) =>
  sql`${sortKey} AS sort_key, ${id} AS app_id, ${personId} AS person_id`;
/** Sorts keys and ids only; the records are then read one by one. */
const listed = (from: Sql) => ({
  from: sql`(${from} ORDER BY 1, 2 OFFSET 0) AS listed ${person(sql`listed.person_id`)}`,
  sortKey: sql`listed.sort_key`,
  id: sql`listed.app_id`,
});

/** Narrowest first. Filters only see what the app sees: a hidden group or school matches nobody. */
export const filters = {
  pid: {
    people: (client, value, order) => ({
      from: sql`(SELECT ${appIds[order.ids].recordOf(client, value)}::uuid AS id) AS f ${person(sql`f.id`)}`,
      ...peopleOrder(order, client, p, p.id),
    }),
    holds: (client, value, kind) => sql`${p.id} = ${appIds[kind].recordOf(client, value)}`,
    schools: (client, value, kind) =>
      sql`SELECT ${at.schoolId} FROM ${at} WHERE ${at.personId} = ${appIds[kind].recordOf(client, value)}`,
  },
  "personenkontext.id": {
    people: (client, value, order) => ({
      from: sql`(
        SELECT ${at.personId} FROM ${at} WHERE ${isContext(client, value, order.ids)} OFFSET 0) AS f
        ${person(at.personId)}`,
      ...peopleOrder(order, client, p, p.id),
    }),
    holds: (client, value, kind) =>
      exists(sql`${at} WHERE ${at.personId} = ${p.id} AND ${isContext(client, value, kind)}`),
    schools: (client, value, kind) => sql`
      SELECT ${other.schoolId}
      FROM ${at} ${lookUp("affiliation", "o", sql`${other.personId} = ${at.personId}`)}
      WHERE ${at.id} = ${appIds[kind].recordOf(client, value)}`,
  },
  "gruppe.id": {
    people: (client, value, order) =>
      listed(sql`
        SELECT ${columns(peopleOrder(order, client, p, p.id), p.id)} FROM ${inside} ${person(inside.personId)}
        WHERE ${inside.groupId} = ${value} AND ${shownGroup(client, value)}`),
    holds: (client, value) => sql`${shownGroup(client, value)}
      AND ${exists(sql`${inside} WHERE ${inside.groupId} = ${value} AND ${inside.personId} = ${p.id}`)}`,
    schools: (_client, value) => sql`SELECT ${group.schoolId} FROM ${group} WHERE ${group.id} = ${value}`,
  },
  "organisation.id": {
    people: (client, value, order) =>
      listed(sql`
        SELECT ${columns(peopleOrder(order, client, at, at.personId), at.personId)} FROM ${at}
        WHERE ${isAtSchool(client, value)}`),
    holds: (client, value) => exists(sql`${at} WHERE ${at.personId} = ${p.id} AND ${isAtSchool(client, value)}`),
    schools: (_client, value) => sql`SELECT ${value}::uuid`,
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
const ofPeople = sql`${peopleOrder({ by: "all", ids: "shared" }, sql``, a, a.personId).sortKey}, ${a.personId}`;

/**
 * Ranges of similar size, each sorted by itself: the first people come soon, and memory does not grow. Ranges of an app
 * with ids of its own never part people of one name.
 */
const allByName = (client: Value, order: PeopleOrder): People => ({
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
        UNION ALL SELECT sort_key, ${order.ids === "own" ? sql`${firstId!}::uuid` : sql`person_id`} FROM sampled
          WHERE place % ${sampledPerRange} = 0 OR place IN (${firstBounds})) AS bounds
      WINDOW in_order AS (ORDER BY sort_key, person_id))`,
  // One range at a time, each sorted; LATERAL and OFFSET 0 keep PostgreSQL from joining in another order.
  from: sql`range CROSS JOIN LATERAL (
      SELECT DISTINCT ${columns(peopleOrder(order, client, a, a.personId), a.personId)} FROM shown CROSS JOIN LATERAL (
        SELECT ${ofPeople} FROM ${a}
        WHERE ${a.schoolId} = shown.school_id AND (${ofPeople}) >= (range.sort_key, range.person_id)
          AND (${ofPeople}) < (range.next_key, range.next_id) OFFSET 0) AS a
      ORDER BY 1, 2 OFFSET 0) AS listed ${person(sql`listed.person_id`)}`,
  sortKey: sql`listed.sort_key`,
  id: sql`listed.app_id`,
  comesInOrder: true,
});

const allById = (client: Value, order: PeopleOrder): People => ({
  ...listed(sql`
    SELECT DISTINCT ${columns(peopleOrder(order, client, a, a.personId), a.personId)}
    FROM (${shownSchools(client)}) AS shown ${lookUp("affiliation", "a", sql`${a.schoolId} = shown.school_id`)}`),
  comesInOrder: true,
});

export const allPeople = (client: Value, order: PeopleOrder): People =>
  order.by === "all" ? allByName(client, order) : allById(client, order);

/** A walk misses nobody and returns nobody twice, and its last page takes as long as its first. */
export const peopleAfter = (client: Value, kind: IdKind, after: Value | undefined): People => ({
  from: sql`(${peopleInOrder(client, kind, after)}) AS listed ${person(sql`listed.person_id`)}`,
  sortKey: sql`''`,
  id: sql`listed.app_id`,
  comesInOrder: true,
});
