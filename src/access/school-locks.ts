import type { GroupId, PersonId, SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";

// Two kinds of lock for each school. Changes exclude each other from their first touch to their end; a first sign-in is kept out
// only while a change commits, not while it works or tells apps what it did.
const lockForChange =
  "SELECT pg_advisory_xact_lock(hashtextextended('change ' || id, 0)) FROM unnest($1::uuid[]) AS school (id)";
const lockForTelling =
  "SELECT pg_advisory_xact_lock(hashtextextended('telling ' || id, 0)) FROM unnest($1::uuid[]) AS school (id)";
// Held by whichever sign-in gets it at once; none waits for it with a connection in hand.
const tryLockForSignIn = `
  SELECT set_config('lock_timeout', '500ms', true), EXISTS (SELECT FROM person WHERE id = $1) AS "isThere",
    (SELECT true FROM person WHERE id = $1 FOR KEY SHARE SKIP LOCKED) AS "isFree",
    ARRAY(
      SELECT school_id FROM (SELECT school_id FROM affiliation WHERE person_id = $1 ORDER BY school_id OFFSET 0) AS at
      WHERE pg_try_advisory_xact_lock_shared(hashtextextended('telling ' || school_id, 0))) AS held`;
// Asked after the locks were taken: until then a change may have moved the person.
const holdsAllSchools =
  "SELECT NOT EXISTS (SELECT FROM affiliation WHERE person_id = $1 AND school_id <> ALL ($2::uuid[])) AS holds";

const findSchools = `
  SELECT unnest($1::uuid[]) AS id
  UNION SELECT school_id FROM affiliation WHERE person_id = ANY ($2)
  UNION SELECT school_id FROM "group" WHERE id = ANY ($3)
  UNION SELECT a.school_id FROM membership m JOIN affiliation a ON a.person_id = m.person_id WHERE m.group_id = ANY ($4)`;

// Whoever is here may be somewhere else too, and what apps see of them hangs on both.
const findLinkedSchools = `
  SELECT $1::uuid AS id
  UNION SELECT other.school_id FROM affiliation here JOIN affiliation other ON other.person_id = here.person_id WHERE here.school_id = $1`;

type Subjects = {
  schools: readonly SchoolId[];
  people: readonly PersonId[];
  groups: readonly GroupId[];
  membersOf: readonly GroupId[];
};

/** Makes what holds the schools of one change; what is held stays held until the transaction ends. */
export function makeSchoolLocks(tx: Queryable) {
  const held = new Set<string>();

  /** While a lock was waited for, people may have come to more schools; those are looked for until there are none. */
  const holdAll = async (find: () => Promise<string[]>): Promise<void> => {
    for (;;) {
      const missing = (await find()).filter((id) => !held.has(id)).sort();
      if (missing.length === 0) return;
      await tx.query({ name: "access.lockForChange", text: lockForChange, values: [missing] });
      for (const id of missing) held.add(id);
    }
  };
  const ask = (name: string, text: string, values: unknown[]) => async (): Promise<string[]> => {
    const { rows } = await tx.query<{ id: string }>({ name, text, values });
    return rows.map(({ id }) => id);
  };

  return {
    hold: ({ schools, people, groups, membersOf }: Subjects) =>
      holdAll(ask("access.findSchools", findSchools, [schools, people, groups, membersOf])),
    holdLinked: (school: SchoolId) => holdAll(ask("access.findLinkedSchools", findLinkedSchools, [school])),
    /** From here to the end of the transaction nobody signs in for the first time. */
    holdForTelling: () => tx.query({ name: "access.lockForTelling", text: lockForTelling, values: [[...held].sort()] }),
  };
}

/**
 * Keeps changes of the person's schools from committing until the transaction ends, for a short while.
 *
 * Shape: false where a change of one of the schools is about to commit or the person is being deleted: to be tried again, after the
 *        transaction was given up.
 */
export async function tryHoldForSignIn(tx: Queryable, personId: PersonId): Promise<boolean> {
  const { rows } = await tx.query<{ isThere: boolean; isFree: boolean | null; held: SchoolId[] }>({
    name: "access.tryLockForSignIn",
    text: tryLockForSignIn,
    values: [personId],
  });
  const { isThere, isFree, held } = rows[0]!;
  if (isThere && isFree === null) return false;
  const all = await tx.query<{ holds: boolean }>({
    name: "access.holdsAllSchools",
    text: holdsAllSchools,
    values: [personId, held],
  });
  return all.rows[0]!.holds;
}
