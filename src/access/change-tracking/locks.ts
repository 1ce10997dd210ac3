import type { PersonId, SchoolId, Touched } from "../../directory/index.ts";
import { type Queryable, findRows, makeFindOne, run, sql, statement, table } from "../../platform/database/sql.ts";
import type { Sql, Statement } from "../../platform/database/sql.ts";

const person = table("person");
const a = table("affiliation", "a");
const affiliation = table("affiliation");
const other = table("affiliation", "other");
const here = table("affiliation", "here");
const group = table("group");
const m = table("membership", "m");

// Each school has two locks. Changes exclude each other from the first touch to the end; first sign-ins are excluded
// only while a change commits.
const lockId = (kind: Sql, school: Sql): Sql => sql`hashtextextended(${kind} || ${school}, 0)`;
const forChange = sql`'change '`;
const forCommit = sql`'commit '`;

const lockAll = (kind: Sql, name: string) =>
  statement<{ schools: string[] }>(name)`
  SELECT pg_advisory_xact_lock(${lockId(kind, sql`id`)}) FROM unnest(${"schools"}::uuid[]) AS school (id)`;
const lockForChange = lockAll(forChange, "access.lockForChange");
const lockForCommit = lockAll(forCommit, "access.lockForCommit");

// A sign-in takes only free locks, so that it never waits while it holds a connection.
const tryLockForSignIn = statement<{ personId: PersonId }>("access.tryLockForSignIn")`
  SELECT set_config('lock_timeout', '500ms', true),
    EXISTS (SELECT FROM ${person} WHERE ${person.id} = ${"personId"}) AS "isThere",
    (SELECT true FROM ${person} WHERE ${person.id} = ${"personId"} FOR KEY SHARE SKIP LOCKED) AS "isFree",
    ARRAY(
      SELECT school_id FROM (
        SELECT ${affiliation.schoolId} FROM ${affiliation} WHERE ${affiliation.personId} = ${"personId"}
        ORDER BY ${affiliation.schoolId} OFFSET 0) AS at
      WHERE pg_try_advisory_xact_lock_shared(${lockId(forCommit, sql`school_id`)})) AS held`;

// Checked after locking, because a change may have moved the person until then.
const holdsAllSchools = makeFindOne<{ holds: boolean }, { personId: PersonId; held: SchoolId[] }>(
  "access.holdsAllSchools",
)`
  SELECT NOT EXISTS (
    SELECT FROM ${affiliation}
    WHERE ${affiliation.personId} = ${"personId"} AND ${affiliation.schoolId} <> ALL (${"held"}::uuid[])) AS holds`;

type Subjects = Required<Touched>;

const findSchools = statement<Subjects>("access.findSchools")`
  SELECT unnest(${"schools"}::uuid[]) AS id
  UNION SELECT ${affiliation.schoolId} FROM ${affiliation} WHERE ${affiliation.personId} = ANY (${"people"})
  UNION SELECT ${group.schoolId} FROM ${group} WHERE ${group.id} = ANY (${"groups"})
  UNION SELECT ${a.schoolId} FROM ${m} JOIN ${a} ON ${a.personId} = ${m.personId}
  WHERE ${m.groupId} = ANY (${"membersOf"})`;

// What apps see of people here also depends on their other schools.
const findLinkedSchools = statement<{ school: SchoolId }>("access.findLinkedSchools")`
  SELECT ${"school"}::uuid AS id
  UNION SELECT ${other.schoolId} FROM ${here} JOIN ${other} ON ${other.personId} = ${here.personId}
  WHERE ${here.schoolId} = ${"school"}`;

export function makeSchoolLocks(tx: Queryable) {
  const held = new Set<string>();

  const holdAll = async <Params extends object>(find: Statement<Params>, params: Params): Promise<void> => {
    for (;;) {
      const locked = await findRows<{ id: string }, Params>(tx, find, params);
      const missing = locked.map(({ id }) => id).filter((id) => !held.has(id));
      if (missing.length === 0) return;
      await run(tx, lockForChange, { schools: missing.sort() });
      for (const id of missing) held.add(id);
    }
  };

  return {
    hold: ({ schools = [], people = [], groups = [], membersOf = [] }: Touched) =>
      holdAll(findSchools, { schools, people, groups, membersOf }),
    holdLinked: (school: SchoolId) => holdAll(findLinkedSchools, { school }),
    holdForCommit: async () => void (await run(tx, lockForCommit, { schools: [...held].sort() })),
  };
}

/** "busy" if a change is about to commit or to delete the person: roll back and try again. */
export async function tryHoldForSignIn(tx: Queryable, personId: PersonId): Promise<"held" | "busy" | "nobody"> {
  type Locked = { isThere: boolean; isFree: boolean | null; held: SchoolId[] };
  const [locked] = await findRows<Locked, { personId: PersonId }>(tx, tryLockForSignIn, { personId });
  const { isThere, isFree, held } = locked!;
  if (!isThere) return "nobody";
  return isFree === true && (await holdsAllSchools(tx, { personId, held })).holds ? "held" : "busy";
}
