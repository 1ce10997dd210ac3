import {
  fromShownGroupsOf,
  groupIsShown,
  personIsShown,
  personIsSynced,
  schoolIsShown,
  userIsShown,
} from "../../src/access/index.ts";
import type { ClientId } from "../../src/access/index.ts";
import type { Queryable } from "../../src/platform/db.ts";

type Properties = Record<string, unknown>;
/** What an app holds of a subject. */
export type Held = { isActive: boolean; properties: Properties };
export type Holdings = Map<string, Held>;
export type Told = { seq: string; client_id: string; type: string; action: string; subject_id: string; updated_properties: string[]; reason: string | null };

const selectAll = `
  SELECT 'school ' || s.id AS key, true AS "isActive", jsonb_build_object('name', s.name, 'official_id', s.official_id,
    'schooling_level', s.schooling_level, 'address', jsonb_build_array(s.address, s.city, s.zip_code)) AS properties
  FROM school s WHERE ${schoolIsShown("$1", "s.id")}
  UNION ALL
  SELECT 'group ' || g.id, true, jsonb_build_object('name', g.name) FROM "group" g WHERE ${groupIsShown("$1", "g")}
  UNION ALL
  SELECT 'person ' || p.id, p.status = 'ACTIVE', jsonb_build_object('name', p.last, 'role', p.role,
    'groups', (SELECT coalesce(jsonb_agg(g.id || coalesce(' ' || nullif(m.role, p.role), '') ORDER BY g.id), '[]') ${fromShownGroupsOf("$1", "p.id")}))
  FROM person p WHERE ${userIsShown("$1", "p")} OR ${personIsShown("$1", "p")} OR ${personIsSynced("$1", "p")}`;

/** Reads everything that the app may read, with those who are soft-deleted. */
export async function readAll(db: Queryable, client: ClientId): Promise<Holdings> {
  const { rows } = await db.query<{ key: string } & Held>({ name: "test.readAll", text: selectAll, values: [client] });
  return new Map(rows.map(({ key, ...held }) => [key, held]));
}

export async function listTold(db: Queryable, clients: ClientId[], after: string): Promise<Told[]> {
  const text = "SELECT seq, client_id, type, action, subject_id, updated_properties, reason FROM app_event WHERE client_id = ANY ($1) AND seq > $2 ORDER BY seq";
  return (await db.query<Told>({ name: "test.listTold", text, values: [clients, after] })).rows;
}

/** Follows one event as an app does that reads anew exactly what it is told of. */
export function follow(holdings: Holdings, shown: Holdings, { type, subject_id, action, updated_properties }: Told): void {
  const key = `${type} ${subject_id}`;
  const held = holdings.get(key);
  if (action === "delete" && updated_properties.length === 0) holdings.delete(key);
  else if (action === "delete") {
    if (held) holdings.set(key, { ...held, isActive: false });
  } else {
    const now = shown.get(key);
    // Somebody else's change may have ended what this one told of.
    if (now) holdings.set(key, action === "update" && !held ? { ...now, isActive: false } : now);
  }
}

export const active = (holdings: Holdings) => Object.fromEntries([...holdings].filter(([, { isActive }]) => isActive).sort(([a], [b]) => (a < b ? -1 : 1)));

/** The names of the properties in which two records differ. */
export const differing = (a: Properties, b: Properties): string[] =>
  Object.keys(a).filter((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]));
