import { randomInt } from "node:crypto";
import { type PersonId, type PersonName, personNameOf, type SchoolId } from "../../directory/index.ts";
import { columnNames, insert, makeFind, sql, table, type Queryable } from "../../platform/database/sql.ts";
import { getSignInSettings, type UserNameRule } from "../sign-in-settings.ts";
import { makeBase, friendlyWords } from "./make-base.ts";
import { againAfterDeadlock } from "../../access/index.ts";
import { type Origin, recordAudit } from "../../events/index.ts";
import { type PrismaDb, type Transaction, withPrismaTransaction } from "../../platform/database/db.ts";

// A user name has one person: a unique claim (the keyed hash of the name, kept for a year after the deletion of its
// person) enforces it, and a trigger adds the claim for every other write.

/** `wanted` is the folded name from a roster. */
type Unnamed = { personId: PersonId; name: PersonName | null; wanted?: string | undefined };

type NewUserName = { personId: PersonId; username: string };

const batch = 5_000;
/** How many taken names with a number are tried before a random one. */
const mostTries = 50;

/** Gives people user names by a rule, in a few statements. Somebody who got a user name meanwhile keeps it. */
async function giveNames(tx: Queryable, people: readonly Unnamed[], { rule, now }: { rule: UserNameRule; now: Date }) {
  const names: NewUserName[] = [];
  for (let start = 0; start < people.length; start += batch) {
    let left: readonly Unnamed[] = people.slice(start, start + batch);
    for (let tries = 0; left.length > 0; tries++) {
      const proposed = await propose(tx, left, { rule, tries });
      const free = new Set((await claimNames(tx, columnsOf(proposed))).map(({ personId }) => personId));
      const mine = proposed.filter(({ personId }) => free.has(personId));
      names.push(...(await insertNames(tx, { ...columnsOf(mine), now })));
      left = left.filter(({ personId }) => !free.has(personId));
    }
  }
  return names;
}

type Columns = { people: PersonId[]; names: string[] };

const columnsOf = (names: readonly NewUserName[]): Columns => ({
  people: names.map(({ personId }) => personId),
  names: names.map(({ username }) => username),
});

const claim = table("userName");
const number = table("userNameNumber");

const reserveNumbers = makeFind<{ base: string; last: number }, { bases: string[]; counts: number[] }>(
  "sign-on.reserveUserNameNumbers",
)`
    WITH wanted AS MATERIALIZED (
      SELECT given.base, given.count, user_name_hash(given.base) AS hash
      FROM unnest(${"bases"}::text[], ${"counts"}::int[]) AS given (base, count)),
    reserved AS (
      ${insert(
        "userNameNumber",
        { hash: sql`wanted.hash`, last: sql`wanted.count` },
        sql`FROM wanted ORDER BY wanted.hash`,
      )}
      ON CONFLICT (${columnNames("userNameNumber", "hash")})
      DO UPDATE SET ${columnNames("userNameNumber", "usedOn")} = CURRENT_DATE,
        ${columnNames("userNameNumber", "last")} = ${number.last} + excluded.${columnNames("userNameNumber", "last")}
      RETURNING ${number.hash} AS hash, ${number.last} AS last)
    SELECT wanted.base, reserved.last FROM wanted JOIN reserved USING (hash)`;

const claimNames = makeFind<{ personId: PersonId }, Columns>(
  ({ people, names }) => sql`
    ${insert(
      "userName",
      { hash: sql`given.hash`, personId: sql`given.person_id` },
      sql`FROM (SELECT user_name_hash(name) AS hash, person_id
            FROM unnest(${names}::text[], ${people}::uuid[]) AS named (name, person_id)) AS given
          ORDER BY given.hash`,
    )}
    ON CONFLICT (${columnNames("userName", "hash")}) DO NOTHING RETURNING ${claim.personId} AS "personId"`,
  "sign-on.claimUserNames",
);

const insertNames = makeFind<NewUserName, Columns & { now: Date }>(
  ({ people, names, now }) => sql`
    ${insert(
      "credential",
      { personId: sql`given.person_id`, username: sql`given.name`, updatedAt: now },
      sql`FROM unnest(${people}::uuid[], ${names}::text[]) AS given (person_id, name)`,
    )}
    ON CONFLICT (${columnNames("credential", "personId")}) DO NOTHING
    RETURNING ${columnNames("credential", "personId")} AS "personId", ${columnNames("credential", "username")}`,
  "sign-on.insertUserNames",
);

