import { expect } from "vitest";
import {
  appIds,
  fromShownGroupsOf,
  granted,
  groupIsSynced,
  personHasShownSchool,
  personIsSynced,
  readTable,
  schoolIsShown,
  userIsShown,
  userIsShownAt,
} from "../../src/access/index.ts";
import type { ClientId, IdKind } from "../../src/access/index.ts";
import { findRows, type Queryable, sql, statement, table } from "../../src/platform/database/sql.ts";
import { listedPersonWithStatus, school } from "../../src/idm/records.ts";
import { allParts, personendatensatz } from "../../src/schulconnex/records.ts";

type Properties = Record<string, unknown>;
/**
 * What an app holds of a subject.
 *
 * Shape: `properties` by the names that events have for them; all else that can be read of the subject is in `rest`.
 *        `usersOf` are the schools whose list of users has the person.
 */
export type Held = { isActive: boolean; properties: Properties; usersOf: string[] };
export type Holdings = Map<string, Held>;
export type Told = {
  seq: string;
  client_id: string;
  type: string;
  action: string;
  subject_id: string;
  updated_properties: string[];
  reason: string | null;
};

const s = readTable("school", "s");
const g = table("group", "g");
const p = readTable("person", "p");
const a = readTable("affiliation", "a");

const readAllOf = (kind: IdKind) =>
  statement<{ client: ClientId }>(
    ({ client }) => sql`
  SELECT 'school ' || s.id AS key, true AS "isActive", to_jsonb(${school({ client })}::json) AS properties, NULL AS person, NULL AS schulconnex, '{}'::text[] AS "usersOf"
  FROM ${s} WHERE ${schoolIsShown(client, s.id)}
  UNION ALL
  SELECT 'group ' || g.id, g.status = 'ACTIVE', jsonb_build_object('name', g.name, 'rest', g.type), NULL, NULL, '{}'
  FROM ${g} WHERE ${groupIsSynced(client, g.id)}
  UNION ALL
  SELECT 'person ' || ${appIds[kind].of(client, p.id)}, p.status = 'ACTIVE', jsonb_build_object('name', ${granted(client, "PERSON_NAME", p, ({ last }) => last)}, 'role', p.role, 'groups', (
      SELECT coalesce(jsonb_agg(g.id || coalesce(' ' || nullif(m.role, p.role), '') ORDER BY g.id), '[]')
      ${fromShownGroupsOf(client, p.id)})),
    CASE WHEN ${personIsSynced(client, p)} THEN ${listedPersonWithStatus({ client, id: appIds[kind].of(client, p.id) })} END,
    CASE WHEN ${personHasShownSchool(client, p.id)} THEN ${personendatensatz(client, allParts, { kind, pid: appIds[kind].of(client, p.id) })} END,
    ARRAY(
      SELECT a.school_id::text FROM ${a}
      WHERE a.person_id = p.id AND ${userIsShownAt(client, p, a.schoolId)} ORDER BY 1)
  FROM ${p} WHERE ${userIsShown(client, p)} OR ${personIsSynced(client, p)}`,
    `test.readAll.${kind}`,
  );
const selectAll = { shared: readAllOf("shared"), own: readAllOf("own") };

type Row = { key: string; person: string | null; schulconnex: string | null } & Held;

/** Reads everything that the app may read, with those who are soft-deleted. */
export async function readAll(db: Queryable, client: ClientId): Promise<Holdings> {
  const { rows: found } = await db.query<{ sector: string | null }>("SELECT sector FROM app WHERE client_id = $1", [
    client,
  ]);
  const kind = found[0]!.sector === null ? "shared" : "own";
  const rows = await findRows<Row, { client: ClientId }>(db, selectAll[kind], { client });
  return new Map(
    rows.map(({ key, isActive, properties, usersOf, ...records }) => {
      const rest = key.startsWith("person ") ? { rest: restOf(records) } : {};
      const named = key.startsWith("school ") ? namedOfSchool(properties) : properties;
      return [key, { isActive, usersOf, properties: { ...named, ...rest } }];
    }),
  );
}

/**
 * An entry of `people?show-deleted=true` and of personen-info.
 *
 * Shape: `mayStay`: nothing but the soft deletion keeps the person from being listed at the school.
 */
export type Listed = { key: string; isActive: boolean; isListed: boolean; mayStay: boolean; purgeAt: Date | null };

