import { setTimeout as sleep } from "node:timers/promises";
import type { Change, PersonId } from "../directory/index.ts";
import { withTransaction } from "../platform/db.ts";
import type { Db, Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { announce, emitDiff, findSnapshot, tryHoldForSignIn } from "./change-tracking/index.ts";
import { hasCode } from "./deadlock.ts";
import { makeSignInStatement } from "./sign-on-right.ts";
import type { ClientId } from "./token.ts";

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
const insertSignIn =
  "INSERT INTO sign_in (client_id, person_id, first_sign_in_at, last_sign_in_at) VALUES ($1, $2, $3, $3) ON CONFLICT DO NOTHING";

// A change keeps sign-ins out for as long as its commit takes. An app asks again for a code that was not answered.
const patienceMs = 5000;
const pauseMs = { first: 20, longest: 400 };

/**
 * Makes the person a user of the app; an app that saw nothing of them until now is told.
 *
 * Shape:  while a change of one of the person's schools commits, it waits without a connection.
 * Errors: unavailable when that takes too long; then nothing was written.
 */
export async function recordFirstSignIn(db: Pick<Db, "pool">, signIn: SignIn): Promise<void> {
  const end = performance.now() + patienceMs;
  for (let pause = pauseMs.first; !(await tryFirstSignIn(db, signIn)); pause = Math.min(2 * pause, pauseMs.longest)) {
    if (performance.now() >= end)
      throw new AppError("unavailable", "school_busy", "A change of the school is being saved. Try again later.");
    await sleep(pause);
  }
}

async function tryFirstSignIn(db: Pick<Db, "pool">, signIn: SignIn): Promise<boolean> {
  try {
    return await withTransaction(db, async (tx) => {
      const isHeld = await tryHoldForSignIn(tx, signIn.personId);
      if (isHeld) await writeFirstSignIn(tx, signIn);
      return isHeld;
    });
  } catch (error) {
    if (waitsForOthers.some((code) => hasCode(error, code))) return false;
    throw error;
  }
}

// A lock that was not free in time, or a deadlock.
const waitsForOthers = ["55P03", "40P01"];

async function writeFirstSignIn(tx: Queryable, signIn: SignIn): Promise<void> {
  const { clientId, personId, at } = signIn;
  const subjects = [{ type: "person" as const, id: personId, client: clientId }];
  const before = await findSnapshot(tx, subjects);
  const { rowCount } = await tx.query({
    name: "access.recordFirstSignIn",
    text: insertSignIn,
    values: [clientId, personId, at],
  });
  if (rowCount === 0) return void (await tx.query({ name: "access.recordSignIn", ...makeSignInStatement(signIn) }));
  if (before.length === 0) await emitDiff(tx, at, { before, subjects });
  await announce(tx, at, subjects);
}

/** Takes over a sign-in that happened elsewhere, within a change of the directory. */
export async function takeOverSignIn(change: Change, signIn: SignIn): Promise<void> {
  await change.touch({ people: [signIn.personId] });
  await change.tx.query({ name: "access.recordSignIn", ...makeSignInStatement(signIn) });
}