async function propose(
  tx: Queryable,
  people: readonly Unnamed[],
  { rule, tries }: { rule: UserNameRule; tries: number },
): Promise<NewUserName[]> {
  const isNumbered = tries <= mostTries;
  const bases = people.map(({ name, wanted }) => (isNumbered ? (wanted ?? makeBase(rule, name)) : null));
  const reserved = await reserve(
    tx,
    bases.filter((base, at) => base !== null && !(tries === 0 && people[at]!.wanted !== undefined)) as string[],
  );
  return people.map(({ personId, wanted }, at) => {
    const base = bases[at] ?? null;
    if (base === null) return { personId, username: makeRandomName(tries) };
    if (tries === 0 && wanted !== undefined) return { personId, username: wanted };
    const next = reserved.get(base)!.next++;
    return { personId, username: next === 1 ? base : `${base}${next}` };
  });
}

async function reserve(tx: Queryable, bases: readonly string[]): Promise<Map<string, { next: number }>> {
  if (bases.length === 0) return new Map();
  const counted = [...Map.groupBy(bases, (base) => base)];
  const params = { bases: counted.map(([base]) => base), counts: counted.map(([, same]) => same.length) };
  const rows = await reserveNumbers(tx, params);
  const counts = new Map(counted.map(([base, same]) => [base, same.length]));
  return new Map(rows.map(({ base, last }) => [base, { next: last - counts.get(base)! + 1 }]));
}

function makeRandomName(tries: number): string {
  const digits = Math.min(4 + tries, 12);
  const number = randomInt(10 ** (digits - 1), 10 ** digits);
  return `${friendlyWords[randomInt(friendlyWords.length)]!}${number}`;
}

/** The folded user names of a roster, by person. */
type RosterNames = ReadonlyMap<PersonId, string>;

const p = table("person", "p");
const c = table("credential", "c");

// The lock keeps people from being deleted for good meanwhile.
type Scope = { schoolId: SchoolId | null; people: PersonId[] | null };
const findUnnamed = makeFind<{ personId: PersonId } & { [Part in keyof PersonName]: string | null }, Scope>()`
    SELECT ${p.id} AS "personId", ${p.firstFull} AS "firstFull", ${p.firstCall} AS "firstCall", ${p.last} AS last
    FROM ${p}
    WHERE (${"people"}::uuid[] IS NOT NULL OR ${p.homeSchoolId} = ${"schoolId"}::uuid AND ${p.status} = 'ACTIVE')
      AND (${"people"}::uuid[] IS NULL OR ${p.id} = ANY (${"people"}::uuid[]))
      AND NOT EXISTS (SELECT FROM ${c} WHERE ${c.personId} = ${p.id})
    ORDER BY ${p.sortKey}, ${p.id} FOR KEY SHARE OF p`;

const listUnnamed = async (tx: Queryable, scope: Scope): Promise<Unnamed[]> =>
  (await findUnnamed(tx, scope)).map((row) => ({ personId: row.personId, name: personNameOf(row) }));

/** Errors: not_found school_not_found. */
export async function giveUserNames(
  tx: Transaction,
  { schoolId, people }: { schoolId: SchoolId; people: PersonId[] },
  now: Date,
): Promise<number> {
  const { userNameRule: rule } = await getSignInSettings(tx, schoolId);
  return (await giveNames(tx, await listUnnamed(tx, { schoolId: null, people }), { rule, now })).length;
}

/** Gives a user name to everyone without one whose home is the school, and returns how many. Errors: not_found. */
export function giveUserNamesAtSchool(
  db: PrismaDb,
  { schoolId, findRosterNames }: { schoolId: SchoolId; findRosterNames: (tx: Transaction) => Promise<RosterNames> },
  origin: Origin,
): Promise<number> {
  return againAfterDeadlock(() =>
    withPrismaTransaction(db, async (tx) => {
      const { userNameRule: rule } = await getSignInSettings(tx, schoolId);
      const unnamed = await listUnnamed(tx, { schoolId, people: null });
      if (unnamed.length === 0) return 0;
      const wanted: RosterNames = rule === "ROSTER" ? await findRosterNames(tx) : new Map();
      const people = unnamed.map((one) => ({ ...one, wanted: wanted.get(one.personId) }));
      const { length: count } = await giveNames(tx, people, { rule, now: origin.at });
      await recordAudit(tx, { ...origin, action: "user_names_given", schoolId, detail: { count } });
      return count;
    }),
  );
}
