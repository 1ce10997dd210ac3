import type { PersonId, SchoolId, Touched } from "../../directory/index.ts";
import type { Queryable } from "../../platform/database/db.ts";
import { findRows, run, sql, statement, table, type Sql, type Statement } from "../../platform/database/sql.ts";

const person = table("person");
const a = table("affiliation", "a");
const affiliation = table("affiliation");
const other = table("affiliation", "other");
const here = table("affiliation", "here");
const group = table("group");
const m = table("membership", "m");

// Two kinds of lock for each school. Changes exclude each other from their first touch to their end; a first sign-in is
// kept out only while a change commits, not while it works or emits its events.
const lockId = (kind: Sql, school: Sql): Sql => sql`hashtextextended(${kind} || ${school}, 0)`;
const forChange = sql`'change '`;
const forCommit = sql`'commit '`;

const lockAll = (kind: Sql, name: string) =>
  statement<{ schools: string[] }>(
    ({ schools }) => sql`
  SELECT pg_advisory_xact_lock(${lockId(kind, sql`id`)}) FROM unnest(${schools}::uuid[]) AS school (id)`,
    name,
  );
const lockForChange = lockAll(forChange, "access.lockForChange");
const lockForCommit = lockAll(forCommit, "access.lockForCommit");

// A sign-in takes only the locks that are free: none waits for one with a connection in hand.
const tryLockForSignIn = statement<{ personId: PersonId }>(
  ({ personId }) => sql`
  SELECT set_config('lock_timeout', '500ms', true),
    EXISTS (SELECT FROM ${person} WHERE ${person.id} = ${personId}) AS "isThere",
    (SELECT true FROM ${person} WHERE ${person.id} = ${personId} FOR KEY SHARE SKIP LOCKED) AS "isFree",
    ARRAY(
      SELECT school_id FROM (
        SELECT ${affiliation.schoolId} FROM ${affiliation} WHERE ${affiliation.personId} = ${personId}
        ORDER BY ${affiliation.schoolId} OFFSET 0) AS at
      WHERE pg_try_advisory_xact_lock_shared(${lockId(forCommit, sql`school_id`)})) AS held`,
  "access.tryLockForSignIn",
);

// Asked after the locks were taken: until then a change may have moved the person.
const holdsAllSchools = statement<{ personId: PersonId; held: SchoolId[] }>(
  ({ personId, held }) => sql`
  SELECT NOT EXISTS (
    SELECT FROM ${affiliation}
    WHERE ${affiliation.personId} = ${personId} AND ${affiliation.schoolId} <> ALL (${held}::uuid[])) AS holds`,
  "access.holdsAllSchools",
);

type Subjects = Required<Touched>;

const findSchools = statement<Subjects>(
  ({ schools, people, groups, membersOf }) => sql`
  SELECT unnest(${schools}::uuid[]) AS id
  UNION SELECT ${affiliation.schoolId} FROM ${affiliation} WHERE ${affiliation.personId} = ANY (${people})
  UNION SELECT ${group.schoolId} FROM ${group} WHERE ${group.id} = ANY (${groups})
  UNION SELECT ${a.schoolId} FROM ${m} JOIN ${a} ON ${a.personId} = ${m.personId}
  WHERE ${m.groupId} = ANY (${membersOf})`,
  "access.findSchools",
);

// Those who are at this school may be at others too, and what apps see of them depends on both.
const findLinkedSchools = statement<{ school: SchoolId }>(
  ({ school }) => sql`
  SELECT ${school}::uuid AS id
  UNION SELECT ${other.schoolId} FROM ${here} JOIN ${other} ON ${other.personId} = ${here.personId}
  WHERE ${here.schoolId} = ${school}`,
  "access.findLinkedSchools",
);

/** Makes what holds the schools of one change; what is held stays held until the transaction ends. */
export function makeSchoolLocks(tx: Queryable) {
  const held = new Set<string>();

  /** While a lock was waited for, people may have come to more schools; those are looked for until there are none. */
  const holdAll = async <Given extends object>(find: Statement<Given>, given: Given): Promise<void> => {
    for (;;) {
      const found = await findRows<{ id: string }, Given>(tx, find, given);
      const missing = found.map(({ id }) => id).filter((id) => !held.has(id));
      if (missing.length === 0) return;
      await run(tx, lockForChange, { schools: missing.sort() });
      for (const id of missing) held.add(id);
    }
  };

  return {
    hold: ({ schools = [], people = [], groups = [], membersOf = [] }: Touched) =>
      holdAll(findSchools, { schools, people, groups, membersOf }),
    holdLinked: (school: SchoolId) => holdAll(findLinkedSchools, { school }),
    /** From here to the end of the transaction nobody signs in for the first time. */
    holdForCommit: async () => void (await run(tx, lockForCommit, { schools: [...held].sort() })),
  };
}

/**
 * Keeps changes of the person's schools from committing until the transaction ends, for a short while.
 *
 * Shape: false where a change of one of the schools is about to commit or the person is being deleted: to be tried
 *        again, after the transaction was rolled back.
 */
export async function tryHoldForSignIn(tx: Queryable, personId: PersonId): Promise<boolean> {
  type Locked = { isThere: boolean; isFree: boolean | null; held: SchoolId[] };
  const [locked] = await findRows<Locked, { personId: PersonId }>(tx, tryLockForSignIn, { personId });
  const { isThere, isFree, held } = locked!;
  if (isThere && isFree === null) return false;
  const [all] = await findRows<{ holds: boolean }, { personId: PersonId; held: SchoolId[] }>(tx, holdsAllSchools, {
    personId,
    held,
  });
  return all!.holds;
}
