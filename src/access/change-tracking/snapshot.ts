import type { AppEventType } from "../../events/index.ts";
import {
  identifier,
  join,
  lookUp,
  sql,
  table,
  type Parameters,
  type Part,
  type Sql,
} from "../../platform/database/sql.ts";
import { granted, readTable } from "../attributes.ts";
import {
  fromShownGroupsOf,
  groupIsSynced,
  personIsSynced,
  schoolIsShown,
  selectSchoolsOf,
  userIsShown,
  userIsShownIf,
} from "../visibility.ts";
import { schoolsOf, withheldScopes } from "../withheld-sql.ts";

const grantRow = table("grant", "given");
const reader = table("app", "v_reader");
const p = readTable("person", "p");
const g = table("group", "g");
const a = readTable("affiliation", "a");
const s = readTable("school", "s");
const signIn = table("signIn", "s");

const hash = (...columns: readonly Sql[]): Sql => sql`hash_record_extended(ROW(${join(columns, ", ")}), 0)`;

const address = granted(reader, "SCHOOL_ADDRESS", s, (s) => hash(s.address, s.addressAddition, s.city, s.zipCode));
const location = granted(reader, "SCHOOL_LOCATION", s, (s) => hash(s.country, s.state));

/**
 * The compared properties by type of subject, and as `rest` what records show beside them; `reader` is the app, and
 * ungranted properties are null.
 */
const hashes = {
  person: {
    name: granted(reader, "PERSON_NAME", p, (p) => hash(p.firstFull, p.firstCall, p.last)),
    role: hash(p.role),
    groups: sql`coalesce(inside.groups, 0)`,
    rest: hash(
      sql`place.contexts`,
      sql`CASE WHEN k.is_synced
        THEN ${granted(reader, "SOURCE_SYSTEM_IDENTIFIER", p, (p) => p.sourceSystemIdentifier)} END`,
      p.purgeAt,
      withheldScopes(reader.clientId, schoolsOf(p.id)),
    ),
  },
  group: { name: hash(g.name), rest: hash(g.type, withheldScopes(grantRow.clientId, sql`SELECT ${g.schoolId}`)) },
  school: {
    name: hash(s.name),
    address: sql`CASE WHEN num_nonnulls(${address}, ${location}) > 0 THEN ${hash(address, location)} END`,
    schooling_level: granted(reader, "SCHOOLING_LEVEL", s, (s) => hash(s.schoolingLevel)),
    official_id: granted(reader, "SCHOOL_OFFICIAL_ID", s, (s) => hash(s.officialId)),
    rest: hash(withheldScopes(reader.clientId, sql`SELECT ${s.id}`)),
  },
} satisfies Record<AppEventType, Record<string, Sql>>;

type ComparedProperty<Type extends AppEventType> = Type extends unknown
  ? Exclude<keyof (typeof hashes)[Type], "rest">
  : never;

/** The properties whose change an event names, as webhooks.yaml lists them. A status is compared as `is_active`. */
export type EventProperty = {
  person: ComparedProperty<"person"> | "status";
  group: ComparedProperty<"group"> | "status";
  school: ComparedProperty<"school">;
};

const subjectProperties = [...new Set(Object.values(hashes).flatMap((own) => Object.keys(own)))].filter(
  (name) => name !== "rest",
) as ComparedProperty<AppEventType>[];
export const comparedProperties = [...subjectProperties, "rest" as const];
export const allProperties = [...subjectProperties, "status" as const];

type Compared = (typeof comparedProperties)[number];

/**
 * What one app sees of one subject, as hashes. Deleted subjects are included with their status, so that deletion and
 * restore are changes of status.
 */
export type SnapshotRow = {
  client_id: string;
  type: AppEventType;
  subject_id: string;
  school_id: string | null;
  is_active: boolean;
  is_synced: boolean;
  /** For a person: whether the app can read them as a user now, and their schools. */
  is_user: boolean;
  school_ids: string[] | null;
  /** For a person: the schools that sync them to the app, and the schools that let them sign in to it. */
  person_at: string[] | null;
  user_at: string[] | null;
} & Record<Compared, string | null>;

