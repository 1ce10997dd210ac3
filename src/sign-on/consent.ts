import type { ClientId, ScopeName } from "../access/index.ts";
import type { PersonId, SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";

/** What a person decided for an app earlier. */
export type Decisions = { scopes: ScopeName[]; schoolId: SchoolId | null };

export type Pair = { clientId: ClientId; personId: PersonId };

const selectDecisions = `
  SELECT coalesce(consent.scopes, '{}') AS scopes, choice.school_id AS "schoolId"
  FROM unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS asked (client_id, person_id, place)
  LEFT JOIN consent ON consent.person_id = asked.person_id AND consent.client_id = asked.client_id
  LEFT JOIN school_choice choice ON choice.person_id = asked.person_id AND choice.client_id = asked.client_id
  ORDER BY asked.place`;

/** Answers in the order of the pairs. */
export async function listDecisions(db: Queryable, pairs: readonly Pair[]): Promise<Decisions[]> {
  const { rows } = await db.query<Decisions>({
    name: "sign-on.listDecisions",
    text: selectDecisions,
    values: [pairs.map(({ clientId }) => clientId), pairs.map(({ personId }) => personId)],
  });
  return rows;
}

/** Adds to what was allowed before; there is no memory of a denial. */
export async function rememberConsent(tx: Queryable, { clientId, personId, scopes, at }: Pair & { scopes: ScopeName[]; at: Date }): Promise<void> {
  await tx.query(
    `INSERT INTO consent (person_id, client_id, scopes, granted_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (person_id, client_id) DO UPDATE SET granted_at = excluded.granted_at,
       scopes = ARRAY(SELECT DISTINCT unnest(consent.scopes || excluded.scopes))`,
    [personId, clientId, scopes, at],
  );
}

export async function rememberSchool(tx: Queryable, { clientId, personId, schoolId }: Pair & { schoolId: SchoolId }): Promise<void> {
  await tx.query(
    `INSERT INTO school_choice (person_id, client_id, school_id) VALUES ($1, $2, $3)
     ON CONFLICT (person_id, client_id) DO UPDATE SET school_id = excluded.school_id`,
    [personId, clientId, schoolId],
  );
}
