import { groupIsShown, schoolIsShown, shownSchools } from "../access/index.ts";
import { exists, lookUp } from "../platform/lookup-sql.ts";

/**
 * Where a list finds its people, in their order.
 *
 * Shape: `from` is a FROM that binds `p` (person), to be continued with WHERE; `sortKey` and `id` are its order.
 */
export type People = { before?: string; from: string; sortKey: string; id: string; comesInOrder?: boolean };

type Filter = {
  people: (client: string, value: string) => People;
  /** The filter as a condition on `p`. */
  holds: (client: string, value: string) => string;
  /** The schools through which it finds people, for the version of the list. */
  schools: (value: string) => string;
};

const person = (id: string) => lookUp("person", "p", `p.id = ${id}`);
const isContext = (client: string, value: string) => `f.id = ${value} AND ${schoolIsShown(client, "f.school_id")}`;
const isAtSchool = (client: string, value: string) => `f.school_id = ${value} AND ${schoolIsShown(client, value)}`;
const shownGroup = (client: string, value: string) =>
  exists(`"group" g WHERE g.id = ${value} AND ${groupIsShown(client, "g")}`);

/** Only what the app sees counts: a filter by a group that it does not see matches nobody. Narrowest first. */
export const filters = {
  pid: {
    people: (_client, value) => ({
      from: `(SELECT ${value}::uuid AS id) AS f ${person("f.id")}`,
      sortKey: "p.sort_key",
      id: "p.id",
    }),
    holds: (_client, value) => `p.id = ${value}`,
    schools: (value) => `SELECT f.school_id FROM affiliation f WHERE f.person_id = ${value}`,
  },
  "personenkontext.id": {
    people: (client, value) => ({
      from: `(SELECT f.person_id FROM affiliation f WHERE ${isContext(client, value)} OFFSET 0) AS f ${person("f.person_id")}`,
      sortKey: "p.sort_key",
      id: "p.id",
    }),
    holds: (client, value) => exists(`affiliation f WHERE f.person_id = p.id AND ${isContext(client, value)}`),
    schools: (value) =>
      `SELECT o.school_id FROM affiliation f ${lookUp("affiliation", "o", "o.person_id = f.person_id")} WHERE f.id = ${value}`,
  },
  "gruppe.id": {
    // Sort keys and ids are sorted; the records are read one by one in that order.
    people: (client, value) => ({
      from: `(
        SELECT p.sort_key, p.id FROM membership f ${person("f.person_id")}
        WHERE f.group_id = ${value} AND ${shownGroup(client, value)} ORDER BY p.sort_key, p.id OFFSET 0) AS listed ${person("listed.id")}`,
      sortKey: "listed.sort_key",
      id: "listed.id",
    }),
    holds: (client, value) =>
      `${shownGroup(client, value)} AND ${exists(`membership f WHERE f.group_id = ${value} AND f.person_id = p.id`)}`,
    schools: (value) => `SELECT f.school_id FROM "group" f WHERE f.id = ${value}`,
  },
  "organisation.id": {
    people: (client, value) => ({
      from: `(
        SELECT f.sort_key, f.person_id FROM affiliation f
        WHERE ${isAtSchool(client, value)} ORDER BY f.sort_key, f.person_id OFFSET 0) AS listed ${person("listed.person_id")}`,
      sortKey: "listed.sort_key",
      id: "listed.person_id",
    }),
    holds: (client, value) => exists(`affiliation f WHERE f.person_id = p.id AND ${isAtSchool(client, value)}`),
    schools: (value) => `SELECT ${value}::uuid`,
  },
} satisfies Record<string, Filter>;

export type FilterName = keyof typeof filters;
export const filterNames = Object.keys(filters) as FilterName[];

const sampledRows = 5000;
const sampledPerRange = 40;
// The first ranges are small, so that the first people come at once.
const firstBounds = [1, 5];
// Behind every sort key: the last code point there is.
const behindAll = "chr(1114111)";

/**
 * Everybody at the schools that sync to the app. Their order is cut into ranges of about the same size, by a sample of some of the
 * schools; range by range, the index of each school gives its people in it, and only these are sorted. So the first people come at
 * once and memory does not grow, however many there are.
 */
export const allPeople = (client: string): People => ({
  before: `
    WITH shown AS MATERIALIZED (${shownSchools(client)}),
    sampled AS MATERIALIZED (
      SELECT a.sort_key, a.person_id, row_number() OVER (ORDER BY a.sort_key, a.person_id) AS place
      FROM (
        SELECT a.sort_key, a.person_id FROM shown ${lookUp("affiliation", "a", "a.school_id = shown.school_id")} LIMIT ${sampledRows}) AS a),
    range AS MATERIALIZED (
      SELECT sort_key, person_id, lead(sort_key, 1, ${behindAll}) OVER in_order AS next_key,
        lead(person_id, 1, 'ffffffff-ffff-ffff-ffff-ffffffffffff') OVER in_order AS next_id
      FROM (
        SELECT '' COLLATE "C" AS sort_key, '00000000-0000-0000-0000-000000000000'::uuid AS person_id
        UNION ALL SELECT sort_key, person_id FROM sampled
          WHERE place % ${sampledPerRange} = 0 OR place IN (${firstBounds.join(", ")})) AS bounds
      WINDOW in_order AS (ORDER BY sort_key, person_id))`,
  // Range after range, and each in its order: every join looks up what belongs to the row before it.
  from: `range CROSS JOIN LATERAL (
      SELECT DISTINCT a.sort_key, a.person_id FROM shown CROSS JOIN LATERAL (
        SELECT a.sort_key, a.person_id FROM affiliation a
        WHERE a.school_id = shown.school_id AND (a.sort_key, a.person_id) >= (range.sort_key, range.person_id)
          AND (a.sort_key, a.person_id) < (range.next_key, range.next_id) OFFSET 0) AS a
      ORDER BY a.sort_key, a.person_id OFFSET 0) AS listed ${person("listed.person_id")}`,
  sortKey: "listed.sort_key",
  id: "listed.person_id",
  comesInOrder: true,
});