export const snapshotTypes = {
  client_id: "text",
  type: "text",
  subject_id: "uuid",
  school_id: "uuid",
  is_active: "boolean",
  is_synced: "boolean",
  is_user: "boolean",
  school_ids: "_uuid",
  person_at: "_uuid",
  user_at: "_uuid",
  ...(Object.fromEntries(comparedProperties.map((name) => [name, "bigint"])) as Record<Compared, "bigint">),
} satisfies Record<keyof SnapshotRow, string>;

export const snapshotRecord = join(
  Object.entries(snapshotTypes).map(([name, type]) => sql`${identifier(name)} ${identifier(type)}`),
);

const selectHashes = (type: AppEventType): Sql => {
  const own = hashes[type] as Partial<Record<Compared, Sql>>;
  return join(
    comparedProperties.map((name) => sql`${own[name] ?? sql`NULL::bigint`} AS ${identifier(name)}`),
    ", ",
  );
};

/** How tables are joined: for a few subjects by index, whatever the statistics say; for many as the planner chooses. */
type Way = { withTable: typeof lookUp; fence: Sql };
const few: Way = { withTable: lookUp, fence: sql`OFFSET 0` };
const many: Way = {
  withTable: (name, alias, condition) => sql`JOIN ${table(name, alias)} ON ${condition}`,
  fence: sql``,
};

export const selectPairs = (subject: Part, { withTable } = many): Sql => sql`
  SELECT ${grantRow.clientId}, ${a.personId}
  FROM ${subject} t ${withTable("affiliation", "a", sql`${a.personId} = t.id`)}
  ${withTable("grant", "given", sql`${grantRow.schoolId} = ${a.schoolId} AND t.client_id IN ('', ${grantRow.clientId})`)}
  WHERE t.type = 'person'
  UNION
  SELECT ${signIn.clientId}, ${signIn.personId}
  FROM ${subject} t
  ${withTable("signIn", "s", sql`${signIn.personId} = t.id AND t.client_id IN ('', ${signIn.clientId})`)}
  WHERE t.type = 'person'`;

const pairClient = sql`c.client_id`;

export const selectSynced = (pair: Part, { withTable } = many): Sql => sql`
  SELECT c.client_id, c.person_id, true AS is_synced FROM ${pair} c ${withTable("person", "p", sql`${p.id} = c.person_id`)}
  WHERE ${personIsSynced(pairClient, p)}`;

export const selectOtherUsers = (pair: Part, synced: Part, { withTable } = many): Sql => sql`
  SELECT c.client_id, c.person_id, false AS is_synced FROM ${pair} c ${withTable("person", "p", sql`${p.id} = c.person_id`)}
  WHERE NOT EXISTS (SELECT FROM ${synced} s WHERE s.client_id = c.client_id AND s.person_id = c.person_id)
    AND ${userIsShown(pairClient, p)}`;

// A role in a group counts only if it differs from the person's own.
const groupHash = hash(sql`x.id`, sql`nullif(x.role, ${p.role})`);
const schoolOrder = sql`at.school_id <> ${p.homeSchoolId}, at.school_id`;

