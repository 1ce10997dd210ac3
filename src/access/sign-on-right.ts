import type { PersonId, SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";
import type { ClientId } from "./token.ts";
import { personMaySignIn, personMaySignInThrough } from "./visibility.ts";

/** `schools` are those whose grant lets the person in, by name; never empty. */
export type SignOnRight =
  | { kind: "allowed"; schools: { id: SchoolId; name: string }[] }
  | { kind: "refused"; reason: "person_not_active" | "no_grant" };

export const selectSignOnRights = `
  SELECT asked.place::int, p.status = 'ACTIVE' AS "isActive", through.id, through.name
  FROM unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS asked (client_id, person_id, place)
  JOIN person p ON p.id = asked.person_id
  LEFT JOIN LATERAL (
    SELECT s.id, s.name, s.sort_key FROM affiliation a JOIN school s ON s.id = a.school_id
    WHERE a.person_id = p.id AND ${personMaySignInThrough("asked.client_id", "p", "a.school_id")}) through ON true
  ORDER BY asked.place, through.sort_key, through.id`;

type Pair = { clientId: ClientId; personId: PersonId };
type RightRow = { place: number; isActive: boolean; id: SchoolId | null; name: string | null };

/** Decides whether a person may sign in to an app; an unknown person is not active. */
export async function findSignOnRight(db: Queryable, pair: Pair): Promise<SignOnRight> {
  const [right] = await listSignOnRights(db, [pair]);
  return right ?? { kind: "refused", reason: "person_not_active" };
}

/** Decides for many at once, in their order. */
export async function listSignOnRights(db: Queryable, pairs: readonly Pair[]): Promise<SignOnRight[]> {
  const { rows } = await db.query<RightRow>({
    name: "access.listSignOnRights",
    text: selectSignOnRights,
    values: [pairs.map(({ clientId }) => clientId), pairs.map(({ personId }) => personId)],
  });
  const byPlace = Map.groupBy(rows, ({ place }) => place);
  return pairs.map((_pair, index) => decide(byPlace.get(index + 1) ?? []));
}

function decide(rows: readonly RightRow[]): SignOnRight {
  if (!rows[0]?.isActive) return { kind: "refused", reason: "person_not_active" };
  const schools = rows.flatMap(({ id, name }) => (id !== null && name !== null ? [{ id, name }] : []));
  return schools.length > 0 ? { kind: "allowed", schools } : { kind: "refused", reason: "no_grant" };
}

export const upsertSignIn = `
  INSERT INTO sign_in (client_id, person_id, first_sign_in_at, last_sign_in_at) VALUES ($1, $2, $3, $3)
  ON CONFLICT (client_id, person_id) DO UPDATE SET last_sign_in_at = excluded.last_sign_in_at
  WHERE sign_in.last_sign_in_at < excluded.last_sign_in_at`;

type SignIn = { clientId: ClientId; personId: PersonId; at: Date };

/** `recordSignIn` as a statement, for those who write it together with their own. */
export function makeSignInStatement({ clientId, personId, at }: SignIn): { text: string; values: unknown[] } {
  return { text: upsertSignIn, values: [clientId, personId, at] };
}

/** Remembers that the person is a user of the app, whatever becomes of their access. */
export async function recordSignIn(tx: Queryable, signIn: SignIn): Promise<void> {
  await tx.query({ name: "access.recordSignIn", ...makeSignInStatement(signIn) });
}

export type Tile = { clientId: ClientId; name: string; loginUrl: string };

export const selectTiles = `
  SELECT DISTINCT app.client_id AS "clientId", app.name, app.login_url AS "loginUrl"
  FROM person p
  JOIN affiliation a ON a.person_id = p.id
  JOIN "grant" given ON given.school_id = a.school_id
  JOIN app ON app.client_id = given.client_id
  WHERE p.id = $1 AND app.login_url IS NOT NULL AND ${personMaySignIn("app.client_id", "p")}
  ORDER BY app.name, app.client_id`;

/** The apps that a person may sign in to and that have an address to begin at. */
export async function listTiles(db: Queryable, personId: PersonId): Promise<Tile[]> {
  const { rows } = await db.query<Tile>({ name: "access.listTiles", text: selectTiles, values: [personId] });
  return rows;
}
