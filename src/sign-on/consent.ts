import type { ClientId, ScopeName } from "../access/index.ts";
import type { PersonId, SchoolId } from "../directory/index.ts";
import { arrayParameter, type Queryable } from "../platform/db.ts";

/** What a person decided for an app earlier. */
export type Decisions = { scopes: ScopeName[]; schoolId: SchoolId | null };

export type Pair = { clientId: ClientId; personId: PersonId };

/** The `Decisions` of a person for an app as one value, for statements that ask for more than them. */
export const decisionsOf = (client: string, personId: string): string => `json_build_object(
  'scopes', coalesce((SELECT scopes FROM consent WHERE consent.person_id = ${personId} AND consent.client_id = ${client}), '{}'),
  'schoolId', (SELECT school_id FROM school_choice choice WHERE choice.person_id = ${personId} AND choice.client_id = ${client}))`;

const selectDecisions = `
  SELECT ${decisionsOf("asked.client_id", "asked.person_id")} AS decisions
  FROM unnest(${arrayParameter("$1", "text")}, ${arrayParameter("$2", "uuid")}) WITH ORDINALITY AS asked (client_id, person_id, place)
  ORDER BY asked.place`;

/** Answers in the order of the pairs. */
export async function listDecisions(db: Queryable, pairs: readonly Pair[]): Promise<Decisions[]> {
  const { rows } = await db.query<{ decisions: Decisions }>({
    name: "sign-on.listDecisions",
    text: selectDecisions,
    values: [pairs.map(({ clientId }) => clientId), pairs.map(({ personId }) => personId)],
  });
  return rows.map(({ decisions }) => decisions);
}

/** Adds to what was allowed before; there is no memory of a denial. */
export async function rememberConsent(
  tx: Queryable,
  { clientId, personId, scopes, at }: Pair & { scopes: ScopeName[]; at: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO consent (person_id, client_id, scopes, granted_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (person_id, client_id) DO UPDATE SET granted_at = excluded.granted_at,
       scopes = ARRAY(SELECT DISTINCT unnest(consent.scopes || excluded.scopes))`,
    [personId, clientId, scopes, at],
  );
}

/** Does not wait for a change that ends the person's time at the school: the choice is then not remembered, and asked for again. */
export async function rememberSchool(
  tx: Queryable,
  { clientId, personId, schoolId }: Pair & { schoolId: SchoolId },
): Promise<void> {
  await tx.query(
    `INSERT INTO school_choice (person_id, client_id, school_id)
     SELECT at.person_id, $2, at.school_id FROM affiliation at WHERE at.person_id = $1 AND at.school_id = $3 FOR KEY SHARE SKIP LOCKED
     ON CONFLICT (person_id, client_id) DO UPDATE SET school_id = excluded.school_id`,
    [personId, clientId, schoolId],
  );
}