export const selectSnapshotOf = (known: Part, subject: Part, { withTable, fence } = many): Sql => sql`
  WITH place AS (
    SELECT k.client_id, k.person_id,
      (array_agg(at.school_id ORDER BY ${schoolOrder}) FILTER (WHERE at.is_shown))[1] AS school_id,
      array_agg(at.id ORDER BY ${schoolOrder}) FILTER (WHERE at.is_shown) AS contexts,
      array_agg(at.school_id ORDER BY at.school_id) AS school_ids,
      array_agg(at.school_id) FILTER (WHERE at.lets_in) AS letting_in, bool_or(at.is_shown) AND bool_or(at.lets_in) AS is_listed
    FROM ${known} k ${withTable("person", "p", sql`${p.id} = k.person_id`)}
    CROSS JOIN LATERAL (${selectSchoolsOf(sql`k.client_id`, p)} ${fence}) AS at
    GROUP BY k.client_id, k.person_id),
  inside AS (
    SELECT k.client_id, k.person_id, bit_xor(${groupHash}) AS groups, array_agg(DISTINCT x.school_id) AS school_ids
    FROM ${known} k ${withTable("person", "p", sql`${p.id} = k.person_id`)}
    CROSS JOIN LATERAL (
      SELECT ${g.id}, ${g.schoolId}, m.role ${fromShownGroupsOf(sql`k.client_id`, sql`k.person_id`)} ${fence}) x
    GROUP BY k.client_id, k.person_id)
  SELECT k.client_id, 'person' AS type, ${p.id} AS subject_id, place.school_id, ${p.status} = 'ACTIVE' AS is_active,
    k.is_synced, ${userIsShownIf(sql`(place.is_listed OR NOT k.is_synced)`, sql`k.client_id`, p)} AS is_user,
    place.school_ids, CASE WHEN k.is_synced THEN inside.school_ids END AS person_at,
    CASE WHEN place.is_listed THEN place.letting_in END AS user_at, ${selectHashes("person")}
  FROM ${known} k ${withTable("person", "p", sql`${p.id} = k.person_id`)} JOIN ${reader} ON ${reader.clientId} = k.client_id
  LEFT JOIN place ON place.client_id = k.client_id AND place.person_id = k.person_id
  LEFT JOIN inside ON inside.client_id = k.client_id AND inside.person_id = k.person_id
  UNION ALL
  SELECT ${grantRow.clientId}, 'group', ${g.id}, ${g.schoolId}, ${g.status} = 'ACTIVE', true, false, NULL, NULL, NULL, ${selectHashes("group")}
  FROM ${subject} t JOIN ${g} ON ${g.id} = t.id
  JOIN ${grantRow} ON ${grantRow.schoolId} = ${g.schoolId} AND t.client_id IN ('', ${grantRow.clientId})
  WHERE t.type = 'group' AND ${groupIsSynced(grantRow.clientId, g.id)}
  UNION ALL
  SELECT ${grantRow.clientId}, 'school', ${s.id}, ${s.id}, true, true, false, NULL, NULL, NULL, ${selectHashes("school")}
  FROM ${subject} t JOIN ${s} ON ${s.id} = t.id
  JOIN ${grantRow} ON ${grantRow.schoolId} = ${s.id} AND t.client_id IN ('', ${grantRow.clientId})
  JOIN ${reader} ON ${reader.clientId} = ${grantRow.clientId}
  WHERE t.type = 'school' AND ${schoolIsShown(grantRow.clientId, s.id)}`;

/** `subject` is a relation of type, id and client_id, where an empty client_id means every app. */
export const selectSnapshot = (subject: Sql): Sql => sql`
  WITH subject AS (SELECT type, id, client_id FROM ${subject} AS named (type, id, client_id)),
  pair AS (${selectPairs(sql`subject`, few)}),
  synced AS (${selectSynced(sql`pair`, few)}),
  known AS (SELECT * FROM synced UNION ALL ${selectOtherUsers(sql`pair`, sql`synced`, few)})
  SELECT * FROM (${selectSnapshotOf(sql`known`, sql`subject`, few)}) AS snapshot`;

/** An empty `client` means every app. */
export type Subject = { type: AppEventType; id: string; client: string };

export type SnapshotStore = {
  add(subjects: readonly Subject[]): Promise<void>;
  /** Notes what apps saw of people who are soft-deleted now; call it before `emit`. */
  keepSeen(): Promise<void>;
  takeAnnounced(): Promise<SnapshotRow[]>;
  emit(now: Date, announced: readonly SnapshotRow[]): Promise<number>;
};

export type SubjectValues = { types: string[]; ids: string[]; clients: string[] };

export const valuesOf = (subjects: readonly Subject[]): SubjectValues => ({
  types: subjects.map(({ type }) => type),
  ids: subjects.map(({ id }) => id),
  clients: subjects.map(({ client }) => client),
});

export const fromSubjects = ({ types, ids, clients }: Parameters<SubjectValues>): Sql =>
  sql`unnest(${types}::text[], ${ids}::uuid[], ${clients}::text[])`;
