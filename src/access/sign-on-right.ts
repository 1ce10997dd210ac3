import type { PersonId, SchoolId } from "../directory/index.ts";
import { arrayParameter, type Queryable } from "../platform/db.ts";
import type { ClientId } from "./token.ts";
import { fromSchoolsLettingIn, personMaySignIn, type Sql } from "./visibility.ts";

/** `schools` are those whose grant lets the person in, by name; never empty. `isUser`: whether they signed in to the app before. */
export type SignOnRight =
  | { kind: "allowed"; schools: { id: SchoolId; name: string }[]; isUser: boolean }
  | { kind: "refused"; reason: "person_not_active" | "person_blocked" | "no_grant" };

/** What `decideSignOnRight` decides by. */
export type SignOnFacts = {
  isActive: boolean;
  isBlocked: boolean;
  isUser: boolean;
  schools: { id: SchoolId; name: string }[];
} | null;

/** The `SignOnFacts` of a person and an app as one value, for statements that ask for more than them. */
export const signOnFactsOf = (client: Sql, personId: Sql): Sql => `(
  SELECT json_build_object('isActive', p.status = 'ACTIVE', 'isBlocked', p.blocked_at IS NOT NULL,
    'isUser', EXISTS (SELECT FROM sign_in earlier WHERE earlier.client_id = ${client} AND earlier.person_id = p.id), 'schools', (
    SELECT coalesce(json_agg(json_build_object('id', s.id, 'name', s.name) ORDER BY s.sort_key, s.id), '[]')
    FROM school s JOIN (SELECT v_at.school_id ${fromSchoolsLettingIn(client, "p")}) through ON through.school_id = s.id))
  FROM person p WHERE p.id = ${personId})`;

const selectSignOnFacts = `
  SELECT ${signOnFactsOf("asked.client_id", "asked.person_id")} AS facts
  FROM unnest(${arrayParameter("$1", "text")}, ${arrayParameter("$2", "uuid")}) WITH ORDINALITY AS asked (client_id, person_id, place)
  ORDER BY asked.place`;

type Pair = { clientId: ClientId; personId: PersonId };

/** Decides whether a person may sign in to an app; an unknown person is not active. */
export async function findSignOnRight(db: Queryable, pair: Pair): Promise<SignOnRight> {
  const [right] = await listSignOnRights(db, [pair]);
  return right ?? { kind: "refused", reason: "person_not_active" };
}

/** Decides for many at once, in their order. */
export async function listSignOnRights(db: Queryable, pairs: readonly Pair[]): Promise<SignOnRight[]> {
  const { rows } = await db.query<{ facts: SignOnFacts }>({
    name: "access.listSignOnRights",
    text: selectSignOnFacts,
    values: [pairs.map(({ clientId }) => clientId), pairs.map(({ personId }) => personId)],
  });
  return rows.map(({ facts }) => decideSignOnRight(facts));
}

export function decideSignOnRight(facts: SignOnFacts): SignOnRight {
  if (!facts?.isActive) return { kind: "refused", reason: "person_not_active" };
  if (facts.isBlocked) return { kind: "refused", reason: "person_blocked" };
  const { schools, isUser } = facts;
  return schools.length > 0 ? { kind: "allowed", schools, isUser } : { kind: "refused", reason: "no_grant" };
}

const keepLatestSignIn = `
  ON CONFLICT (client_id, person_id) DO UPDATE SET last_sign_in_at = excluded.last_sign_in_at
  WHERE sign_in.last_sign_in_at < excluded.last_sign_in_at`;

export const upsertSignIn = `
  INSERT INTO sign_in (client_id, person_id, first_sign_in_at, last_sign_in_at) VALUES ($1, $2, $3, $3) ${keepLatestSignIn}`;

/** SQL that records later sign-ins from the columns client_id, person_id and at of a relation; of the first ones apps may have to be told. */
export const recordSignInsFrom = (relation: string): string => `
  INSERT INTO sign_in (client_id, person_id, first_sign_in_at, last_sign_in_at)
  SELECT DISTINCT ON (client_id, person_id) client_id, person_id, at, at
  FROM ${relation} ORDER BY client_id, person_id, at DESC ${keepLatestSignIn}`;

type SignIn = { clientId: ClientId; personId: PersonId; at: Date };

/** A sign-in as a statement. */
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
  WHERE p.id = $1 AND p.blocked_at IS NULL AND app.login_url IS NOT NULL AND ${personMaySignIn("app.client_id", "p")}
  ORDER BY app.name, app.client_id`;

/** The apps that a person may sign in to and that have an address to begin at. */
export async function listTiles(db: Queryable, personId: PersonId): Promise<Tile[]> {
  const { rows } = await db.query<Tile>({ name: "access.listTiles", text: selectTiles, values: [personId] });
  return rows;
}
