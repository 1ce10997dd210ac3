import { checkText } from "../../directory/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { Queryable } from "../../platform/db.ts";
import { hashPassword, longestPassword } from "./password.ts";
import { foldUsername } from "./username.ts";

/**
 * Gives a person a user name and a password, or new ones.
 *
 * Errors: invalid for a user name with characters that nobody sees; one that another person has fails on the database's
 *         unique constraint.
 */
export async function setCredential(
  tx: Queryable,
  credential: { personId: PersonId; username: string; password: string; now: Date },
): Promise<void> {
  if (credential.password.length > longestPassword) throw new RangeError("the password is too long");
  const username = foldUsername(checkText("username", credential.username, 255));
  await tx.query({
    name: "set-credential",
    text: `INSERT INTO credential (person_id, username, password_hash, updated_at) VALUES ($1, $2, $3, $4)
           ON CONFLICT (person_id) DO UPDATE
           SET username = excluded.username, password_hash = excluded.password_hash, updated_at = excluded.updated_at`,
    values: [
      credential.personId,
      username,
      await hashPassword(credential.password),
      credential.now,
    ],
  });
}
