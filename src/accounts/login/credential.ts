import { checkText, type PersonId } from "../../directory/index.ts";
import { AppError } from "../../platform/errors.ts";
import { columnNames, insert, makeRun, type Queryable, sql } from "../../platform/database/sql.ts";
import { foldText } from "../../platform/text/likeness.ts";

/** Width, case and surrounding space do not matter. */
export const foldUsername = (username: string): string => foldText(username);

type Row = { personId: PersonId; username: string; passwordHash: string; mustChange: boolean; updatedAt: Date };

const excluded = (field: keyof Row) =>
  sql`${columnNames("credential", field)} = excluded.${columnNames("credential", field)}`;

const upsertCredential = makeRun<Row>(({ personId, username, passwordHash, mustChange, updatedAt }) => {
  const row = insert("credential", { personId, username, passwordHash, mustChange, updatedAt });
  return sql`
    ${row} ON CONFLICT (${columnNames("credential", "personId")}) DO UPDATE
    SET ${excluded("username")}, ${excluded("passwordHash")}, ${excluded("mustChange")}, ${excluded("updatedAt")}`;
}, "set-credential");

/** `mustChange` asks the person for a password of their own at the next sign-in. */
export type NewCredential = Pick<Row, "personId" | "username" | "passwordHash"> & { mustChange?: boolean; now: Date };

/** The caller ends the sign-ins of the old password. Errors: conflict username_taken; invalid username_refused. */
export async function writeCredential(
  tx: Queryable,
  { personId, username, passwordHash, mustChange = false, now }: NewCredential,
): Promise<void> {
  const folded = foldUsername(checkText("username", username, 255));
  await upsertCredential(tx, { personId, username: folded, passwordHash, mustChange, updatedAt: now }).catch(explain);
}

function explain(error: unknown): never {
  const { constraint } = error as { constraint?: string };
  const cause = { cause: error };
  if (constraint === "credential_username_key")
    throw new AppError("conflict", "username_taken", "Another person has this user name.", undefined, cause);
  const message = "A user name has up to 255 characters and no white space at its ends.";
  if (constraint === "credential_username_check")
    throw new AppError("invalid", "username_refused", message, undefined, cause);
  throw error;
}
