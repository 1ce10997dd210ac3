import { fromShownGroupsOf, groupIsSynced, personIsSynced, schoolIsShown, userIsShown } from "./visibility.ts";
import type { Sql } from "./visibility.ts";

/**
 * What one app sees of one subject.
 *
 * Shape: properties are hashes, null where the subject has none such; what an app would see again on return stands there
 *        with its status, so that deletion and return are changes of status.
 */
export type Sight = {
  client_id: string;
  type: "person" | "group" | "school";
  subject_id: string;
  school_id: string | null;
  is_active: boolean;
  is_synced: boolean;
  name: string | null;
  role: string | null;
  groups: string | null;
  address: string | null;
  schooling_level: string | null;
  official_id: string | null;
  /** What records show beside these properties and events have no name for. */
  rest: string | null;
};

export const sightColumns = `client_id text, type text, subject_id uuid, school_id uuid, is_active boolean, is_synced boolean,
  name bigint, role bigint, groups bigint, address bigint, schooling_level bigint, official_id bigint, rest bigint`;

const hash = (...columns: Sql[]): Sql => `hash_record_extended(ROW(${columns.join(", ")}), 0)`;

// Users are asked for as if everybody were active: who is deleted and may come back is still known.
const person = "(SELECT id, role, status AS own_status, 'ACTIVE'::person_status AS status FROM person)";

/** The apps that may know a person at all: those that one of their schools has dealt with, and those they signed in to. */
export const selectPairs = (subject: Sql): Sql => `
  SELECT given.client_id, a.person_id
  FROM ${subject} t JOIN affiliation a ON a.person_id = t.id
  JOIN "grant" given ON given.school_id = a.school_id AND t.client_id IN ('', given.client_id)
  WHERE t.type = 'person'
  UNION
  SELECT s.client_id, s.person_id
  FROM ${subject} t JOIN sign_in s ON s.person_id = t.id AND t.client_id IN ('', s.client_id)
  WHERE t.type = 'person'`;

export const selectSynced = (pair: Sql): Sql => `
  SELECT c.client_id, c.person_id, true AS is_synced FROM ${pair} c JOIN ${person} p ON p.id = c.person_id
  WHERE ${personIsSynced("c.client_id", "p")}`;

export const selectOtherUsers = (pair: Sql, synced: Sql): Sql => `
  SELECT c.client_id, c.person_id, false AS is_synced FROM ${pair} c JOIN ${person} p ON p.id = c.person_id
  WHERE NOT EXISTS (SELECT FROM ${synced} s WHERE s.client_id = c.client_id AND s.person_id = c.person_id)
    AND ${userIsShown("c.client_id", "p")}`;

/** Selects what apps see: of the people whom they know, and of those subjects that are groups or schools. */
export const selectSightsOf = (known: Sql, subject: Sql): Sql => `
  WITH place AS (
    SELECT k.client_id, k.person_id, (array_agg(a.school_id ORDER BY a.school_id <> p.home_school_id, a.school_id))[1] AS school_id,
      array_agg(a.id ORDER BY a.school_id <> p.home_school_id, a.school_id) AS contexts
    FROM ${known} k JOIN affiliation a ON a.person_id = k.person_id JOIN person p ON p.id = k.person_id
    WHERE ${schoolIsShown("k.client_id", "a.school_id")}
    GROUP BY k.client_id, k.person_id),
  -- The role in a group is news only where it is another than the person's own.
  inside AS (
    SELECT k.client_id, k.person_id, bit_xor(${hash("x.id", "nullif(x.role, p.role)")}) AS groups
    FROM ${known} k JOIN person p ON p.id = k.person_id
    CROSS JOIN LATERAL (SELECT g.id, m.role ${fromShownGroupsOf("k.client_id", "k.person_id")}) x
    GROUP BY k.client_id, k.person_id)
  SELECT k.client_id, 'person' AS type, p.id AS subject_id, place.school_id, p.status = 'ACTIVE' AS is_active, k.is_synced,
    ${hash("p.first_full", "p.first_call", "p.last")} AS name, ${hash("p.role")} AS role, coalesce(inside.groups, 0) AS groups,
    NULL::bigint AS address, NULL::bigint AS schooling_level, NULL::bigint AS official_id,
    ${hash("place.contexts", "CASE WHEN k.is_synced THEN p.source_system_identifier END", "p.purge_at")} AS rest
  FROM ${known} k JOIN person p ON p.id = k.person_id
  LEFT JOIN place ON place.client_id = k.client_id AND place.person_id = k.person_id
  LEFT JOIN inside ON inside.client_id = k.client_id AND inside.person_id = k.person_id
  UNION ALL
  SELECT given.client_id, 'group', g.id, g.school_id, g.status = 'ACTIVE', true, ${hash("g.name")}, NULL, NULL, NULL, NULL, NULL, ${hash("g.type")}
  FROM ${subject} t JOIN "group" g ON g.id = t.id
  JOIN "grant" given ON given.school_id = g.school_id AND t.client_id IN ('', given.client_id)
  WHERE t.type = 'group' AND ${groupIsSynced("given.client_id", "g.id")}
  UNION ALL
  SELECT given.client_id, 'school', s.id, s.id, true, true, ${hash("s.name")}, NULL, NULL,
    ${hash("s.address", "s.address_addition", "s.city", "s.zip_code", "s.country", "s.state")}, ${hash("s.schooling_level")}, ${hash("s.official_id")}, NULL
  FROM ${subject} t JOIN school s ON s.id = t.id
  JOIN "grant" given ON given.school_id = s.id AND t.client_id IN ('', given.client_id)
  WHERE t.type = 'school' AND ${schoolIsShown("given.client_id", "s.id")}`;

/**
 * Selects what apps see of a few subjects, all in one.
 *
 * Shape: `subject` stands in a FROM; its columns are type, id and client_id, where an empty client_id stands for every app.
 */
export const selectSights = (subject: Sql): Sql => `
  WITH subject AS (SELECT type, id, client_id FROM ${subject} AS named (type, id, client_id)),
  pair AS (${selectPairs("subject")}),
  synced AS (${selectSynced("pair")}),
  known AS (SELECT * FROM synced UNION ALL ${selectOtherUsers("pair", "synced")})
  SELECT * FROM (${selectSightsOf("known", "subject")}) AS sights`;
