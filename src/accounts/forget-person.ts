import type { PersonId } from "../directory/index.ts";
import { type Queryable, run, sql, statement, table } from "../platform/database/sql.ts";

const artifact = table("oidcArtifact");
const notice = table("logoutNotice");
const limit = table("signInBrake");
const wrongPassword = table("wrongPassword");
const voidSignIn = table("voidSignIn");

// Without a foreign key to the person: tokens are kept until they are swept.
const deleteTraces = statement<{ personId: PersonId }>(
  ({ personId }) => sql`
    WITH artifacts AS (DELETE FROM ${artifact} WHERE ${artifact.personId} = ${personId}),
      limits AS (DELETE FROM ${limit} WHERE ${limit.personId} = ${personId}),
      wrong AS (DELETE FROM ${wrongPassword} WHERE ${wrongPassword.personId} = ${personId})
    DELETE FROM ${notice} WHERE ${notice.personId} = ${personId}`,
  "sign-on.forgetPerson",
);

// First, because the job that deletes void sign-ins locks in the same order.
const deleteVoid = statement<{ personId: PersonId }>(
  ({ personId }) => sql`DELETE FROM ${voidSignIn} WHERE ${voidSignIn.personId} = ${personId}`,
  "sign-on.forgetVoidSignIn",
);

/** Deletes every session, code, token and notice of a person; part of deleting the person for good. */
export async function forgetPerson(tx: Queryable, personId: PersonId): Promise<void> {
  await run(tx, deleteVoid, { personId });
  await run(tx, deleteTraces, { personId });
}
