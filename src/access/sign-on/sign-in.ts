import { setTimeout as sleep } from "node:timers/promises";
import type { Change, PersonId } from "../../directory/index.ts";
import { withTransaction, type Db, type RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { columnNames, insert, makeRun, sql, table } from "../../platform/database/sql.ts";
import type { Parameter, Queryable, Sql } from "../../platform/database/sql.ts";
import { announce, emitDiff, findSnapshot, tryHoldForSignIn } from "../change-tracking/index.ts";
import { hasCode } from "../change.ts";
import type { ClientId } from "../token.ts";
import { monthOf } from "../usage/by-school.ts";
import { countSignInsFrom } from "../usage/seats.ts";

type SignIn = { clientId: ClientId; personId: PersonId; at: Date };

const signIn = table("signIn");
const excluded = table("signIn", "excluded");

const keepLatest = sql`
  ON CONFLICT (${columnNames("signIn", "clientId", "personId")})
  DO UPDATE SET ${columnNames("signIn", "lastSignInAt")} = ${excluded.lastSignInAt}
  WHERE ${signIn.lastSignInAt} < ${excluded.lastSignInAt}`;

const insertFrom = (relation: Sql): Sql =>
  insert(
    "signIn",
    {
      clientId: sql`latest.client_id`,
      personId: sql`latest.person_id`,
      firstSignInAt: sql`latest.at`,
      lastSignInAt: sql`latest.at`,
    },
    sql`FROM ${relation} AS latest`,
  );

const returned = sql`RETURNING ${columnNames("signIn", "clientId", "personId", "lastSignInAt")}`;
const ofMonth = sql`(SELECT client_id, person_id, last_sign_in_at AS at FROM sign_in_of_month)`;

/** CTEs that record sign-ins from a relation of client_id, person_id and at, and count the first ones of a month. */
export const recordSignInsFrom = (relation: Sql): Sql =>
  sql`
  latest_sign_in AS MATERIALIZED (
    SELECT DISTINCT ON (client_id, person_id) client_id, person_id, at
    FROM ${relation} ORDER BY client_id, person_id, at DESC),
  sign_in_of_month AS (
    ${insertFrom(sql`latest_sign_in`)} ${keepLatest}
      AND ${signIn.lastSignInAt} < ${monthOf(excluded.lastSignInAt)} ${returned}),
  seats_counted AS (${countSignInsFrom(ofMonth)}),
  sign_in_recorded AS (
    ${insertFrom(sql`latest_sign_in`)}
    WHERE NOT EXISTS (SELECT FROM sign_in_of_month counted
      WHERE counted.client_id = latest.client_id AND counted.person_id = latest.person_id) ${keepLatest})`;

const signInRow = ({ clientId, personId, at }: Record<keyof SignIn, Parameter>): Sql =>
  sql`(SELECT ${clientId}::text AS client_id, ${personId}::uuid AS person_id, ${at}::timestamptz AS at)`;

const recordLater = makeRun<SignIn>("access.recordSignIn")`
  WITH ${(values) => recordSignInsFrom(sql`${signInRow(values)} AS given`)} SELECT`;

const recordFirst = makeRun<SignIn>("access.recordFirstSignIn")`
  WITH sign_in_of_month AS (${(values) => insertFrom(signInRow(values))} ON CONFLICT DO NOTHING ${returned}),
  seats_counted AS (${countSignInsFrom(ofMonth)})
  SELECT FROM sign_in_of_month`;

// First sign-ins wait while a change commits.
const patienceMs = 5000;
const pauseMs = { first: 20, longest: 400 };

/**
 * Emits an event if the app saw nothing of the person before, and records that it now reads them as a user. Waits
 * without a connection. Does nothing for a person who does not exist. Errors: unavailable school_busy.
 */
export async function recordFirstSignIn(db: Db, event: SignIn): Promise<void> {
  const end = performance.now() + patienceMs;
  for (let pause = pauseMs.first; !(await tryFirstSignIn(db, event)); pause = Math.min(2 * pause, pauseMs.longest)) {
    if (performance.now() >= end)
      throw new AppError("unavailable", "school_busy", "A change of the school is being saved. Try again later.");
    await sleep(pause);
  }
}

async function tryFirstSignIn(db: Db, event: SignIn): Promise<boolean> {
  try {
    return await withTransaction(db, async (tx) => {
      const outcome = await tryHoldForSignIn(tx, event.personId);
      if (outcome === "held") await writeFirstSignIn(tx, event);
      return outcome !== "busy";
    });
  } catch (error) {
    if (retriable.some((code) => hasCode(error, code))) return false;
    throw error;
  }
}

const retriable = ["55P03", "40P01"];

async function writeFirstSignIn(tx: Queryable, event: SignIn): Promise<void> {
  const { clientId, personId, at } = event;
  const subjects = [{ type: "person" as const, id: personId, client: clientId }];
  const before = await findSnapshot(tx, subjects);
  if ((await recordFirst(tx, event)) === 0) return void (await recordLater(tx, event));
  if (before[0]?.is_user !== true) await emitDiff(tx, at, { before, subjects, by: "sign-in" });
  await announce(tx, at, subjects);
}

export async function takeOverSignIn(change: Change, event: SignIn): Promise<void> {
  await change.touch({ people: [event.personId] });
  await recordLater(change.tx, event);
}

export type SignInTimes = { firstSignInAt: Date; lastSignInAt: Date };

export async function listSignInTimes(
  { prisma }: RecordStore,
  personIds: readonly PersonId[],
): Promise<ReadonlyMap<PersonId, SignInTimes>> {
  const people = await prisma.signIn.groupBy({
    by: ["personId"],
    where: { personId: { in: [...personIds] } },
    _min: { firstSignInAt: true },
    _max: { lastSignInAt: true },
  });
  return new Map(
    people.map(({ personId, _min, _max }) => [
      personId as PersonId,
      { firstSignInAt: _min.firstSignInAt!, lastSignInAt: _max.lastSignInAt! },
    ]),
  );
}