const selectListed = statement<{ client: ClientId }>(
  ({ client }) => sql`
  SELECT concat_ws(' ', ${client}::text, p.id, a.school_id) AS key, p.status = 'ACTIVE' AS "isActive",
    ${personIsSynced(client, p, a.schoolId)} AND ${personIsSynced(client, p)} AS "isListed",
    p.role <> 'OTHER' AND ${schoolIsShown(client, a.schoolId)} AS "mayStay", p.purge_at AS "purgeAt"
  FROM ${a} JOIN ${p} ON p.id = a.person_id`,
  "test.listWithDeleted",
);

/** Everybody at each school, with whether the app's lists with deleted people have them there. */
export const listWithDeleted = (db: Queryable, client: ClientId): Promise<Listed[]> =>
  findRows<Listed, { client: ClientId }>(db, selectListed, { client });

/** The record of a school by the names that events have for its parts. */
const namedOfSchool = ({ name, address, location, officialId, schoolingLevel }: Properties): Properties => ({
  name,
  address: [address, location],
  official_id: officialId,
  schooling_level: schoolingLevel,
});

/**
 * What the records of a person say beside the properties that have a name. Groups and schools are told of as
 * themselves.
 */
function restOf({ person, schulconnex }: Omit<Row, keyof Held | "key">): unknown {
  const read = (text: string | null) =>
    text === null ? null : (JSON.parse(text, withoutDetails) as Record<string, unknown>);
  return { person: read(person), schulconnex: read(schulconnex) };
}

const named = new Set(["name", "role", "rolle", "groups", "gruppen", "status"]);
function withoutDetails(key: string, value: unknown): unknown {
  if (named.has(key)) return undefined;
  return key === "organisation" || key === "stammorganisation" ? (value as { id: string }).id : value;
}

export async function listTold(db: Queryable, clients: ClientId[], after: string): Promise<Told[]> {
  const text =
    "SELECT seq, client_id, type, action, coalesce(app_subject_id, subject_id) AS subject_id, updated_properties, reason FROM app_event WHERE client_id = ANY ($1) AND seq > $2 ORDER BY seq";
  return (await db.query<Told>({ name: "test.listTold", text, values: [clients, after] })).rows;
}

const unread: Held = { isActive: false, properties: {}, usersOf: [] };

/**
 * Follows one event as an app does that reads anew exactly what it is told of; with `show-deleted` whoever is
 * soft-deleted.
 */
export function follow(
  holdings: Holdings,
  shown: Holdings,
  { type, subject_id, action, updated_properties }: Told,
): void {
  const key = `${type} ${subject_id}`;
  const now = shown.get(key);
  const held = holdings.get(key);
  if (action === "delete" && updated_properties.length === 0) holdings.delete(key);
  else if (action === "delete" && held) holdings.set(key, { ...(now ?? unread), isActive: false });
  // Somebody else's change may have ended what this one told of.
  else if (action !== "delete" && now) holdings.set(key, now);
  else if (action === "create") holdings.set(key, unread);
}

export function active(holdings: Holdings): Record<string, Properties> {
  const entries = [...holdings]
    .filter(([, { isActive }]) => isActive)
    .map(([key, { properties }]) => [key, properties] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The names of the properties in which two records differ; `rest` stands for those without a name. */
export const differing = (a: Properties, b: Properties): string[] =>
  Object.keys({ ...a, ...b }).filter((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]));

/**
 * Follows the events of apps from now on. Returns a check: each subject was told of once since the last one, and the
 * apps hold what they may read.
 */
export async function followEvents(db: Queryable, clients: ClientId[]): Promise<() => Promise<void>> {
  const text = "SELECT coalesce(max(seq), 0) AS seq FROM app_event";
  let { seq } = (await db.query<{ seq: string }>(text)).rows[0]!;
  const holdings = new Map<ClientId, Holdings>();
  for (const client of clients) holdings.set(client, await readAll(db, client));
  return async () => {
    const told = await listTold(db, clients, seq);
    seq = told.at(-1)?.seq ?? seq;
    const subjects = told.map(({ client_id, type, subject_id }) => [client_id, type, subject_id].join(" "));
    expect(subjects).toEqual([...new Set(subjects)]);
    for (const [client, held] of holdings) {
      const shown = await readAll(db, client);
      for (const event of told.filter(({ client_id }) => client_id === client)) follow(held, shown, event);
      expect(active(held)).toEqual(active(shown));
    }
  };
}
