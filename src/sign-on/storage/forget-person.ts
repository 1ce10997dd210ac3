import type { PersonId } from "../../directory/index.ts";
import type { Queryable } from "../../platform/db.ts";

// What hangs on the person's row goes with it; these do not: tokens outlive what they were made for, until they are swept.
const deleteTraces = `
  WITH artifacts AS (DELETE FROM oidc_artifact WHERE person_id = $1)
  DELETE FROM logout_notice WHERE person_id = $1`;

/** Removes every session, code, token and notice of a person, of whichever app; part of deleting the person for good. */
export async function forgetPerson(tx: Queryable, personId: PersonId): Promise<void> {
  await tx.query({ name: "sign-on.forgetPerson", text: deleteTraces, values: [personId] });
}
