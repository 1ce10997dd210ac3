import type { ClientId, ScopeName } from "../access/index.ts";
import type { PersonId, SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";

/** What a person decided for an app earlier. */
export type Decisions = { scopes: ScopeName[]; schoolId: SchoolId | null };

type Pair = { clientId: ClientId; personId: PersonId };

export async function findDecisions(db: Queryable, { clientId, personId }: Pair): Promise<Decisions> {
  const { rows } = await db.query<{ scopes: ScopeName[] | null; schoolId: SchoolId | null }>({
    name: "sign-on.findDecisions",
    text: `SELECT
      (SELECT scopes FROM consent WHERE person_id = $2 AND client_id = $1) AS scopes,
      (SELECT school_id FROM school_choice WHERE person_id = $2 AND client_id = $1) AS "schoolId"`,
    values: [clientId, personId],
  });
  return { scopes: rows[0]?.scopes ?? [], schoolId: rows[0]?.schoolId ?? null };
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
