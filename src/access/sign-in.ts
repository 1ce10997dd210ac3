import { setTimeout as sleep } from "node:timers/promises";
import type { Change, PersonId } from "../directory/index.ts";
import { withTransaction } from "../platform/database/db.ts";
import type { Db, Queryable } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { columnNames, insert, run, sql, statement, table, type Parameter, type Sql } from "../platform/database/sql.ts";
import { announce, emitDiff, findSnapshot, tryHoldForSignIn } from "./change-tracking/index.ts";
import { hasCode } from "./deadlock.ts";
import type { ClientId } from "./token.ts";

type SignIn = { clientId: ClientId; personId: PersonId; at: Date };

const signIn = table("signIn");
const excluded = table("signIn", "excluded");

const keepLatest = sql`
  ON CONFLICT (${columnNames("signIn", "clientId", "personId")})
  DO UPDATE SET ${columnNames("signIn", "lastSignInAt")} = ${excluded.lastSignInAt}
  WHERE ${signIn.lastSignInAt} < ${excluded.lastSignInAt}`;

const insertSignIn = ({ clientId, personId, at }: Record<keyof SignIn, Parameter>): Sql =>
  insert("signIn", { clientId, personId, firstSignInAt: at, lastSignInAt: at });

const recordLater = statement<SignIn>((given) => sql`${insertSignIn(given)} ${keepLatest}`, "access.recordSignIn");

// Of several sign-ins at the same time, one is the first.
const recordFirst = statement<SignIn>(
  (given) => sql`${insertSignIn(given)} ON CONFLICT DO NOTHING`,
  "access.recordFirstSignIn",
);

/**
 * SQL that records sign-ins of people who are users of the app already.
 *
 * Shape: the relation has the columns client_id, person_id and at. For a first sign-in apps may need an event, which
 *        `recordFirstSignIn` emits.
 */
export const recordSignInsFrom = (relation: Sql): Sql =>
  sql`${insert(
    "signIn",
    {
      clientId: sql`latest.client_id`,
      personId: sql`latest.person_id`,
      firstSignInAt: sql`latest.at`,
      lastSignInAt: sql`latest.at`,
    },
    sql`FROM (
    SELECT DISTINCT ON (client_id, person_id) client_id, person_id, at
    FROM ${relation} ORDER BY client_id, person_id, at DESC) latest`,
  )} ${keepLatest}`;

const findSignIn = statement<Omit<SignIn, "at">>(
  ({ clientId, personId }) => sql`
  SELECT FROM ${signIn} WHERE ${signIn.clientId} = ${clientId} AND ${signIn.personId} = ${personId}`,
  "access.hasSignedIn",
);

/**
 * Records that the person is a user of the app, which stays so whatever happens to their access.
 *
 * Errors: as `recordFirstSignIn`.
 */
export async function recordSignIn(db: Pick<Db, "pool">, given: SignIn): Promise<void> {
  if ((await run(db.pool, findSignIn, given)) > 0) await run(db.pool, recordLater, given);
  else await recordFirstSignIn(db, given);
}

// A change keeps sign-ins out for as long as its commit takes. An app asks again for a code that was not answered.
const patienceMs = 5000;
const pauseMs = { first: 20, longest: 400 };

/**
 * Makes the person a user of the app, and emits an event where the app saw nothing of them before.
 *
 * Shape:  while a change of one of the person's schools commits, it waits without a connection.
 * Errors: unavailable school_busy when that takes too long; then nothing was written.
 */
export async function recordFirstSignIn(db: Pick<Db, "pool">, given: SignIn): Promise<void> {
  const end = performance.now() + patienceMs;
  for (let pause = pauseMs.first; !(await tryFirstSignIn(db, given)); pause = Math.min(2 * pause, pauseMs.longest)) {
    if (performance.now() >= end)
      throw new AppError("unavailable", "school_busy", "A change of the school is being saved. Try again later.");
    await sleep(pause);
  }
}

async function tryFirstSignIn(db: Pick<Db, "pool">, given: SignIn): Promise<boolean> {
  try {
    return await withTransaction(db, async (tx) => {
      const isHeld = await tryHoldForSignIn(tx, given.personId);
      if (isHeld) await writeFirstSignIn(tx, given);
      return isHeld;
    });
  } catch (error) {
    if (waitsForOthers.some((code) => hasCode(error, code))) return false;
    throw error;
  }
}

// A lock that was not free in time, or a deadlock.
const waitsForOthers = ["55P03", "40P01"];

async function writeFirstSignIn(tx: Queryable, given: SignIn): Promise<void> {
  const { clientId, personId, at } = given;
  const subjects = [{ type: "person" as const, id: personId, client: clientId }];
  const before = await findSnapshot(tx, subjects);
  if ((await run(tx, recordFirst, given)) === 0) return void (await run(tx, recordLater, given));
  if (before.length === 0) await emitDiff(tx, at, { before, subjects });
  await announce(tx, at, subjects);
}

/** Takes over a sign-in that happened elsewhere, within a change of the directory. */
export async function takeOverSignIn(change: Change, given: SignIn): Promise<void> {
  await change.touch({ people: [given.personId] });
  await run(change.tx, recordLater, given);
}
