import type { Change, PersonId } from "../directory/index.ts";
import { withTransaction } from "../platform/db.ts";
import type { Db, Queryable } from "../platform/db.ts";
import { againAfterDeadlock } from "./deadlock.ts";
import { holdForSignIn } from "./school-locks.ts";
import { makeSignInStatement } from "./sign-on-right.ts";
import type { ClientId } from "./token.ts";
import { findSights, tellDifference } from "./view-notes.ts";

type SignIn = { clientId: ClientId; personId: PersonId; at: Date };

/** Remembers that the person is a user of the app, whatever becomes of their access. */
export async function recordSignIn(db: Pick<Db, "pool">, signIn: SignIn): Promise<void> {
  const { text, values } = makeSignInStatement(signIn);
  if (await hasSignedIn(db.pool, signIn)) await db.pool.query({ name: "access.recordSignIn", text, values });
  else await recordFirstSignIn(db, signIn);
}

const selectSignIn = "SELECT FROM sign_in WHERE client_id = $1 AND person_id = $2";

async function hasSignedIn(db: Queryable, { clientId, personId }: Omit<SignIn, "at">): Promise<boolean> {
  const { rowCount } = await db.query({ name: "access.hasSignedIn", text: selectSignIn, values: [clientId, personId] });
  return rowCount !== 0;
}

// Of several at once one is the first.
const insertSignIn = "INSERT INTO sign_in (client_id, person_id, first_sign_in_at, last_sign_in_at) VALUES ($1, $2, $3, $3) ON CONFLICT DO NOTHING";

/** Makes the person a user of the app; an app that saw nothing of them until now is told. */
export async function recordFirstSignIn(db: Pick<Db, "pool">, signIn: SignIn): Promise<void> {
  const { clientId, personId, at } = signIn;
  const subjects = [{ type: "person" as const, id: personId, client: clientId }];
  const record = (): Promise<void> =>
    withTransaction(db, async (tx) => {
      await holdForSignIn(tx, personId);
      const before = await findSights(tx, subjects);
      const { rowCount } = await tx.query({ name: "access.recordFirstSignIn", text: insertSignIn, values: [clientId, personId, at] });
      if (rowCount === 0) await tx.query({ name: "access.recordSignIn", ...makeSignInStatement(signIn) });
      else if (before.length === 0) await tellDifference(tx, at, before, subjects);
    });
  await againAfterDeadlock(record);
}

/** Takes over a sign-in that happened elsewhere, within a change of the directory. */
export async function takeOverSignIn(change: Change, signIn: SignIn): Promise<void> {
  await change.touch({ people: [signIn.personId] });
  await change.tx.query({ name: "access.recordSignIn", ...makeSignInStatement(signIn) });
}
