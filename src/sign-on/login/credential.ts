import { checkText } from "../../directory/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { Queryable } from "../../platform/db.ts";
import { AppError } from "../../platform/errors.ts";
import { longestPassword } from "./password.ts";
import { foldUsername } from "./username.ts";

export function checkPasswordLength(password: string): void {
  if (password.length > longestPassword) throw new RangeError("the password is too long");
}

/**
 * Writes a person's user name and password hash. The sign-ins that the old password gave are ended by the caller.
 *
 * Errors: conflict for a user name that another person has; invalid for one that cannot be, with characters that nobody sees for instance.
 */
export async function writeCredential(
  tx: Queryable,
  { personId, username, passwordHash, now }: { personId: PersonId; username: string; passwordHash: string; now: Date },
): Promise<void> {
  const text = `
    INSERT INTO credential (person_id, username, password_hash, updated_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (person_id) DO UPDATE
    SET username = excluded.username, password_hash = excluded.password_hash, updated_at = excluded.updated_at`;
  await tx
    .query({
      name: "set-credential",
      text,
      values: [personId, foldUsername(checkText("username", username, 255)), passwordHash, now],
    })
    .catch(explain);
}

function explain(error: unknown): never {
  const { constraint } = error as { constraint?: string };
  if (constraint === "credential_username_key")
    throw new AppError("conflict", "username_taken", "Another person has this user name.", undefined, { cause: error });
  if (constraint === "credential_username_check") {
    throw new AppError(
      "invalid",
      "username_refused",
      "A user name has up to 255 characters and no white space at its ends.",
      undefined,
      { cause: error },
    );
  }
  throw error;
}
