import type { PersonId, SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";
import type { ClientId } from "./token.ts";
import { personMaySignIn, personMaySignInThrough } from "./visibility.ts";

/** `schools` are those whose grant lets the person in, by name; never empty. */
export type SignOnRight =
  | { kind: "allowed"; schools: { id: SchoolId; name: string }[] }
  | { kind: "refused"; reason: "person_not_active" | "no_grant" };

export const selectSignOnRight = `
  SELECT p.status = 'ACTIVE' AS "isActive", s.id, s.name
  FROM person p
  LEFT JOIN (affiliation a JOIN school s ON s.id = a.school_id)
    ON a.person_id = p.id AND ${personMaySignInThrough("$1", "p", "a.school_id")}
  WHERE p.id = $2
  ORDER BY s.sort_key, s.id`;

type RightRow = { isActive: boolean; id: SchoolId | null; name: string | null };

/** Decides whether a person may sign in to an app; an unknown person is not active. */
export async function findSignOnRight(
  db: Queryable,
  { clientId, personId }: { clientId: ClientId; personId: PersonId },
): Promise<SignOnRight> {
  const { rows } = await db.query<RightRow>({
    name: "access.findSignOnRight",
    text: selectSignOnRight,
    values: [clientId, personId],
  });
  if (!rows[0]?.isActive) return { kind: "refused", reason: "person_not_active" };
  const schools = rows.flatMap(({ id, name }) => (id !== null && name !== null ? [{ id, name }] : []));
  return schools.length > 0 ? { kind: "allowed", schools } : { kind: "refused", reason: "no_grant" };
}

export const upsertSignIn = `
  INSERT INTO sign_in (client_id, person_id, first_sign_in_at, last_sign_in_at) VALUES ($1, $2, $3, $3)
  ON CONFLICT (client_id, person_id) DO UPDATE SET last_sign_in_at = excluded.last_sign_in_at
  WHERE sign_in.last_sign_in_at < excluded.last_sign_in_at`;

type SignIn = { clientId: ClientId; personId: PersonId; at: Date };

/** A later sign-in as a statement, for those who write it together with their own; of the first one apps may have to be told. */
export function makeSignInStatement({ clientId, personId, at }: SignIn): { text: string; values: unknown[] } {
  return { text: upsertSignIn, values: [clientId, personId, at] };
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
